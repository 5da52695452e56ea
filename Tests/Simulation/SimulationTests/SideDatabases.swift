import DatabaseCore
import JSONTree
import SimulatedStorage
import WireProtocol

@testable import Simulation

/// Databases beside the one that a `StorageWorld` is about, a few or many.
///
/// Commit n of one puts n at the n-th of its keys, which come round again, so that what it holds after
/// any commit needs no twin.
struct SideDatabases {
    private static let keyCount = 20

    let databases: [DatabaseID]
    private let keys: [String]
    /// Commits that a salvage left out.
    private var lost: [DatabaseID: Set<UInt64>] = [:]

    init(_ count: Int, _ random: inout SplitMix64) {
        // Names have 63 bytes at most.
        let orders = KeyOrder.allCases.filter { $0 != .longest }
        let order = orders[Int.random(in: 0..<orders.count, using: &random)]
        databases = order.keys(count, &random).map { DatabaseID($0) }
        keys = KeyOrder.allCases[Int.random(in: 0..<KeyOrder.allCases.count, using: &random)]
            .keys(Self.keyCount, &random)
    }

    /// What makes the next commit of a database.
    func next(of database: DatabaseID, in server: SimulatedServer) throws -> Request.Operation {
        let number = server[database].made.value + 1
        let key = try Key(keys[Int(number % UInt64(Self.keyCount))])
        return .put(WriteTarget(path: Path([key])), Draft(Node(integer: Int64(number))))
    }

    mutating func lose(_ database: DatabaseID, _ commits: ClosedRange<UInt64>) {
        lost[database, default: []].formUnion(commits)
    }

    /// A server has come back, maybe with fewer commits: the numbers above its last one are given anew, and what was
    /// lost under them is not lost any more.
    mutating func cameBack(_ server: SimulatedServer) {
        for database in databases {
            let made = server[database].made.value
            lost[database] = lost[database]?.filter { $0 <= made }
        }
    }

    /// What a server holds that it should not, or not as it should.
    func fault(in server: SimulatedServer) -> String? {
        for snapshot in server.engine.snapshots() where databases.contains(snapshot.database) {
            let expected = expected(snapshot.database, at: snapshot.number.value)
            if let difference = expected.difference(in: snapshot.root) {
                return "database \(snapshot.database): \(difference)"
            }
        }
        return nil
    }

    private func expected(_ database: DatabaseID, at head: UInt64) -> NaiveNode {
        var node = NaiveNode()
        let lost = lost[database] ?? []
        // The newest that is not lost, for each key.
        for commit in stride(from: head, to: 0, by: -1) where !lost.contains(commit) {
            let key = keys[Int(commit % UInt64(Self.keyCount))]
            if node.children[key] == nil { node.children[key] = NaiveNode(.number(Double(commit))) }
            if node.children.count == Self.keyCount { break }
        }
        return node
    }
}
