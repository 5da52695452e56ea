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
        var counts: [SimulatedWorld.Counts] = []
        for seed in Soak.seeds.prefix(3) {
            try Soak.run(.init(seed: seed, rules: .rooms, hasCrashes: true)) { world in
                for _ in 0..<20 {
                    world.cutPower(within: 60)
                    for _ in 0..<60 { try world.step() }
                    try world.cutPower()
                }
                counts.append(world.counts)
            }
        }
        for seed in Soak.seeds.prefix(15) {
            try Soak.run(.init(seed: seed, rules: .rooms)) { world in
                for _ in 0..<400 { try world.step() }
                counts.append(world.counts)
            }
        }
        func total(_ count: (SimulatedWorld.Counts) -> Int) -> Int {
            counts.reduce(0) { $0 + count($1) }
        }
        #expect(total(\.crashes) >= 60)
        #expect(total(\.unacknowledged) > 0)
        #expect(total(\.losses) > 0)
        #expect(total(\.tornTails) > 0)
        #expect(total(\.checkpoints) > 0)
        #expect(total(\.disconnectsRun) > 0)
        #expect(total(\.cancels) > 10)
        #expect(total(\.revocations) > 5)
        for status in ["ok", "permission_denied", "datastale", "invalid_token"] {
            #expect(total { $0.replies[status] ?? 0 } > 0, "no reply is \(status)")
        }
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
