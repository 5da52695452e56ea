import JSONTree
import RulesTools
import SecurityRules
package import TestSupport

/// One ruleset, some trees and some requests: the compiled rules beside the oracle.
package struct OracleComparison {
    private var world: OracleWorld
    private let rules: OracleRules
    private let text: String
    private let ruleset: Ruleset

    /// Draws the rules from `random`, and then what they decide.
    ///
    /// - Throws: `OracleRefusal` where the rules do not load.
    package init(random: SeededGenerator) throws {
        var generator = OracleGenerator(random: random)
        rules = generator.rules()
        var printer = OraclePrinter(random: generator.random)
        text = rules.text(&printer)
        world = OracleWorld(random: printer.random)
        do throws(RulesError) {
            ruleset = try Ruleset.load(text)
        } catch {
            throw OracleRefusal(description: "\(error)\n\(text)")
        }
    }

    /// Makes `decisionCount` decisions, on trees for some of them each; says where the two differ first, or nil.
    package consuming func run(
        _ counts: inout OracleCounts,
        decisionCount: Int
    ) throws -> String? {
        let requestsPerTree = min(20, max(1, decisionCount / 2))
        for _ in 0..<decisionCount / (2 * requestsPerTree) {
            let before = world.data()
            let request = world.request(for: rules)
            let commit = world.commit(near: request.path)
            var after = before
            after.set(commit.node, at: commit.path[...])
            let path = try OracleTrial.path(commit.path)
            let nodes = try (
                Node(json: Array(before.json.utf8)), Node(json: Array(after.json.utf8))
            )
            for turn in 0..<requestsPerTree {
                let request = turn == 0 ? request : world.request(for: rules)
                let trial = try OracleTrial(request)
                let first = try compare(trial, before, nodes.0, &counts)
                if let difference = first.difference { return difference }
                let second = try compare(trial, after, nodes.1, &counts)
                if let difference = second.difference { return difference }
                // Only a commit at, above or below what was looked at may change a decision.
                let isTouched = first.decision.lookedAt.contains {
                    $0.isPrefix(of: path) || path.isPrefix(of: $0)
                }
                if isTouched { continue }
                counts.count("untouched")
                if first.decision.isAllowed != second.decision.isAllowed {
                    return describe(request, before, "changed by \(path), not looked at")
                }
            }
        }
        return nil
    }

    private func compare(
        _ trial: OracleTrial,
        _ tree: OracleNode,
        _ root: Node,
        _ counts: inout OracleCounts
    ) throws -> (decision: Decision, difference: String?) {
        let request = trial.request
        var authorizer = OracleAuthorizer(rules: rules, root: tree, request: request)
        let expected = authorizer.decision()
        counts.count(request, expected, authorizer.tally)

        let result = ruleset.simulate(trial.operation, trial.request(root: root))
        let decision = result.decision
        var difference = OracleComparison.difference(expected, decision, hasTrace: true)
        if difference == nil, let newData = result.newData, let newRoot = expected.newRoot {
            let (found, node) = (OracleNode(newData), newRoot.at(request.path))
            if found != node { difference = "new data \(found.json), not \(node.json)" }
        }
        if difference == nil {
            let recording = counts.nextRecording()
            let other = trial.decide(ruleset, root, newData: result.newData, recording)
            let hasTrace = recording.contains(.trace)
            difference = OracleComparison.difference(expected, other, hasTrace: hasTrace)
                .map { "recording \(recording.rawValue): \($0)" }
        }
        if difference == nil, case .write(_, let base, let isUpdate) = request.operation {
            // A refusal that is foreseen without the new data is one, whatever they are.
            let mayBeGranted = ruleset.mayGrantWrite(
                at: try OracleTrial.path(base),
                isUpdate: isUpdate,
                trial.request(root: root)
            )
            if decision.isAllowed, !mayBeGranted {
                difference = "allowed, and foreseen to be refused"
            }
            counts.count("\(request.kind) \(mayBeGranted ? "open" : "foreseen")")
        }
        if difference == nil {
            difference = differenceInParts(trial, root, result.newData, decision, &counts)
        }
        return (decision, difference.map { describe(request, tree, $0) })
    }

    /// How asking about the targets one by one, before there is a new tree and after, goes against the decision on all.
    private func differenceInParts(
        _ trial: OracleTrial,
        _ root: Node,
        _ newData: Node?,
        _ decision: Decision,
        _ counts: inout OracleCounts
    ) -> String? {
        guard let (targets, newRoot) = trial.write(root, newData: newData) else { return nil }
        let request = trial.request(root: root)
        let early = ruleset.refuseEarly(targets, request)
        if let refusal = early.decision {
            counts.count("early")
            let entry = targets[early.checkedCount - 1]
            if decision.isAllowed || refusal.deniedEntry != early.checkedCount - 1 {
                return "refused early at \(entry)"
            }
        }
        var stepsLeft = RulesLimits.stepsPerUpdate
        let refused = ruleset.refusedTargets(
            of: targets,
            newRoot: newRoot,
            request,
            stepsLeft: &stepsLeft
        )
        let alone = targets.indices.filter {
            !ruleset.decideWrite([targets[$0]], newRoot: newRoot, request).isAllowed
        }
        if refused != alone || refused.isEmpty != decision.isAllowed {
            return "refused one by one \(refused), alone \(alone)"
        }
        if refused.count > 1 { counts.count("several refused") }
        return nil
    }

    /// How a decision differs from what the oracle says.
    private static func difference(
        _ expected: OracleDecision,
        _ decision: Decision,
        hasTrace: Bool
    ) -> String? {
        let trace = decision.trace.map(OracleOutcome.init)
        if decision.isAllowed != expected.isAllowed {
            return "allowed \(decision.isAllowed), trace \(trace)\nnot \(expected.trace)"
        }
        let deciding = decision.rule.map(OracleOutcome.init)
        if deciding != expected.deciding {
            return "decided by \(String(describing: deciding)), "
                + "not \(String(describing: expected.deciding))"
        }
        if decision.deniedEntry != expected.deniedEntry {
            return "denied entry \(String(describing: decision.deniedEntry)), "
                + "not \(String(describing: expected.deniedEntry))"
        }
        if hasTrace, !decision.isCut, trace != expected.trace {
            return "trace \(trace)\nnot \(expected.trace)"
        }
        return nil
    }

    private func describe(_ request: OracleRequest, _ tree: OracleNode, _ what: String) -> String {
        "\(what)\nrules \(text)\ndata \(tree.json)\nrequest \(request)"
    }
}

/// Rules that are made to load, and were refused.
package struct OracleRefusal: Error, CustomStringConvertible {
    /// Why, and the rules.
    package let description: String
}

extension OracleOutcome {
    init(_ outcome: RuleOutcome) {
        let path = outcome.location
        let result: OracleResult =
            switch outcome.result {
            case .value(let holds): holds ? .holds : .fails
            case .error: .aborts
            }
        self.init(
            entry: outcome.entry,
            kind: outcome.kind.rawValue,
            declaration: outcome.path,
            place: (0..<path.keyCount).map { path.key(at: $0).string },
            result: result
        )
    }
}

extension OracleRequest {
    /// What the counts call it.
    var kind: String {
        switch operation {
        case .read: "read"
        case .write(_, _, let isUpdate): isUpdate ? "update" : "write"
        }
    }
}
