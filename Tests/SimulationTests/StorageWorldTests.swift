import Foundation
import Simulation
import Testing

/// Trees of every shape through log, checkpoint and backup, with power cuts between.
@Suite("Seeded histories of the storage")
struct StorageWorldTests {
    /// What all histories of this run reached.
    private static func run(
        _ seeds: some Sequence<UInt64>,
        operations: Int
    ) throws -> (StateTable, StorageWorld.Counts) {
        var table = StateTable()
        var counts = StorageWorld.Counts()
        for seed in seeds {
            let world = try StorageWorld(seed: seed, after: table)
            do {
                try world.run(operations: operations)
                try world.settle()
            } catch {
                let journal = world.journal.joined(separator: "\n")
                Issue.record("seed \(seed): \(error)\n\(journal)")
            }
            table = world.table
            counts.add(world.counts)
        }
        return (table, counts)
    }

    @Test("every structure of tree and log is made, and comes back equal by every way")
    func states() throws {
        // Some thousand operations in the gate, 1,000,000 for 20,000 rounds of `make soak`.
        let count = Soak.crashCount > 1_000 ? UInt64(Soak.crashCount / 50) : 12
        let (table, counts) = try Self.run(
            Soak.firstSeed..<Soak.firstSeed + count,
            operations: count > 12 ? 2_500 : 500
        )
        print("\(table.text)\n\(counts)")
        #expect(table.missing.isEmpty, "\(table.missing.joined(separator: "\n"))")
        #expect(counts.powerCuts > 10 && counts.ends > 10 && counts.restores > 10)
        #expect(counts.recoveredCheckpoints > 10)
    }
}
