/// Errors of the disk cache.
package enum DiskCacheError: Error, Equatable, Sendable {
    /// An operation failed: the operation, and the system's message.
    case failed(String, String)
    /// Another client, in this process or another, has the file.
    case inUse(path: String)
    /// The file was written by a later version.
    case newer(path: String, version: Int64)
    /// The file is a SQLite file of something else.
    case foreign(path: String)
    /// A warning: the file was damaged and is now under another name; the cache is empty.
    case damaged(path: String, movedTo: String)
    /// A warning: entries that could not be read were left out.
    case unreadable(count: Int)

    /// Each kind is reported once.
    var kind: String {
        switch self {
        case .failed(let action, _): action
        case .inUse: "in use"
        case .newer: "newer"
        case .foreign: "foreign"
        case .damaged: "damaged"
        case .unreadable: "unreadable"
        }
    }
}

extension DiskCacheError: CustomStringConvertible {
    /// The text of a log line after "the disk cache: ".
    package var description: String {
        switch self {
        case .failed(let action, let text): "\(action): \(text)"
        case .inUse(let path): "\(path) is in use by another client"
        case .newer(let path, let version):
            "\(path) is of a later version of Hearth (schema \(version))"
        case .foreign(let path): "\(path) is a file of something else"
        case .damaged(let path, let other):
            "\(path) was damaged; it is now \(other), and an empty one begins"
        case .unreadable(let count): "\(count) entries could not be read"
        }
    }
}
