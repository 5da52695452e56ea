public import Foundation
import SyncCore

/// Why a call or an observer failed.
public enum DatabaseError: Error, Equatable, Sendable {
    /// A text is no path of a database: the text, and what is wrong with it.
    case invalidPath(String, why: String)
    /// A text is no key of a database: the text, and what is wrong with it.
    case invalidKey(String, why: String)
    /// A value cannot be stored: where inside the value (empty for all of it), and what is wrong.
    case invalidValue(at: String, why: String)
    /// A query that makes no sense: what is wrong with it.
    case invalidQuery(why: String)
    /// A text is no address of a database: the text, and what is wrong with it.
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
    /// There is no connection, and nothing is cached.
    case offline
    /// Whoever reads a stream of events is too far behind.
    case readerTooSlow
    /// The app that the database belongs to was deleted.
    case closed
}

extension DatabaseError {
    /// The reason in one word, as Firebase's SDKs give it: `PERMISSION_DENIED`, `MAXRETRY`.
    public var code: String {
        switch self {
        case .invalidPath: "INVALID_PATH"
        case .invalidKey: "INVALID_KEY"
        case .invalidValue: "INVALID_VALUE"
        case .invalidQuery: "INVALID_QUERY"
        case .invalidURL: "INVALID_URL"
        case .permissionDenied: "PERMISSION_DENIED"
        case .refused(let code, _): code.uppercased()
        case .disconnected: "DISCONNECT"
        case .overriddenBySet: "SET"
        case .maxRetries: "MAXRETRY"
        case .writeCancelled: "WRITE_CANCELED"
        case .offline: "OFFLINE"
        case .readerTooSlow: "READER_TOO_SLOW"
        case .closed: "CLOSED"
        }
    }

    /// What became of a call or an observer at `path`.
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
    /// What went wrong, for people.
    public var errorDescription: String? {
        switch self {
        case .invalidPath(let text, let why): "\"\(text)\" is no path: \(why)"
        case .invalidKey(let text, let why): "\"\(text)\" is no key: \(why)"
        case .invalidValue("", let why): "the value cannot be stored: \(why)"
        case .invalidValue(let place, let why): "the value at \(place) cannot be stored: \(why)"
        case .invalidQuery(let why): "the query makes no sense: \(why)"
        case .invalidURL(let text, let why): "\"\(text)\" is no address of a database: \(why)"
        case .permissionDenied(let path): "Permission denied at \(path)"
        case .refused(let code, ""): code
        case .refused(_, let message): message
        case .disconnected: "the connection was lost before the server answered"
        case .overriddenBySet: "the transaction was overridden by another write of this client"
        case .maxRetries: "the transaction found other data each time it was tried"
        case .writeCancelled: "the write was cancelled"
        case .offline: "there is no connection, and nothing is cached"
        case .readerTooSlow: "the reader of the events is too far behind"
        case .closed: "the app of this database was deleted"
        }
    }
}

extension DatabaseError: CustomNSError {
    /// The domain that apps for Firebase compare with.
    public static var errorDomain: String { "com.firebase" }

    /// 1: permission denied, 2: unavailable, 3: write cancelled, as on iOS; others have their own.
    public var errorCode: Int {
        switch self {
        case .permissionDenied: 1
        case .refused("unavailable", _): 2
        case .writeCancelled: 3
        case .invalidPath: 11
        case .invalidKey: 12
        case .invalidValue: 13
        case .invalidQuery: 14
        case .invalidURL: 15
        case .disconnected: 21
        case .overriddenBySet: 22
        case .maxRetries: 23
        case .offline: 24
        case .readerTooSlow: 25
        case .closed: 26
        case .refused: 9999
        }
    }

    /// The description under the key at which `NSError` looks for it.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: errorDescription ?? code]
    }
}
