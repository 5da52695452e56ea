public import Foundation
import SyncCore

/// Why a call or an observer failed.
public enum DatabaseError: Error, Equatable, Sendable {
    /// A text is not a database path: the text, and why.
    case invalidPath(String, why: String)
    /// A text is not a database key: the text, and why.
    case invalidKey(String, why: String)
    /// A value cannot be stored: the path inside the value (empty for the whole value), and why.
    case invalidValue(at: String, why: String)
    /// A query is invalid, and why.
    case invalidQuery(why: String)
    /// A text is not a database address: the text, and why.
    case invalidURL(String, why: String)
    /// The security rules do not allow it; the path that was read or written.
    case permissionDenied(path: String)
    /// The server refused for another reason: its status and its words.
    case refused(code: String, message: String)
    /// The connection was lost before the server answered something that is not sent twice.
    case disconnected
    /// A write of this client went over the transaction.
    case overriddenBySet
    /// The transaction was run as often as may be, and other data was there each time.
    case maxRetries
    /// The write was given up before the server had it.
    case writeCancelled
    /// There is no connection and no cached value.
    case offline
    /// The reader of a stream of events is too slow.
    case readerTooSlow
    /// The app that the database belongs to was deleted.
    case closed
}

extension DatabaseError {
    /// The reason in one word, the number of the `NSError`, and the text for people.
    private var facts: (code: String, number: Int, text: String) {
        switch self {
        case .invalidPath(let text, let why): ("INVALID_PATH", 11, "\"\(text)\" is no path: \(why)")
        case .invalidKey(let text, let why): ("INVALID_KEY", 12, "\"\(text)\" is no key: \(why)")
        case .invalidValue(let location, let why):
            (
                "INVALID_VALUE", 13,
                "the value\(location.isEmpty ? "" : " at \(location)") cannot be stored: \(why)"
            )
        case .invalidQuery(let why): ("INVALID_QUERY", 14, "the query makes no sense: \(why)")
        case .invalidURL(let text, let why):
            ("INVALID_URL", 15, "\"\(text)\" is no address of a database: \(why)")
        case .permissionDenied(let path): ("PERMISSION_DENIED", 1, "Permission denied at \(path)")
        case .refused(let code, let message):
            (code.uppercased(), code == "unavailable" ? 2 : 9999, message.isEmpty ? code : message)
        case .disconnected: ("DISCONNECT", 21, "the connection was lost before the server answered")
        case .overriddenBySet:
            ("SET", 22, "the transaction was overridden by another write of this client")
        case .maxRetries:
            ("MAXRETRY", 23, "the transaction found other data each time it was tried")
        case .writeCancelled: ("WRITE_CANCELED", 3, "the write was cancelled")
        case .offline: ("OFFLINE", 24, "there is no connection, and nothing is cached")
        case .readerTooSlow: ("READER_TOO_SLOW", 25, "the reader of the events is too far behind")
        case .closed: ("CLOSED", 26, "the app of this database was deleted")
        }
    }

    /// The reason in one word, as Firebase's SDKs give it: `PERMISSION_DENIED`, `MAXRETRY`.
    public var code: String { facts.code }

    init(_ failure: SyncFailure, path: String) {
        switch failure {
        case .refused("permission_denied", _): self = .permissionDenied(path: path)
        case .refused(let status, let message): self = .refused(code: status, message: message)
        case .disconnected: self = .disconnected
        case .tooManyRetries: self = .maxRetries
        case .overriddenBySet: self = .overriddenBySet
        case .writeCancelled: self = .writeCancelled
        case .offline: self = .offline
        }
    }
}

extension DatabaseError: LocalizedError {
    /// The error text for people.
    public var errorDescription: String? { facts.text }
}

extension DatabaseError: CustomNSError {
    /// The domain that apps for Firebase compare with.
    public static var errorDomain: String { "com.firebase" }

    /// 1: permission denied, 2: unavailable, 3: write cancelled, as on iOS; others have their own.
    public var errorCode: Int { facts.number }

    /// The description under the key at which `NSError` looks for it.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: errorDescription ?? code]
    }
}
