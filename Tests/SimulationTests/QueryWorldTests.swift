import Simulation
import Testing

@Suite("Queries under random histories")
struct QueryWorldTests {
    @Test(
        "listens, observers and event streams in all query forms show what sorting and filtering anew does",
        arguments: Soak.seeds
    )
    func histories(seed: UInt64) throws {
        let world = try QueryWorld(seed: seed)
        do {
            for _ in 0..<500 { try world.step() }
            try world.settle()
        } catch {
            let journal = world.journal.joined(separator: "\n")
            Issue.record("seed \(seed): \(error)\n\(journal)")
            return
        }
        #expect(world.counts.commits > 100, "seed \(seed)")
        #expect(world.counts.checks > 200, "seed \(seed)")
        #expect(world.counts.events > 5, "seed \(seed)")
    }

    @Test("the histories meet all that can happen")
    func coverage() throws {
        var counts: [QueryWorld.Counts] = []
        for seed in Soak.seeds.prefix(10) {
            let world = try QueryWorld(seed: seed)
            for _ in 0..<500 { try world.step() }
            try world.settle()
            counts.append(world.counts)
        }
        func total(_ count: (QueryWorld.Counts) -> Int) -> Int {
            counts.reduce(0) { $0 + count($1) }
        }
        #expect(total(\.events) > 250)
        #expect(total(\.works) > 50)
        #expect(total(\.refusedWorks) > 3)
        #expect(total(\.parkedWrites) > 10)
        #expect(total(\.rangeMerges) > 10)
        #expect(total(\.watchers) > 200)
        #expect(total(\.streams) > 50)
        #expect(total(\.streamEvents) > 200)
    }
}
