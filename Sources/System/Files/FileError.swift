import Glibc

/// Why a file could not be read or made.
package enum FileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A system call failed with this error number.
    case system(call: String, path: String, code: Int32)
    case notAFile(path: String)
    case isFolder(path: String)
    case tooLarge(path: String, byteLimit: Int)
    /// Group or others have a permission on the file or folder; `mode` is the one it should have.
    case readableByOthers(path: String, what: String, mode: String)

    package var description: String {
        switch self {
        case .system(let call, let path, let code):
            "\(path): \(String(cString: strerror(code))) (\(call))"
        case .notAFile(let path): "\(path): is not a regular file"
        case .isFolder(let path): "\(path): is a folder"
        case .tooLarge(let path, let byteLimit): "\(path): has more than \(byteLimit) bytes"
        case .readableByOthers(let path, let what, let mode):
            "\(path): others may read \(what); run: chmod \(mode) \(path)"
        }
    }

    /// The error number of the system call that failed; nil for another reason.
    package var errorNumber: Int32? {
        if case .system(_, _, let code) = self { code } else { nil }
    }

    /// Whether the reader of the output is gone.
    package var isClosedPipe: Bool { errorNumber == EPIPE }
}
