import DatabaseCore
package import Files
import SecurityRules
import StateRecovery
import WriteAheadLog

/// The commands on backups that need no server: `hearth backup --data-dir`, `--verify`, `hearth restore`.
package enum BackupCommands {
    /// Reads a backup and everything in it, as a start of a server would.
    ///
    /// Memory: see `StateCheck`.
    package static func verify(_ file: String) -> CommandOutcome {
        outcome { () throws(BackupError) in try BackupContent.verify(file).description }
    }

    /// Backs up a data folder that no server runs on; see `BackupFile.finish`.
    package static func backUp(
        _ folder: String,
        to file: String,
        isVerified: Bool
    ) -> CommandOutcome {
        outcome { () throws(BackupError) in
            let pieces = try logged { () throws(LogError) in try archive(of: folder) }
            return try writePieces(pieces, to: file, isVerified).description
        }
    }

    /// Makes a data folder of a backup, which is verified before.
    package static func restore(_ file: String, to folder: String) -> CommandOutcome {
        outcome { () throws(BackupError) in
            "restored \(folder) from \(try restoreVerified(file, to: folder))"
        }
    }

    private static func outcome(_ work: () throws(BackupError) -> String) -> CommandOutcome {
        do throws(BackupError) { return .done(try work()) } catch {
            return .failed("error: \(error)")
        }
    }

    // MARK: - Backing up

    /// The state of a folder, which is read under its lock as a start would.
    private static func archive(of path: String) throws(LogError) -> ArchivePieces {
        let storage = FileLogStorage(path: path)
        guard try DataFolder.isThere(storage) else { throw .notADataFolder(path: path) }
        let folder = try DataFolder.open(storage)
        defer { folder.close() }
        let policy = EnginePolicy(databases: [], createsDatabases: false, defaultRules: .closed)
        let state = try folder.recoverState(policy)
        let position = state.report.position
        try state.writer.close()
        return try ArchivePieces(
            state.engine.snapshots(),
            at: position,
            time: Clock.now(),
            id: UInt64.random(in: 0...UInt64.max)
        )
    }

    private static func writePieces(
        _ pieces: ArchivePieces,
        to path: String,
        _ isVerified: Bool
    ) throws(BackupError) -> BackupSummary {
        let file = try BackupFile(path)
        var pieces = pieces
        var bytes: [UInt8] = []
        var isMore = true
        while isMore {
            bytes.removeAll(keepingCapacity: true)
            isMore = pieces.next(into: &bytes, atLeast: pieceByteCount)
            try bytes.withUnsafeBufferPointer { bytes throws(BackupError) in
                try file.write(UnsafeRawBufferPointer(bytes))
            }
        }
        return try file.finish(isVerified: isVerified)
    }

    private static let pieceByteCount = 256 * 1024

    // MARK: - Restoring

    private static func restoreVerified(
        _ file: String,
        to path: String
    ) throws(BackupError) -> BackupSummary {
        try FolderDraft.fill(path, "restoring") { storage throws(BackupError) in
            let summary = try BackupContent.verify(file)
            let restore = try logged { () throws(LogError) in
                try ArchiveRestore(to: storage, summary.info, options: storage.options())
            }
            guard try copy(file, into: restore) == summary else {
                throw .content(path: file, reason: "has changed while it was read")
            }
            try logged { () throws(LogError) in
                try restore.finish(readBackBy: StateChecker().take)
            }
            return summary
        }
    }

    private static func copy(
        _ file: String,
        into restore: ArchiveRestore
    ) throws(BackupError) -> BackupSummary {
        try BackupFile.read(file) { event throws(BackupError) in
            guard case .chunk(let chunk) = event else { return }
            try logged { () throws(LogError) in try restore.write(chunk) }
        }
    }
}
