import Simulation
import Testing

@Suite("Seeded histories of the client")
struct SyncWorldTests {
    private static let seeds = Soak.seeds.prefix(max(20, Soak.seeds.count / 3))

    /// Runs a world; what it finds carries the seed.
    private func run(seed: UInt64, _ body: (SyncWorld) throws -> Void) throws {
        let world = try SyncWorld(seed: seed)
        do {
            try body(world)
        } catch let fault as SimulationFault {
            let journal = world.journal.joined(separator: "\n")
            Issue.record("seed \(seed): \(fault)\n\(journal)")
        }
    }

    @Test(
        "observers are told what the twin works out, and in the end what the server has",
        arguments: seeds
    )
    func histories(seed: UInt64) throws {
        try run(seed: seed) { world in
            for round in 1...1_000 {
                try world.step()
                if round % 500 == 0 { try world.settle() }
            }
            #expect(world.counts.steps == 1_000, "seed \(seed)")
        }
    }

    @Test("the histories meet all that can happen")
    func coverage() throws {
        var counts: [SyncWorld.Counts] = []
        for seed in Soak.seeds.prefix(8) {
            try run(seed: seed) { world in
                for _ in 0..<800 { try world.step() }
                try world.settle()
                counts.append(world.counts)
            }
        }
        func total(_ count: (SyncWorld.Counts) -> Int) -> Int {
            counts.reduce(0) { $0 + count($1) }
        }
        #expect(total(\.checks) > 1_000)
        #expect(total(\.commits) > 200)
        #expect(total(\.cuts) > 40)
        #expect(total(\.restarts) > 4)
        #expect(total(\.transactions) > 15)
        #expect(total(\.lostTransactions) > 0)
        #expect(total(\.refusedWrites) > 0)
        #expect(total(\.cancels) > 0)
        #expect(total(\.finishedCalls) > 500)
    }

    @Test("the same seed gives the same history twice", arguments: Soak.seeds.prefix(3))
    func determinism(seed: UInt64) throws {
        var journals: [[String]] = []
        for _ in 0..<2 {
            try run(seed: seed) { world in
                for _ in 0..<400 { try world.step() }
                journals.append(world.journal)
            }
        }
        try #require(journals.count == 2, "seed \(seed)")
        #expect(journals[0] == journals[1], "seed \(seed)")
    }
}
