import DatabaseCore
import StateRecovery
package import WriteAheadLog

/// Backups of a simulated server, and what comes of them.
extension SimulatedServer {
    /// The bytes of a backup of the present state; nil while there is nothing.
    ///
    /// - Throws: `LogError` for more databases than there can be.
    package func backup(id: UInt64) throws(LogError) -> [UInt8]? {
        let snapshots = engine.snapshots()
        guard !snapshots.isEmpty else { return nil }
        var heads: [LogHead] = []
        for snapshot in snapshots {
            let name = try LogDatabaseName(snapshot.database.name)
            heads.append(LogHead(database: name, commit: snapshot.number.value))
        }
        // Each record is a commit.
        let position = LogPosition(heads.reduce(0) { $0 + $1.commit })
        let header = ArchiveHeader(id: id, time: 0, position: position)
        var archive = try ArchiveWriter(header, heads: heads)
        var bytes: [UInt8] = []
        archive.appendHeader(to: &bytes)
        var content = CheckpointEncoder(snapshots)
        var piece: [UInt8] = []
        while content.next(into: &piece, atLeast: 10_000) {
            if piece.isEmpty { continue }
            archive.append(piece[...], to: &bytes)
            piece = []
        }
        archive.appendTrailer(to: &bytes)
        return bytes
    }

    /// Makes a new data folder of a backup.
    ///
    /// - Throws: `SimulationFault` when the backup does not read back; `LogError` never, on a sound disk.
    package static func restore(
        _ backup: [UInt8],
        to storage: SimulatedLogStorage
    ) throws {
        let info = try read(backup) { _ in }
        let restore = try ArchiveRestore(to: storage, info)
        _ = try read(backup) { chunk throws(LogError) in try restore.write(chunk) }
        try restore.finish(readBackBy: StateChecker().take)
    }

    private static func read(
        _ backup: [UInt8],
        _ body: ([UInt8]) throws(LogError) -> Void
    ) throws -> CheckpointInfo {
        var reader = ArchiveReader()
        var found: CheckpointInfo?
        let fault = try backup.withUnsafeBytes { bytes throws(LogError) in
            try reader.feed(bytes) { event throws(LogError) in
                switch event {
                case .header: break
                case .chunk(let chunk): try body(chunk)
                case .trailer(let info): found = info
                }
            }
        }
        if let fault = fault ?? reader.finish() {
            throw SimulationFault("a backup that was just written \(fault)")
        }
        guard let found else { throw SimulationFault("a whole backup has no trailer") }
        return found
    }
}
