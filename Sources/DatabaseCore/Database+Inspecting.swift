package import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// What somebody asks the rules.
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

    /// The record of what was decided.
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

/// Telling how decisions came about. What is allowed comes here only while all decisions are told.
extension Database {
    /// Counts a refusal, and tells the decision to whoever it concerns at this level.
    ///
    /// `newRoot` is what a write would leave; `again` decides the same once more with every value noted down.
    func inspect(
        _ decision: Decision,
        of question: Question,
        newRoot: Node? = nil,
        _ effects: inout [Effect],
        again: () -> Decision
    ) {
        let operation = question.requester.operation
        if !decision.isAllowed { refusalCounts.count(operation) }
        if decision.overLimit != nil {
            emit(.note(.overLimit(id, question.record(of: decision, under: rules))), &effects)
        }
        let recorded: Decision
        switch inspection {
        case .off: return
        case .refused:
            // Not the longest of all decisions twice.
            recorded = decision.overLimit == nil ? again() : decision.tracedToLimit
        case .all:
            count(decision)
            // Thousands of listens can be judged again at once, and of most nothing comes.
            if operation == .recheck, decision.isAllowed { return }
            recorded = decision
        }
        var record = question.record(of: recorded, under: rules)
        if explainsRefusals, !decision.isAllowed {
            record.explanation = record.explain(newRoot: newRoot)
            let short = record.explain(newRoot: newRoot, tellsClaims: false)
            tell(short, to: question.requester, &effects)
        }
        emit(.judged(id, record), &effects)
    }

    /// What decisions under the rules in force have consulted.
    var countedCoverage: Coverage {
        if let coverage, coverage.rules === rules { return coverage.counts }
        return Coverage(rules)
    }

    /// Counts what a decision consulted, among those of the rules in force.
    private func count(_ decision: Decision) {
        if coverage?.rules !== rules { coverage = (rules, Coverage(rules)) }
        coverage?.counts.add(decision)
    }

    /// Tells a client why it is refused, ahead of the refusal; of an event stream that has begun nobody
    /// would read it.
    private func tell(
        _ explanation: String,
        to requester: Requester,
        _ effects: inout [Effect]
    ) {
        switch requester.source {
        case .session(let session):
            switch session.dialect {
            case .wire:
                let text = ServerMessage.securityDebug(explanation).encoded()
                emit(.send(.text(text), to: [session.connection]), &effects)
            case .events:
                session.explanation = ExplanationLine.text(
                    explanation,
                    limit: ExplanationLine.messageScalarCount
                )
            case .serverSent: break
            }
        case .request(let id), .stream(let id):
            emit(.explain(id, explanation), &effects)
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
    /// `newRoot` is what a write would have left; with it children that are missing are named. Without `tellsClaims`
    /// it is short enough for a browser's console.
    package func explain(newRoot: Node? = nil, tellsClaims: Bool = true) -> String {
        var request = ExplainedRequest(
            operation: operation.rawValue,
            path: target.path,
            auth: auth,
            query: query
        )
        request.entries = explainedEntries
        request.rules = rules
        request.newRoot = newRoot
        request.tellsClaims = tellsClaims
        return Explanation.text(of: decision, for: request)
    }
}
