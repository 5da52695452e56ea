import TestSupport
import Foundation
import JSONTree
import SecurityRules
import Testing

/// How much is compared: `HEARTH_SOAK_SEED` is the first seed, `HEARTH_SOAK_ROUNDS` the number of
/// hundreds of decisions (1,000 when unset).
private enum OracleSoak {
    static let firstSeed = number("HEARTH_SOAK_SEED") ?? 1
    static let decisionsPerRuleset = 400
    static let rulesetCount =
        max(1, Int(number("HEARTH_SOAK_ROUNDS") ?? 1_000) * 100 / decisionsPerRuleset)
    static let shardCount = 8

    /// The seeds of one shard; each is one ruleset.
    static func seeds(of shard: Int) -> [UInt64] {
        stride(from: shard, to: rulesetCount, by: shardCount).map { firstSeed + UInt64($0) }
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }
}

/// The compiled rules against a second reading of the language that shares no code with them: it
/// keeps expressions as trees, data as dictionaries, and works everything out again from the top.
@Suite("random rules and requests against a naive oracle")
struct OracleTests {
    @Test("the compiled rules decide as the oracle does, with the same trace")
    func decisions() async throws {
        let counts = try await withThrowingTaskGroup(of: OracleCounts.self) { group in
            for shard in 0..<OracleSoak.shardCount {
                group.addTask { try OracleTests.compare(OracleSoak.seeds(of: shard)) }
            }
            return try await group.reduce(into: OracleCounts()) { $0.add($1) }
        }
        // A handful of rulesets need not hold everything.
        if OracleSoak.rulesetCount >= 200 { counts.expectBreadth() }
    }

    private static func compare(_ seeds: [UInt64]) throws -> OracleCounts {
        var counts = OracleCounts()
        for seed in seeds {
            let comparison = try OracleComparison(seed: seed)
            if let difference = try comparison.run(&counts) {
                Issue.record("make soak SEED=\(seed) ROUNDS=1\n\(difference)")
                break
            }
        }
        return counts
    }

    @Test(
        "expressions made without regard to types load when the table of types says so",
        arguments: 0..<4
    )
    func types(shard: Int) throws {
        let seed = OracleSoak.firstSeed + UInt64(shard)
        let random = SeededGenerator(seed: seed)
        var mixer = OracleMixer(generator: OracleGenerator(random: random))
        var printer = OraclePrinter(random: random)
        var (loaded, refused) = (0, 0)
        for _ in 0..<1_000 {
            let kind = mixer.generator.pick(OracleRules.Kind.allCases)
            var expression = mixer.expression(depth: mixer.generator.random.index(4))
            // A comparison turns many values into a rule.
            if mixer.generator.oneIn(2) {
                expression = .binary(.equal, expression, mixer.leaf())
            }
            let table = OracleTypeTable(isRead: kind == .read, captures: ["$k"])
            let isGood: Bool
            do throws(OracleType.Refusal) {
                isGood = try table.type(expression) == .boolean
            } catch {
                if error == .unclear { continue }
                isGood = false
            }
            if isGood { loaded += 1 } else { refused += 1 }
            let source = printer.fileString(printer.text(expression))
            let text = "{\"rules\":{\"$k\":{\".\(kind.rawValue)\":\(source)}}}"
            do throws(RulesError) {
                _ = try Ruleset.load(text)
                #expect(isGood, "seed \(seed): loads: \(text)")
            } catch {
                #expect(!isGood, "seed \(seed): \(error) \(text)")
            }
        }
        #expect(loaded > 60, "\(loaded)")
        #expect(refused > 300, "\(refused)")
    }
}

/// What the decisions of many rulesets were about.
struct OracleCounts {
    var tally = OracleTally()
    var decisions: [String: Int] = [:]
    var results: [String: Int] = [:]

    /// What may be recorded instead of trace and paths, by turns: nothing, which is other code, less, or more.
    private static let recordings: [Recording] = [[], .paths, .values, .trace]
    private var turn = 0

    mutating func nextRecording() -> Recording {
        turn += 1
        return OracleCounts.recordings[turn % OracleCounts.recordings.count]
    }

    mutating func add(_ other: OracleCounts) {
        tally.add(other.tally)
        decisions.merge(other.decisions, uniquingKeysWith: +)
        results.merge(other.results, uniquingKeysWith: +)
    }

    mutating func count(_ name: String) { decisions[name, default: 0] += 1 }

    /// Counts a decision of the oracle.
    mutating func count(
        _ request: OracleRequest,
        _ verdict: OracleVerdict,
        _ evaluated: OracleTally
    ) {
        tally.add(evaluated)
        for outcome in verdict.trace {
            results["\(outcome.kind) \(outcome.result.rawValue)", default: 0] += 1
        }
        count("\(request.kind) \(verdict.isAllowed ? "allowed" : "refused")")
    }

    /// Every part of the language was evaluated, and both verdicts came often.
    func expectBreadth() {
        for name in OracleCounts.names {
            #expect(tally.counts[name, default: 0] >= 100, "\(name)")
        }
        for kind in ["read", "write", "update"] {
            let allowed = decisions[kind + " allowed", default: 0]
            let all = allowed + decisions[kind + " refused", default: 0]
            #expect(allowed * 10 > all * 2 && allowed * 10 < all * 8, "\(kind): \(decisions)")
        }
        for result in ["holds", "fails", "aborts"] {
            for kind in OracleRules.Kind.allCases {
                #expect(results["\(kind) \(result)", default: 0] > 500, "\(results)")
            }
        }
        #expect(decisions["untouched", default: 0] > 1_000)
        for kind in ["write", "update"] {
            let foreseen = decisions[kind + " foreseen", default: 0]
            #expect(foreseen * 10 > decisions[kind + " refused", default: 0], "\(decisions)")
        }
        #expect(decisions["early", default: 0] > 100, "\(decisions)")
        #expect(decisions["several refused", default: 0] > 100, "\(decisions)")
    }

    private static let names =
        OracleExpression.Variable.allCases.map(\.rawValue)
        + OracleExpression.Operator.allCases.map(\.rawValue)
        + OracleType.snapshotMethods.keys + OracleType.stringMethods.keys
        + (OracleType.queryFlags + OracleType.queryValues).map { "." + $0 }
        + [
            "$", "!", "negative", "?", ":", "[]", ".length", ".member", "hasChildren[]",
            "&& not reached", "|| not reached",
        ]
}

/// One ruleset, some trees and some requests: the compiled rules beside the oracle.
private struct OracleComparison {
    private var world: OracleWorld
    private let rules: OracleRules
    private let text: String
    private let ruleset: Ruleset

    init(seed: UInt64) throws {
        var generator = OracleGenerator(random: SeededGenerator(seed: seed))
        rules = generator.rules()
        var printer = OraclePrinter(random: generator.random)
        text = rules.text(&printer)
        world = OracleWorld(random: printer.random)
        do throws(RulesError) {
            ruleset = try Ruleset.load(text)
        } catch {
            Issue.record("seed \(seed): \(error)\n\(text)")
            throw error
        }
    }

    /// Makes many decisions; says where the two differ first, or nil.
    consuming func run(_ counts: inout OracleCounts) throws -> String? {
        let requestsPerTree = 20
        for _ in 0..<OracleSoak.decisionsPerRuleset / (2 * requestsPerTree) {
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
                // Only a commit at, above or below what was looked at may change a verdict.
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
        var judge = OracleJudge(rules: rules, root: tree, request: request)
        let expected = judge.verdict()
        counts.count(request, expected, judge.tally)

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
            let entry = targets[early.judgedCount - 1]
            if decision.isAllowed || refusal.deniedEntry != early.judgedCount - 1 {
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
        _ expected: OracleVerdict,
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
    fileprivate var kind: String {
        switch operation {
        case .read: "read"
        case .write(_, _, let isUpdate): isUpdate ? "update" : "write"
        }
    }
}
