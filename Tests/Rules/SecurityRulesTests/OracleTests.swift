import SecurityRules
import TestSupport
import Testing

@testable import RulesOracle

/// How much is compared: `HEARTH_ROUNDS` is the number of hundreds of decisions; when unset, the gate's share of the
/// 1,000 of a soak.
private enum OracleSoak {
    static let decisionsPerRuleset = 400
    static let rulesetCount = max(1, (TestSeed.rounds ?? 200) * 100 / decisionsPerRuleset)
    static let shardCount = 8
    /// How often each part of the language is met at least; 0 for a handful of rulesets, which need not hold everything.
    static let floor = rulesetCount >= 200 ? 100 : TestSeed.rounds == nil ? 10 : 0
    /// Rulesets after which it is not gone on to others that might hold what is missing.
    static let bound = max(rulesetCount, 1_000)

    /// The seeds of one shard, of so many rulesets behind `start`; each is one ruleset.
    static func seeds(of shard: Int, from start: Int, _ count: Int) -> [UInt64] {
        stride(from: start + shard, to: start + count, by: shardCount)
            .map { TestSeed.first + UInt64($0) }
    }
}

/// The compiled rules against a second reading of the language that shares no code with them: it
/// keeps expressions as trees, data as dictionaries, and works everything out again from the top.
@Suite("random rules and requests against a naive oracle")
struct OracleTests {
    @Test("the compiled rules decide as the oracle does, with the same trace")
    func decisions() async throws {
        var counts = OracleCounts()
        var start = 0
        var count = OracleSoak.rulesetCount
        while start < OracleSoak.bound, !counts.missing(OracleSoak.floor).isEmpty || start == 0 {
            try await withThrowingTaskGroup(of: OracleCounts.self) { [start, count] group in
                for shard in 0..<OracleSoak.shardCount {
                    let seeds = OracleSoak.seeds(of: shard, from: start, count)
                    group.addTask { try OracleTests.compare(seeds) }
                }
                for try await more in group { counts.add(more) }
            }
            (start, count) = (start + count, OracleSoak.shardCount)
        }
        print("\(start) rulesets from seed \(TestSeed.first) on met \(counts.decisions)")
        let missing = counts.missing(OracleSoak.floor).joined(separator: ", ")
        #expect(missing.isEmpty, "\(start) rulesets from seed \(TestSeed.first) on meet too few")
    }

    private static func compare(_ seeds: [UInt64]) throws -> OracleCounts {
        var counts = OracleCounts()
        for seed in seeds {
            let comparison = try OracleComparison(random: SeededGenerator(seed: seed))
            let decisionCount = OracleSoak.decisionsPerRuleset
            if let difference = try comparison.run(&counts, decisionCount: decisionCount) {
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
        let seed = TestSeed.first + UInt64(shard)
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
