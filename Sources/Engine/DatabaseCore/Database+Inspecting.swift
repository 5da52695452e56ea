package import JSONTree
import Queries
import RulesTools
import SecurityRules
import WireProtocol

/// A question to the rules.
struct Question {
    enum Subject {
        case read(Path, QuerySpec?)
        /// Without a base it has one target.
        case write([WriteTarget], base: Path?)
    }

    let subject: Subject
    let requester: Requester
    let time: Timestamp

    init(_ subject: Subject, _ requester: Requester, at time: Timestamp) {
        self.subject = subject
        self.requester = requester
        self.time = time
    }

    /// The record of a decision on it.
    func record(of decision: Decision, under rules: Ruleset) -> DecisionRecord {
        var targets: [WriteTarget] = []
        let target: WriteTarget
        var query: QuerySpec?
        switch subject {
        case .read(let path, let asked):
            target = WriteTarget(path: path, isPriority: false)
            query = asked
        case .write(let written, let base?):
            target = WriteTarget(path: base, isPriority: false)
            targets = written
        case .write(let written, nil):
            target = written[0]
        }
        return DecisionRecord(
            operation: requester.operation,
            channel: requester.channel,
            connection: requester.connection,
            target: target,
            targets: Array(targets.prefix(DecisionRecord.listedTargets)),
            targetCount: max(1, targets.count),
            deniedTarget: targets.isEmpty ? nil : decision.deniedEntry.map { targets[$0] },
            query: query,
            auth: requester.identity.auth,
            time: time,
            decision: decision,
            rules: rules
        )
    }
}

/// Reports how decisions were made. Allowed requests come here only while all decisions are reported.
extension Database {
    /// Counts a refusal, and reports the decision as the level of inspection says.
    ///
    /// `newRoot` is what a write would leave; `again` decides the same once more with every value recorded.
    func inspect(
        _ decision: Decision,
        of question: Question,
        newRoot: Node? = nil,
        _ step: inout Step,
        again: () -> Decision
    ) {
        let operation = question.requester.operation
        if !decision.isAllowed { refusalCounts[operation, default: 0] += 1 }
        if decision.overLimit != nil {
            emit(.note(.overLimit(id, question.record(of: decision, under: rules))), &step)
        }
        let recorded: Decision
        switch inspection {
        case .off: return
        case .refused:
            // Not the longest of all decisions twice.
            recorded = decision.overLimit == nil ? again() : decision.tracedToLimit
        case .all:
            countCoverage(of: decision)
            // Thousands of listens can be authorized again at once, and most of them go on.
            if operation == .recheck, decision.isAllowed { return }
            recorded = decision
        }
        var record = question.record(of: recorded, under: rules)
        if explainsRefusals, !decision.isAllowed {
            record.explanation = record.explain(newRoot: newRoot)
            let short = record.explain(newRoot: newRoot, showsClaims: false)
            explain(short, to: question.requester, &step)
        }
        emit(.decided(id, record), &step)
    }

    /// What decisions under the rules in force have consulted.
    var countedCoverage: Coverage {
        if let coverage, coverage.rules === rules { return coverage.counts }
        return Coverage(rules)
    }

    /// Counts what a decision consulted, among those of the rules in force.
    private func countCoverage(of decision: Decision) {
        if coverage?.rules !== rules { coverage = (rules, Coverage(rules)) }
        coverage?.counts.add(decision)
    }

    /// Sends a client the reason of a refusal, ahead of the refusal. An event stream that has begun gets none: no
    /// client would read it.
    private func explain(_ explanation: String, to requester: Requester, _ step: inout Step) {
        switch requester.source {
        case .session(let session):
            switch session.dialect {
            case .wire:
                let text = ServerMessage.securityDebug(explanation).encoded()
                emit(.send(.text(text), to: [session.connection]), &step)
            case .events:
                session.explanation = ExplanationLine.text(
                    explanation,
                    limit: ExplanationLine.messageScalarCount
                )
            case .serverSent: break
            }
        case .request(let id), .stream(let id):
            emit(.explain(id, explanation), &step)
        case .ended: break
        }
    }
}

extension DecisionRecord {
    /// The paths of an update by their index; of those that are not named, the path of the whole stands in.
    private var explainedEntries: [Path] {
        var paths = targets.map(\.path)
        guard let deniedTarget, let index = decision.deniedEntry, index >= paths.count else {
            return paths
        }
        paths += Array(repeating: target.path, count: index - paths.count)
        return paths + [deniedTarget.path]
    }

    /// Why it was decided so, for people; many lines.
    ///
    /// `newRoot` is what a write would have left; with it children that are missing are named. Without `showsClaims`
    /// it is short enough for a browser's console.
    package func explain(newRoot: Node? = nil, showsClaims: Bool = true) -> String {
        var request = ExplainedRequest(
            operation: operation.rawValue,
            path: target.path,
            auth: auth,
            query: query
        )
        request.entries = explainedEntries
        request.rules = rules
        request.newRoot = newRoot
        request.showsClaims = showsClaims
        return Explanation.text(of: decision, for: request)
    }
}
