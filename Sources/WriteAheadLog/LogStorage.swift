/// The small disk seam of the log: everything it asks of the world.
///
/// Paths are relative to the data folder, with `/` between pieces; the empty path is the data
/// folder itself. Implementations: `FileLogStorage` (POSIX) and `SimulatedLogStorage` (memory, with
/// power cuts). Calls may come from the log thread and the checkpoint thread at the same time.
///
/// What the log relies on, and nothing more: bytes that `LogFile.sync` covered survive a power cut,
/// also when later writes to the same sector are torn; a create, rename or remove survives once
/// `syncFolder` of the folder that holds the name returned.
package protocol LogStorage: Sendable {
    /// The data folder as people know it, for messages.
    var path: String { get }

    /// Creates a folder unless it is there.
    func createFolder(_ path: String) throws(LogError)

    /// Creates an empty file to write; a file of that name is replaced.
    func create(_ path: String) throws(LogError) -> any LogFile

    /// Opens an existing file to read, sync and cut; nil when there is none.
    func open(_ path: String) throws(LogError) -> (any LogFile)?

    /// The names in a folder, sorted; empty when the folder does not exist.
    func list(_ path: String) throws(LogError) -> [String]

    /// Whether a folder of that name exists.
    func hasFolder(_ path: String) throws(LogError) -> Bool

    /// Moves a file or folder to a new name, replacing a file there. An open file goes on under its
    /// new name once `LogFile.isRenamed` has said so.
    func rename(_ path: String, to newPath: String) throws(LogError)

    /// Removes a file, or a folder that is empty; nothing happens when it does not exist.
    func remove(_ path: String) throws(LogError)

    /// Makes the names in a folder durable.
    func syncFolder(_ path: String) throws(LogError)

    /// Bytes that this process may still write to the disk.
    func freeByteCount() throws(LogError) -> UInt64

    /// Takes the exclusive hold of the data folder that `LogLock` describes.
    ///
    /// Throws: `inUse` when somebody else has it.
    func lock(_ mode: LogLockMode) throws(LogError) -> any LogLock

    /// 64 bits nobody can guess.
    func randomNumber() -> UInt64
}

/// One open file. Used by one thread at a time; closed by `close` or when released.
package protocol LogFile: AnyObject {
    /// Bytes in the file, preallocated ones included.
    func byteCount() throws(LogError) -> UInt64

    /// Reads into the whole buffer; returns fewer bytes only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int

    /// Writes all bytes at an offset. After a failure any part of them may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError)

    /// Makes everything written so far, and the file's length, durable.
    func sync() throws(LogError)

    /// Makes the file at least that long with zeros whose room on the disk is really taken.
    func preallocate(_ byteCount: UInt64) throws(LogError)

    /// Cuts the file to a length.
    func truncate(to byteCount: UInt64) throws(LogError)

    /// Takes a new path relative to the data folder, so that failures name the file as it is called.
    func isRenamed(to path: String)

    /// Gives the file back to the system; any later call is a bug.
    func close()
}

/// How a data folder is held.
package enum LogLockMode: Sendable {
    /// To write: the lock file is created when missing and receives this process's id.
    case own
    /// To read a folder that must not change meanwhile: nothing is written, and where there is no
    /// lock file there is nothing to hold.
    case read
}

/// The exclusive hold of a data folder; ends with `release` or with the process.
package protocol LogLock: AnyObject, Sendable {
    /// Ends the hold. A second call does nothing.
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
