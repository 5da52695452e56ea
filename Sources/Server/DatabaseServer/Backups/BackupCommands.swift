import BlobStore
import ClusterLog
import DatabaseCore
package import Files
import SecurityRules
import StateRecovery
import WriteAheadLog

/// The commands on backups that need no server: `hearth backup --data-dir`, `--verify`, `hearth restore`.
package enum BackupCommands {
    /// Reads a backup and everything in it, as a start of a server would; with `files`, a folder of contents of files, also
    /// those that it names.
    ///
    /// Memory: see `StateCheck`, and `BlobReferences` with `files`.
    package static func verify(_ file: String, files: String? = nil) -> CommandOutcome {
        outcome { () throws(BackupError) in
            let summary = try BackupContent.verify(file)
            guard let files else { return described(summary, nil) }
            let references = try BlobReferences(of: file)
            try FileBackup.verify(references, in: FileBackup.source(files))
            return described(summary, FileBackupSummary(references))
        }
    }

    /// Backs up a data folder that no server runs on; see `BackupFile.finish`. With `files`, a folder, also the contents of
    /// its files.
    package static func backUp(
        _ path: String,
        to file: String,
        isVerified: Bool,
        files: String? = nil
    ) -> CommandOutcome {
        outcome { () throws(BackupError) in
            let storage = FileLogStorage(path: path)
            let folder = try logged { () throws(LogError) in try open(storage) }
            // So that no server removes what is to be copied.
            defer { folder.close() }
            let snapshots = try logged { () throws(LogError) in try state(of: folder) }
            let pieces = try logged { () throws(LogError) in
                try ArchivePieces(
                    snapshots.all,
                    at: snapshots.position,
                    time: Clock.now(),
                    id: UInt64.random(in: 0...UInt64.max)
                )
            }
            var copied: FileBackupSummary?
            let summary = try write(pieces, to: file, isVerified) { _ throws(BackupError) in
                guard let files else { return }
                let backup = try FileBackup(files)
                defer { backup.close() }
                let references = BlobReferences(snapshots.all)
                copied = try backup.take(references, from: BlobFolder(storage).blobs)
            }
            return described(summary, copied)
        }
    }

    /// Makes a data folder of a backup, which is verified before, and with `files` the contents that it names.
    package static func restore(
        _ file: String,
        to folder: String,
        files: String? = nil
    ) -> CommandOutcome {
        outcome { () throws(BackupError) in
            let (summary, copied) = try restoreVerified(file, to: folder, files)
            return "restored \(folder) from \(described(summary, copied))"
        }
    }

    /// What a backup holds, and what was done with the contents of its files.
    package static func described(
        _ summary: BackupSummary,
        _ files: FileBackupSummary?
    ) -> String {
        if let files { return "\(summary)\n\(files)" }
        guard summary.hasFiles else { return "\(summary)" }
        return "\(summary)\n  the contents of files are not in it: --files FOLDER takes them along"
    }

    /// The header in which the owner of a group says where a backup stands in the group's log.
    package static let markHeader = "hearth-mark"

    /// Makes a data folder of a backup with which a node of a group begins; `mark` is what `markHeader` says, nil for a server that said nothing.
    package static func join(_ file: String, mark: String?, to folder: String) -> CommandOutcome {
        outcome { () throws(BackupError) in
            guard let mark else {
                throw .refused(
                    "the server owns no group, or does not know yet where it stands; ask again"
                )
            }
            guard let mark = LogMark(text: mark) else {
                throw .refused("the server's mark is of a newer version: update this hearth")
            }
            let (summary, _) = try restoreVerified(file, to: folder, nil, mark)
            let first = "\(folder) begins a new node: start it with --cluster-node within an hour"
            return "\(first)\n\(summary)"
        }
    }

    private static func outcome(_ work: () throws(BackupError) -> String) -> CommandOutcome {
        do throws(BackupError) { return .done(try work()) } catch {
            return .failed("error: \(error)")
        }
    }

    // MARK: - Backing up

    /// Takes a folder's lock.
    static func open(_ storage: FileLogStorage) throws(LogError) -> DataFolder {
        guard try DataFolder.isThere(storage) else { throw .notADataFolder(path: storage.path) }
        return try DataFolder.open(storage)
    }

    /// The state of a folder, read as a start would.
    static func state(
        of folder: DataFolder
    ) throws(LogError) -> (all: [DatabaseSnapshot], position: LogPosition) {
        let policy = EnginePolicy(databases: [], createsDatabases: false, defaultRules: .closed)
        let state = try folder.recoverState(policy)
        let position = state.report.position
        try state.writer.close()
        return (state.engine.snapshots(), position)
    }

    private static func write(
        _ pieces: ArchivePieces,
        to path: String,
        _ isVerified: Bool,
        andThen: (String) throws(BackupError) -> Void
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
        return try file.finish(isVerified: isVerified, andThen: andThen)
    }

    private static let pieceByteCount = 256 * 1024

    // MARK: - Restoring

    private static func restoreVerified(
        _ file: String,
        to path: String,
        _ files: String?,
        _ mark: LogMark? = nil
    ) throws(BackupError) -> (BackupSummary, FileBackupSummary?) {
        try FolderDraft.fill(path, "restoring") { storage throws(BackupError) in
            let summary = try BackupContent.verify(file)
            let restore = try logged { () throws(LogError) in
                try ArchiveRestore(to: storage, summary.info, options: storage.options())
            }
            guard try copy(file, into: restore) == summary else {
                throw .content(path: file, reason: "has changed while it was read")
            }
            let copied = try files.map { files throws(BackupError) in
                let folder = BlobFolder(storage)
                do throws(BlobError) { try folder.prepare() } catch { throw .blob(error) }
                return try FileBackup.copy(
                    BlobReferences(of: file),
                    from: FileBackup.source(files),
                    to: folder
                )
            }
            try logged { () throws(LogError) in
                try restore.finish(readBackBy: StateChecker().take)
                guard let mark else { return }
                let folder = try DataFolder.open(storage)
                defer { folder.close() }
                try MarkFile.write(mark, to: folder)
            }
            return (summary, copied)
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
