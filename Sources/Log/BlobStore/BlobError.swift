import Glibc
package import WriteAheadLog

/// Why an operation of the blob store failed.
package enum BlobError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The disk failed a call.
    case disk(DiskFailure)
    /// An earlier write or sync failed; memory and disk may disagree, so nothing more is written.
    case stopped(by: DiskFailure)
    /// There is no such file, or no such blob.
    case missing(path: String)
    /// Something else than a file has its name: a symbolic link, a folder, a device.
    case notAFile(path: String)
    /// A file has fewer bytes than were durable.
    case cutShort(path: String, byteCount: Int64, expected: Int64)
    /// The bytes of a blob have another hash.
    case damaged(path: String)
    /// A store on another machine failed; the clause for people.
    case remote(String)

    /// The sentence for people.
    package var description: String {
        switch self {
        case .disk(let failure): failure.description
        case .stopped(let cause):
            "the store of files takes no more writes since it failed: \(cause)"
        case .missing(let path): "\(path) is missing"
        case .notAFile(let path): "\(path) is not a regular file"
        case .cutShort(let path, let byteCount, let expected):
            "\(path) has \(byteCount) bytes where \(expected) belong"
        case .damaged(let path): "\(path) is damaged: its bytes are not those that were stored"
        case .remote(let text): text
        }
    }

    /// Whether the disk, or this user's share of it, is full: nothing is broken, and the upload may be tried again.
    package var isOutOfSpace: Bool {
        guard case .disk(let failure) = self else { return false }
        return failure.errorNumber == ENOSPC || failure.errorNumber == EDQUOT
    }
}

/// Runs calls that read.
func reading<Result>(_ calls: () throws(LogError) -> Result) throws(BlobError) -> Result {
    do throws(LogError) { return try calls() } catch { throw .disk(DiskFailure(of: error)) }
}

extension DiskFailure {
    /// What a storage says.
    init(of error: LogError) {
        guard case .disk(let failure) = error else {
            preconditionFailure("the calls of a storage fail by the disk alone: \(error)")
        }
        self = failure
    }
}
