import Foundation
import Simulation
import Testing

/// How much is simulated: `HEARTH_SOAK_SEED` is the first seed, `HEARTH_SOAK_ROUNDS` the number of
/// crashes (1,000 when unset), which also scales what has no crashes.
enum Soak {
    static let firstSeed = number("HEARTH_SOAK_SEED") ?? 1
    static let crashCount = Int(number("HEARTH_SOAK_ROUNDS") ?? 1_000)
    static let crashesPerSeed = 20

    static let seeds: [UInt64] = {
        let count = UInt64(max(1, crashCount / crashesPerSeed))
        return Array(firstSeed..<firstSeed + count)
    }()

    static let halfOfSeeds = seeds.prefix(max(25, seeds.count / 2))

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    /// Runs a world; what it finds carries the seed.
    static func run(
        _ options: SimulatedWorld.Options,
        _ body: (SimulatedWorld) throws -> Void
    ) throws {
        let world = try SimulatedWorld(options)
        do {
            try body(world)
        } catch let fault as SimulationFault {
            let journal = world.journal.joined(separator: "\n")
            Issue.record("seed \(options.seed): \(fault)\n\(journal)")
        }
    }
}

@Suite("Seeded histories against the reference model")
struct SimulationTests {
    @Test(
        "after a power cut the tree is a prefix of the commits that holds every acknowledged one",
        arguments: Soak.seeds
    )
    func crashes(seed: UInt64) throws {
        try Soak.run(.init(seed: seed, hasCrashes: true)) { world in
            for round in 1...Soak.crashesPerSeed {
                world.cutPower(within: 60)
                for _ in 0..<60 { try world.step() }
                if round % 10 == 0 { try world.restart() }
                try world.cutPower()
            }
            try world.settle()
            #expect(world.counts.crashes >= Soak.crashesPerSeed, "seed \(seed)")
        }
    }

    @Test(
        "clients see what the model says, in the order of the commits",
        arguments: Soak.halfOfSeeds
    )
    func histories(seed: UInt64) throws {
        try Soak.run(.init(seed: seed)) { world in
            for _ in 0..<400 { try world.step() }
            try world.settle()
            #expect(world.counts.messages > 100, "seed \(seed)")
        }
    }

    @Test(
        "nobody is pushed what the rules refuse, and a refused listen gets one cancel",
        arguments: Soak.halfOfSeeds
    )
    func revocation(seed: UInt64) throws {
        try Soak.run(.init(seed: seed, rules: .rooms)) { world in
            for _ in 0..<400 { try world.step() }
            try world.settle()
            #expect(world.counts.messages > 100, "seed \(seed)")
        }
    }

    @Test("rules and power cuts together break no promise", arguments: Soak.seeds.prefix(10))
    func revocationWithCrashes(seed: UInt64) throws {
        try Soak.run(.init(seed: seed, rules: .rooms, hasCrashes: true)) { world in
            for _ in 0..<10 {
                world.cutPower(within: 60)
                for _ in 0..<60 { try world.step() }
                try world.cutPower()
            }
            try world.settle()
        }
    }

    @Test("the histories meet all that can happen")
    func coverage() throws {
        // From any seed on: most of them meet all of it in three rounds.
        var counts = SimulatedWorld.Counts()
        for seed in Soak.firstSeed..<Soak.firstSeed + 30 where !Self.missing(counts).isEmpty {
            try Soak.run(.init(seed: seed, rules: .rooms, hasCrashes: true)) { world in
                for _ in 0..<20 {
                    world.cutPower(within: 60)
                    for _ in 0..<60 { try world.step() }
                    try world.cutPower()
                }
                counts.add(world.counts)
            }
            try Soak.run(.init(seed: seed, rules: .rooms)) { world in
                for _ in 0..<1_200 { try world.step() }
                counts.add(world.counts)
            }
        }
        let missing = Self.missing(counts).joined(separator: ", ")
        #expect(missing.isEmpty, "seeds from \(Soak.firstSeed) on meet too few: \(missing)")
    }

    /// What was met less often than it must be.
    private static func missing(_ counts: SimulatedWorld.Counts) -> [String] {
        var floors = [
            ("crashes", counts.crashes, 60), ("unacknowledged", counts.unacknowledged, 1),
            ("losses", counts.losses, 1), ("torn tails", counts.tornTails, 1),
            ("checkpoints", counts.checkpoints, 1), ("cancels", counts.cancels, 11),
            ("on-disconnect writes", counts.disconnectsRun, 1),
            ("revocations", counts.revocations, 6),
        ]
        for status in ["ok", "permission_denied", "datastale", "invalid_token"] {
            floors.append(("replies \(status)", counts.replies[status] ?? 0, 1))
        }
        return floors.filter { $0.1 < $0.2 }.map { "\($0.0): \($0.1) of \($0.2)" }
    }

    @Test("the same seed gives the same bytes twice", arguments: Soak.seeds.prefix(5))
    func determinism(seed: UInt64) throws {
        var transcripts: [[UInt8]] = []
        for _ in 0..<2 {
            var options = SimulatedWorld.Options(seed: seed, rules: .rooms, hasCrashes: true)
            options.keepsTranscript = true
            try Soak.run(options) { world in
                for _ in 0..<5 {
                    world.cutPower(within: 60)
                    for _ in 0..<60 { try world.step() }
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
