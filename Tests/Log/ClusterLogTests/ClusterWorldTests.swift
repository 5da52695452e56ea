import TestSupport
import Testing

/// Groups of three nodes over a log that delays, forgets, repeats, elects and goes back in time.
@Suite("Seeded histories of a group of nodes")
struct ClusterWorldTests {
    /// Runs one world, and gives what happened in it.
    private static func run(_ seed: UInt64, keepsJournal: Bool = false) throws -> ClusterWorld {
        let world = try ClusterWorld(seed: seed, keepsJournal: keepsJournal)
        do {
            try world.run(seconds: 20 + Int(seed % 3) * 20)
            world.noteMembers()
            if seed % 4 == 0 { try world.goBack() } else { try world.settle() }
        } catch let fault as ClusterFault {
            world.fault = fault
        }
        return world
    }

    @Test("every acknowledged commit is in the log once and on all nodes, whatever happens")
    func worlds() throws {
        var counts = ClusterCounts()
        let least = TestSeed.rounds ?? 200
        var count = 0
        for seed in TestSeed.seeds(max(least, 2_000)) {
            // Few worlds prove nothing but their own seeds.
            if count >= least, least < 100 || counts.missing.isEmpty { break }
            let world = try Self.run(seed)
            counts.add(world.counts)
            count += 1
            guard let fault = world.fault else { continue }
            Issue.record("seed \(seed): \(fault)")
            let journal = try Self.run(seed, keepsJournal: true).journal
            print(journal.suffix(400).joined(separator: "\n"))
            print("Alone: HEARTH_SEED=\(seed) HEARTH_ROUNDS=1, ClusterWorldTests/worlds")
            return
        }
        let worlds = "\(count) worlds from seed \(TestSeed.first) on"
        #expect(least < 100 || counts.missing.isEmpty, "\(worlds) meet too few: \(counts.missing)")
        print("\(worlds) met \(counts)")
    }

    @Test("the same seed gives the same history twice", arguments: TestSeed.seeds(3))
    func determinism(seed: UInt64) throws {
        let journals = try (0..<2).map { _ in try Self.run(seed, keepsJournal: true).journal }
        #expect(journals[0] == journals[1], "seed \(seed)")
        #expect(!journals[0].isEmpty, "seed \(seed)")
    }
}
