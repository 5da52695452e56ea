/// Writes an archive's checkpoint into a new data folder.
///
/// Used by one thread. The folder is whole after `finish`: a caller that renames it only then has no half of one
/// after a crash.
package final class ArchiveRestore {
    private let folder: LogFolder
    private let lock: any LogLock
    private let heads: [LogHead]
    private let writer: CheckpointWriter
    private let position: LogPosition
    private var options: LogOptions

    /// Creates the folder, or uses an empty one. Throws: `inUse`; `disk`.
    package init(
        to storage: any LogStorage,
        _ info: CheckpointInfo,
        options: LogOptions = LogOptions()
    ) throws(LogError) {
        self.options = options
        self.options.reserveByteCount = 0
        try storage.createFolder("")
        let lock = try storage.lock(.own)
        do throws(LogError) {
            folder = try DataFolder.create(storage)
            writer = try CheckpointWriter(folder, info.position, heads: info.heads)
        } catch {
            lock.release()
            throw error
        }
        self.lock = lock
        heads = info.heads
        position = info.position
    }

    /// Removes from a folder the files of a restore or salvage that was not finished, under the folder's lock.
    ///
    /// Files that neither writes stay. The folder must be one that only this user can write to: links in
    /// it are followed. Throws: `inUse`; `disk`.
    package static func removeLeftovers(_ storage: any LogStorage) throws(LogError) {
        let lock = try storage.lock(.own)
        defer { lock.release() }
        try storage.remove(FolderLayout.format)
        try storage.remove(FolderLayout.formatDraft)
        for name in try storage.list(FolderLayout.checkpoints) {
            try CheckpointFolders.remove("\(FolderLayout.checkpoints)/\(name)", in: storage)
        }
        for name in try storage.list(FolderLayout.log) {
            try storage.remove("\(FolderLayout.log)/\(name)")
        }
        for name in [FolderLayout.log, FolderLayout.checkpoints, FolderLayout.lock] {
            try storage.remove(name)
        }
    }

    /// Appends a chunk of the archive.
    package func write(_ chunk: [UInt8]) throws(LogError) {
        try chunk.withUnsafeBufferPointer { bytes throws(LogError) in try writer.write(bytes) }
    }

    /// Makes the checkpoint durable, lets `content` read it back, and begins the log after it.
    package func finish(readBackBy content: RecoveryReader) throws(LogError) {
        _ = try writer.commit(appendedThrough: position, readBackBy: content)
        let log = try LogWriter(folder, options, position: position, heads: HeadTable(heads))
        try log.beginFirstSegment()
        try log.close()
        lock.release()
    }
}

extension DataFolder {
    /// Whether `storage` is a data folder, damaged or not. Changes nothing.
    package static func isThere(_ storage: any LogStorage) throws(LogError) -> Bool {
        do throws(LogError) {
            _ = try LogFolder.find(storage)
            return true
        } catch .notADataFolder {
            return false
        } catch .damage {
            return true
        }
    }
}
