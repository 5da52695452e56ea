import Simulation
import TestSupport
import Testing

/// How much is simulated: `HEARTH_ROUNDS` is the number of crashes, which also scales what has no crashes; when unset,
/// the gate's share of the 1,000 of a soak.
enum Soak {
    static let crashCount = TestSeed.rounds ?? 200
    static let crashesPerSeed = 20
    static let seeds = TestSeed.seeds(max(1, crashCount / crashesPerSeed))
    static let halfOfSeeds = seeds.prefix(max(10, seeds.count / 2))

    /// Runs worlds of one seed after another until `missing` is empty, and prints what they met; what is still missing
    /// after `bound` worlds is an issue.
    static func explore<Result>(
        _ start: Result,
        bound: Int,
        missing: (Result) -> [String],
        sourceLocation: SourceLocation = #_sourceLocation,
        _ world: (UInt64, inout Result) throws -> Void
    ) rethrows {
        var result = start
        var worldCount = 0
        for seed in TestSeed.seeds(bound) where !missing(result).isEmpty {
            try world(seed, &result)
            worldCount += 1
        }
        let worlds = "\(worldCount) worlds from seed \(TestSeed.first) on"
        let list = missing(result).joined(separator: "\n")
        #expect(list.isEmpty, "\(worlds) meet too few", sourceLocation: sourceLocation)
        print("\(worlds) met \(result)")
    }

    /// Runs a world; what it finds is an issue with the seed, and with what led to it.
    ///
    /// - Returns: whether nothing was found.
    @discardableResult
    static func run(
        _ options: SimulatedWorld.Options,
        test: String,
        _ body: (SimulatedWorld) throws -> Void
    ) throws -> Bool {
        do {
            try body(try SimulatedWorld(options))
            return true
        } catch let fault as SimulationFault {
            Issue.record("seed \(options.seed): \(fault)")
        }
        // Once more, with a journal.
        var options = options
        options.keepsJournal = true
        let world = try SimulatedWorld(options)
        do { try body(world) } catch is SimulationFault {}
        print(
            """
            \(world.journal.joined(separator: "\n"))
            Seed \(options.seed) alone: HEARTH_SEED=\(options.seed) HEARTH_ROUNDS=1 \
            .build/gate/release/hearthPackageTests.xctest --testing-library swift-testing \
            --filter 'SimulationTests/\(test)'
            """
        )
        return false
    }
}

@Suite("Seeded histories against the reference model")
struct SimulationTests {
    /// What worlds met, and how many they were.
    private struct Reached: CustomStringConvertible {
        var counts = WorldCounts()
        var worldCount = 0
        var isSound = true

        var description: String { "\(counts)" }

        /// What is missing after at least so many worlds. Few of them prove nothing but their own seeds.
        func missing(after least: Int) -> [String] {
            if !isSound { return [] }
            let missing = least < 100 ? [] : counts.missing
            return worldCount < least ? missing + ["worlds: \(worldCount) of \(least)"] : missing
        }

        mutating func take(_ world: SimulatedWorld) {
            counts.add(world.counts)
            worldCount += 1
        }
    }

    @Test("a world with everything in it keeps every promise, and all that can happen happens")
    func everything() throws {
        let count = Soak.crashCount
        try Soak.explore(
            Reached(),
            bound: max(count, 600),
            missing: { $0.missing(after: count) }
        ) { seed, reached in
            let options = SimulatedWorld.Options.everything(seed: seed)
            reached.isSound = try Soak.run(options, test: "everything") { world in
                // Apps take some steps to connect.
                let stepCount = options.appCount == 0 ? 60 : 120
                for round in 1...(seed % 8 == 0 ? 8 : 2) {
                    if round % 2 == 0 { world.cutPower(within: 60) }
                    for _ in 0..<stepCount { try world.step() }
                    if round % 4 == 3 { try world.restart() } else { try world.cutPower() }
                }
                for _ in 0..<stepCount { try world.step() }
                try world.settle()
                reached.take(world)
            }
        }
    }

    @Test(
        "apps show what their twins work out, and in the end what the server has",
        arguments: Soak.seeds.prefix(max(4, Soak.seeds.count / 4))
    )
    func apps(seed: UInt64) throws {
        try Soak.run(.apps(seed: seed), test: "apps") { world in
            for round in 1...1_000 {
                try world.step()
                if round % 500 == 0 { try world.settle() }
            }
            #expect(world.counts[.checkedObserver] > 0, "seed \(seed)")
        }
    }

    @Test(
        "after a power cut the tree is a prefix of the commits that holds every acknowledged one",
        arguments: Soak.seeds
    )
    func crashes(seed: UInt64) throws {
        try Soak.run(.init(seed: seed, hasCrashes: true), test: "crashes") { world in
            for round in 1...Soak.crashesPerSeed {
                world.cutPower(within: 60)
                for _ in 0..<60 { try world.step() }
                if round % 10 == 0 { try world.restart() }
                try world.cutPower()
            }
            try world.settle()
            #expect(world.counts[.powerCut] >= Soak.crashesPerSeed, "seed \(seed)")
        }
    }

    @Test(
        "clients see what the model says, in the order of the commits",
        arguments: Soak.halfOfSeeds
    )
    func histories(seed: UInt64) throws {
        try Soak.run(.init(seed: seed), test: "histories") { world in
            for _ in 0..<400 { try world.step() }
            try world.settle()
            #expect(world.counts[.message] > 100, "seed \(seed)")
        }
    }

    @Test("the same seed gives the same bytes twice", arguments: Soak.seeds.prefix(5))
    func determinism(seed: UInt64) throws {
        var transcripts: [[UInt8]] = []
        for _ in 0..<2 {
            var options = SimulatedWorld.Options.everything(seed: seed)
            options.keepsTranscript = true
            try Soak.run(options, test: "determinism") { world in
                for _ in 0..<5 {
                    world.cutPower(within: 60)
                    for _ in 0..<120 { try world.step() }
                    try world.cutPower()
                }
                transcripts.append(world.transcript)
            }
        }
        try #require(transcripts.count == 2, "seed \(seed)")
        #expect(transcripts[0] == transcripts[1], "seed \(seed)")
        #expect(transcripts[0].count > 5_000, "seed \(seed)")
    }
}
