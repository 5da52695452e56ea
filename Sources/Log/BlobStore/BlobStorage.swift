package import JSONTree
package import WriteAheadLog

/// The blob store's interface to the disk: that of the log, and what files need that are never written again.
///
/// Implementations: `FileLogStorage` (POSIX) and `SimulatedLogStorage` of the tests. Calls may come from many threads at
/// the same time. Symbolic links are followed above the data folder only.
package protocol BlobStorage: LogStorage {
    /// Creates an empty file, mode 0600, of a name that is free.
    func createNew(_ path: String) throws(LogError) -> any LogFile

    /// Opens an existing file for reading only; nil when it is missing.
    func openToRead(_ path: String) throws(LogError) -> (any LogFile)?

    /// Gives a file a second name; false, and nothing happens, when something has that name.
    func link(_ path: String, to newPath: String) throws(LogError) -> Bool

    /// Takes the right to write a file from everyone (mode 0400), and makes that and its content durable.
    func protect(_ path: String) throws(LogError)

    /// What has a name; nil when nothing has.
    func status(_ path: String) throws(LogError) -> FileStatus?

    /// Bytes of the whole disk, used ones included.
    func diskByteCount() throws(LogError) -> UInt64
}

/// What has a name on the disk.
package struct FileStatus: Sendable, Equatable {
    package enum Kind: Sendable {
        case file, folder
        /// A symbolic link, device, pipe or socket.
        case other
    }

    package let kind: Kind
    package let byteCount: Int64
    /// When its content was changed last.
    package let modified: Timestamp
    /// Whether its owner may not write it.
    package let isProtected: Bool

    package init(kind: Kind, byteCount: Int64, modified: Timestamp, isProtected: Bool) {
        self.kind = kind
        self.byteCount = byteCount
        self.modified = modified
        self.isProtected = isProtected
    }
}
