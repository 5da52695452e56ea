/// A data folder held by this process: the door to everything in it.
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

    /// Takes hold of a data folder, making it when it is not there yet.
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
            let id = if let found { found } else { try create(storage) }
            return DataFolder(storage, id: id, options: options, lock: lock)
        } catch {
            lock.release()
            throw error
        }
    }

    /// The id that the FORMAT file holds; nil when there is no such file.
    ///
    /// Throws: `damage`, `unknownFormat`, `disk`.
    static func readFormat(_ storage: any LogStorage) throws(LogError) -> UInt64? {
        guard let file = try storage.open(FolderLayout.format) else { return nil }
        let window = try WindowReader(file, chunk: 256)
        defer { window.close() }
        let bytes = try window.bytes(at: 0, count: 256)
        return try FormatFile.id(in: Array(bytes))
    }

    /// Lays out a new folder; the FORMAT file comes last, so that with it everything is there.
    static func create(_ storage: any LogStorage) throws(LogError) -> UInt64 {
        let hasLog = try !FolderLayout.segments(in: storage).isEmpty
        let hasCheckpoints = try !FolderLayout.checkpoints(in: storage).isEmpty
        if hasLog || hasCheckpoints {
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
        return id
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
        return try CheckpointWriter(
            storage: storage,
            folderID: id,
            position: position,
            heads: heads,
        )
    }

    /// Lets other processes have the folder; the writer must be closed before.
    package func close() {
        lock.release()
    }
}
