/// A data folder locked by this process: the way to everything in it.
///
/// Open, then `recover` once, which gives the writer; checkpoints may be begun from another thread
/// from then on. Being the only process that holds the folder is a property of this value.
package final class DataFolder: Sendable {
    /// The disk the folder lies on.
    package let storage: any LogStorage
    /// The random number made with the folder.
    package let id: UInt64
    /// How the folder is used.
    package let options: LogOptions
    private let lock: any LogLock

    private init(_ storage: any LogStorage, id: UInt64, options: LogOptions, lock: any LogLock) {
        self.storage = storage
        self.id = id
        self.options = options
        self.lock = lock
    }

    /// Locks a data folder, and makes it when it is missing.
    ///
    /// Throws: `inUse`, naming the pid, when another process has it; `unknownFormat`; `damage` when
    /// FORMAT is broken, or missing beside a log; `disk`.
    package static func open(
        _ storage: any LogStorage,
        options: LogOptions = LogOptions()
    ) throws(LogError) -> DataFolder {
        try storage.createFolder("")
        let lock = try storage.lock(.own)
        do throws(LogError) {
            let found = try readFormat(storage)
            // The start that made it may have ended before its name was durable.
            if found != nil { try storage.syncFolder("") }
            let id = if let found { found } else { try create(storage).id }
            return DataFolder(storage, id: id, options: options, lock: lock)
        } catch {
            lock.release()
            throw error
        }
    }

    var files: LogFolder {
        LogFolder(storage: storage, id: id, readByteCount: options.readByteCount)
    }

    /// The id that the FORMAT file holds; nil without the file.
    ///
    /// Throws: `damage`, `unknownFormat`, `disk`.
    static func readFormat(_ storage: any LogStorage) throws(LogError) -> UInt64? {
        guard let file = try storage.open(FolderLayout.format) else { return nil }
        let window = try WindowReader(file, chunk: 256)
        defer { window.close() }
        let bytes = try window.bytes(at: 0, count: 256)
        return try FormatFile.id(in: Array(bytes))
    }

    /// Creates a new folder; the FORMAT file is last, so that with it the folder is complete.
    static func create(_ storage: any LogStorage) throws(LogError) -> LogFolder {
        if try FolderLayout.hasContent(in: storage) {
            throw .damage(LogDamage(file: FolderLayout.format, offset: 0, fault: .missing))
        }
        try storage.createFolder(FolderLayout.log)
        try storage.createFolder(FolderLayout.checkpoints)
        try storage.syncFolder("")
        let id = storage.randomNumber()
        let file = try storage.create(FolderLayout.formatDraft)
        try file.write(FormatFile.text(id: id), at: 0)
        try file.sync()
        file.close()
        try storage.rename(FolderLayout.formatDraft, to: FolderLayout.format)
        try storage.syncFolder("")
        return LogFolder(storage: storage, id: id)
    }

    /// Begins a checkpoint that covers the records up to a position.
    ///
    /// `heads` are the last commits of all databases there. One checkpoint at a time. Throws:
    /// `checkpointNotNewer`; `tooManyDatabases`; `disk`, which leaves the log unharmed.
    package func beginCheckpoint(
        at position: LogPosition,
        heads: [LogHead]
    ) throws(LogError) -> CheckpointWriter {
        let newest = try FolderLayout.checkpoints(in: storage).last ?? .start
        guard position > newest else {
            throw .checkpointNotNewer(position: position, newest: newest)
        }
        guard heads.count <= LogLimits.databaseCount else {
            throw .tooManyDatabases(count: heads.count)
        }
        return try CheckpointWriter(files, position, heads: heads)
    }

    /// Lets other processes have the folder; the writer must be closed before.
    package func close() {
        lock.release()
    }
}
