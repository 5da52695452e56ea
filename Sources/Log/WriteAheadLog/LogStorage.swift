/// The log's interface to the disk.
///
/// Paths are relative to the data folder, with `/` between pieces; the empty path is the data
/// folder itself. Implementations: `FileLogStorage` (POSIX) and `SimulatedLogStorage` of the tests
/// (memory, with power cuts). Calls may come from the log thread and the checkpoint thread at the same time.
///
/// What the log relies on, and nothing more: bytes that `LogFile.sync` covered survive a power cut,
/// also when later writes to the same sector are torn; a create, rename or remove survives once
/// `syncFolder` of the folder that holds the name returned.
package protocol LogStorage: Sendable {
    /// The data folder as people know it, for messages.
    var path: String { get }

    /// Creates a folder if it is missing.
    func createFolder(_ path: String) throws(LogError)

    /// Creates an empty file to write; a file of that name is replaced.
    func create(_ path: String) throws(LogError) -> any LogFile

    /// Opens an existing file to read, sync and cut; nil when it is missing.
    func open(_ path: String) throws(LogError) -> (any LogFile)?

    /// The names in a folder, sorted; empty when the folder does not exist.
    func list(_ path: String) throws(LogError) -> [String]

    /// Whether a folder of that name exists.
    func hasFolder(_ path: String) throws(LogError) -> Bool

    /// Moves a file or folder to a new name, replacing a file there. An open file uses its new name
    /// after `LogFile.isRenamed`.
    func rename(_ path: String, to newPath: String) throws(LogError)

    /// Removes a file, or a folder that is empty; nothing happens when it does not exist.
    func remove(_ path: String) throws(LogError)

    /// Makes the names in a folder durable.
    func syncFolder(_ path: String) throws(LogError)

    /// Bytes that this process may still write to the disk.
    func freeByteCount() throws(LogError) -> UInt64

    /// Locks the data folder.
    ///
    /// Throws: `inUse` when another process holds it.
    func lock(_ mode: LogLockMode) throws(LogError) -> any LogLock

    /// 64 unpredictable bits.
    func randomNumber() -> UInt64
}

/// One open file. Used by one thread at a time; closed by `close` or when released.
package protocol LogFile: AnyObject {
    /// Bytes in the file, preallocated ones included.
    func byteCount() throws(LogError) -> UInt64

    /// Reads into the whole buffer; returns fewer bytes only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int

    /// Reads from `offset` on what can be had without waiting for the disk: fewer bytes than there is room for, none at the
    /// end of the file; nil when the disk is needed for the first of them, or fails. Any thread, also several at once.
    func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int?

    /// Writes all bytes at an offset. After a failure any part of them may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError)

    /// Has the system begin to write these bytes to the disk, so that a sync finds less to do; waits for nothing.
    func beginWriting(_ range: Range<UInt64>)

    /// Makes everything written so far, and the file's length, durable.
    func sync() throws(LogError)

    /// Lets the next reads see what the disk holds, where the system's memory of the file may differ.
    ///
    /// After a sync that failed it may: Linux keeps such bytes in memory, calls them clean, and never writes them again.
    /// To be called when everything is synced.
    func forgetCached() throws(LogError)

    /// Makes the file at least that long with zeros whose room on the disk is really taken.
    func preallocate(_ byteCount: UInt64) throws(LogError)

    /// Cuts the file to a length.
    func truncate(to byteCount: UInt64) throws(LogError)

    /// Takes a new path relative to the data folder, so that failures show the file's current name.
    func isRenamed(to path: String)

    /// Gives the file back to the system; any later call is a bug.
    func close()
}

/// How a data folder is locked.
package enum LogLockMode: Sendable {
    /// To write: the lock file is created when missing and receives this process's id.
    case own
    /// For reading a folder that must not change: writes nothing, and locks nothing without a lock file.
    case read
}

/// The lock of a data folder; ends with `release` or with the process.
package protocol LogLock: AnyObject, Sendable {
    /// Unlocks the folder. A second call does nothing.
    func release()
}

extension LogFile {
    /// Writes bytes that an array owns.
    func write(_ bytes: [UInt8], at offset: UInt64) throws(LogError) {
        let buffer = ByteBuffer(capacity: max(16, bytes.count))
        buffer.append(bytes)
        try buffer.withBytes { bytes throws(LogError) in try write(bytes, at: offset) }
    }
}
