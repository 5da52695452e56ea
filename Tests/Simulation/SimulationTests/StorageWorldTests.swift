import TestSupport
import Testing

@testable import Simulation

/// Trees of every shape through log, checkpoint and backup, with power cuts between.
@Suite("Seeded histories of the storage")
struct StorageWorldTests {
    /// What histories reached, and how long they were.
    private struct Reached: CustomStringConvertible {
        var table = StateTable()
        var counts = StorageWorld.Counts()
        var worldCount = 0

        var description: String { "\(counts)\n\(table.text)" }

        /// What was met too seldom, or not at all, after at least so many worlds.
        func missing(after least: Int) -> [String] {
            let floors = [
                ("worlds", worldCount, least), ("power cuts", counts.powerCuts, 11),
                ("ends", counts.ends, 11), ("restores", counts.restores, 11),
                ("recovered checkpoints", counts.recoveredCheckpoints, 11),
            ]
            return table.missing
                + floors.filter { $0.1 < $0.2 }.map { "\($0.0): \($0.1) of \($0.2)" }
        }
    }

    @Test("every structure of tree and log is made, and comes back equal by every way")
    func states() throws {
        // Some thousand operations in the gate, 1,000,000 for 20,000 rounds of `make soak`.
        let count = Soak.crashCount / 50
        let isLong = count > 20
        try Soak.explore(
            Reached(),
            bound: max(count, 100),
            missing: { $0.missing(after: isLong ? count : 1) }
        ) { seed, reached in
            let world = try StorageWorld(seed: seed, after: reached.table)
            do {
                try world.run(operations: isLong ? 2_500 : 500)
                try world.settle()
            } catch {
                let journal = world.journal.joined(separator: "\n")
                Issue.record("seed \(seed): \(error)\n\(journal)")
            }
            reached.table = world.table
            reached.counts.add(world.counts)
            reached.worldCount += 1
        }
    }

    @Test("numbers of commits that were lost count again once they are given anew")
    func givenAnew() throws {
        let world = try StorageWorld(seed: TestSeed.first)
        let database = world.side.databases[0]
        // As a salvage says it, and then the end of the log goes too.
        world.side.lose(database, 1...3)
        try world.cutPower()
        let operation = try world.side.next(of: database, in: world.server)
        #expect(try world.ask(operation, of: database))
        #expect(world.side.fault(in: world.server) == nil)
    }
}
