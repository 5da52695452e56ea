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
        try Soak.explore([], bound: 100, missing: Self.missing) { seed, counts in
            let world = try QueryWorld(seed: seed)
            for _ in 0..<500 { try world.step() }
            try world.settle()
            counts.append(world.counts)
        }
    }

    /// What was met less often than it must be.
    private static func missing(_ counts: [QueryWorld.Counts]) -> [String] {
        let floors: [(name: String, count: KeyPath<QueryWorld.Counts, Int>, floor: Int)] = [
            ("events", \.events, 251), ("works", \.works, 51), ("refused works", \.refusedWorks, 4),
            ("parked writes", \.parkedWrites, 11), ("range merges", \.rangeMerges, 11),
            ("watchers", \.watchers, 201), ("streams", \.streams, 51),
            ("events of streams", \.streamEvents, 201),
        ]
        return floors.compactMap { name, count, floor in
            let found = counts.reduce(0) { $0 + $1[keyPath: count] }
            return found < floor ? "\(name): \(found) of \(floor)" : nil
        }
    }
}
