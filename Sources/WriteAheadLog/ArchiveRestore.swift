/// Writes an archive's checkpoint into a new data folder.
///
/// Used by one thread. The folder is whole after `finish`; who gives it its name only then has no
/// half of one after a crash.
package final class ArchiveRestore {
    private let storage: any LogStorage
    private let folderID: UInt64
    private let lock: any LogLock
    private let heads: [LogHead]
    private let writer: CheckpointWriter
    private let position: LogPosition

    /// Lays the folder out, which is made unless it is there and empty. Throws: `inUse`; `disk`.
    package init(to storage: any LogStorage, _ info: CheckpointInfo) throws(LogError) {
        try storage.createFolder("")
        let lock = try storage.lock(.own)
        do throws(LogError) {
            folderID = try DataFolder.create(storage)
            writer = try CheckpointWriter(
                storage: storage,
                folderID: folderID,
                position: info.position,
                heads: info.heads,
            )
        } catch {
            lock.release()
            throw error
        }
        self.storage = storage
        self.lock = lock
        heads = info.heads
        position = info.position
    }

    /// Removes from a folder what a restore that was cut short left there, under the folder's lock.
    ///
    /// Files that no restore writes stay. The folder must be one that only this user can write to: links in
    /// it are followed. Throws: `inUse`; `disk`.
    package static func removeLeftovers(_ storage: any LogStorage) throws(LogError) {
        let lock = try storage.lock(.own)
        defer { lock.release() }
        try clear(storage)
    }

    /// Removes what restores write, but for the folder itself.
    private static func clear(_ storage: any LogStorage) throws(LogError) {
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

    /// Makes the checkpoint durable, has `content` read it back, and begins the log after it.
    package func finish(readBackBy content: RecoveryReader) throws(LogError) {
        _ = try writer.commit(appendedThrough: position, readBackBy: content)
        var options = LogOptions()
        options.reserveByteCount = 0
        let log = try LogWriter(
            storage: storage,
            folderID: folderID,
            options: options,
            position: position,
            heads: HeadTable(heads),
        )
        try log.beginFirstSegment()
        try log.close()
        lock.release()
    }

    /// Gives up and removes what was written, but for the empty folder.
    package func abandon() throws(LogError) {
        try writer.abandon()
        try ArchiveRestore.clear(storage)
        lock.release()
    }
}

extension DataFolder {
    /// Whether there is a data folder at `storage`, damaged or not. Changes nothing.
    package static func isThere(_ storage: any LogStorage) throws(LogError) -> Bool {
        do throws(LogError) {
            _ = try FolderIdentity.find(storage)
            return true
        } catch .notADataFolder {
            return false
        } catch .damage {
            return true
        }
    }
}
