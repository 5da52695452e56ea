import Glibc

/// Why a file could not be read or made.
package enum FileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A system call failed with this error number.
    case system(call: String, path: String, code: Int32)
    case notAFile(path: String)
    case isFolder(path: String)
    case tooLarge(path: String, byteLimit: Int)

    package var description: String {
        switch self {
        case .system(let call, let path, let code):
            "\(path): \(String(cString: strerror(code))) (\(call))"
        case .notAFile(let path): "\(path): is not a regular file"
        case .isFolder(let path): "\(path): is a folder"
        case .tooLarge(let path, let byteLimit): "\(path): has more than \(byteLimit) bytes"
        }
    }
    /// Whether nobody reads any more what is written.
    package var isClosedPipe: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return code == EPIPE
    }
}
