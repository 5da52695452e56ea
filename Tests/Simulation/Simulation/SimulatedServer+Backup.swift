import DatabaseCore
import JSONTree
package import SimulatedStorage
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
        // Each record is a commit.
        let position = LogPosition(snapshots.reduce(0) { $0 + $1.number.value })
        let time = Timestamp(milliseconds: 0)
        var archive = try ArchivePieces(snapshots, at: position, time: time, id: id)
        var bytes: [UInt8] = []
        while archive.next(into: &bytes, atLeast: 10_000) {}
        return bytes
    }

    /// Makes a new data folder of a backup.
    ///
    /// - Throws: `SimulationFault` when the backup does not read back; `LogError` never, on a sound disk.
    package static func restore(
        _ backup: [UInt8],
        to storage: SimulatedLogStorage,
        _ options: LogOptions
    ) throws {
        let info = try read(backup) { _ in }
        let restore = try ArchiveRestore(to: storage, info, options: options)
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
