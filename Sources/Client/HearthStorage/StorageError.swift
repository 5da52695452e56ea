public import Foundation

/// The domain of errors of files.
public let StorageErrorDomain = "FIRStorageErrorDomain"

/// The numbers of errors of files, as `NSError` has them.
public enum StorageErrorCode: Int, Error, Sendable, CaseIterable {
    /// Another error than those below.
    case unknown = -13000
    /// There is no object of this name.
    case objectNotFound = -13010
    /// There is no bucket of this name.
    case bucketNotFound = -13011
    /// There is no such project.
    case projectNotFound = -13012
    /// A quota for files is used up.
    case quotaExceeded = -13013
    /// The server does not know the user, and must.
    case unauthenticated = -13020
    /// The rules of files do not allow it.
    case unauthorized = -13021
    /// The server was not reached in the time for it.
    case retryLimitExceeded = -13030
    /// Bytes came that are not those that were sent.
    case nonMatchingChecksum = -13031
    /// The object is larger than the app takes.
    case downloadSizeExceeded = -13032
    /// The app has cancelled it.
    case cancelled = -13040
    /// An argument cannot be.
    case invalidArgument = -13050
    /// A reference belongs to another bucket.
    case bucketMismatch = -13051
    /// The client has failed.
    case internalError = -13052
    /// A text is no location of a file.
    case pathError = -13053
}

/// Why something about files was not done.
///
/// `serverError` has what the server said: `ResponseErrorCode` (its status), `ResponseBody` (its words), `bucket` and
/// `object`.
public enum StorageError: Error, Sendable {
    /// Another error than those below.
    case unknown(message: String, serverError: [String: any Sendable])
    /// There is no object of this name.
    case objectNotFound(object: String, serverError: [String: any Sendable])
    /// There is no bucket of this name.
    case bucketNotFound(bucket: String)
    /// There is no such project.
    case projectNotFound(project: String)
    /// A quota for files is used up.
    case quotaExceeded(bucket: String, serverError: [String: any Sendable])
    /// The server does not know the user, and must.
    case unauthenticated(serverError: [String: any Sendable])
    /// The rules of files do not allow it.
    case unauthorized(bucket: String, object: String, serverError: [String: any Sendable])
    /// The server was not reached in the time for it.
    case retryLimitExceeded
    /// Bytes came that are not those that were sent.
    case nonMatchingChecksum
    /// The object is larger than the app takes; both in bytes.
    case downloadSizeExceeded(total: Int64, maxSize: Int64)
    /// The app has cancelled it.
    case cancelled
    /// An argument cannot be.
    case invalidArgument(message: String)
    /// The client has failed.
    case internalError(message: String)
    /// A reference belongs to another bucket.
    case bucketMismatch(message: String)
    /// A text is no location of a file.
    case pathError(message: String)
}

extension StorageError {
    /// The error of a server's refusal.
    init(_ answer: StorageAnswer, at path: StoragePath) {
        var facts: [String: any Sendable] = [
            "ResponseErrorCode": answer.status, "bucket": path.bucket, "object": path.object,
        ]
        let message = answer.message
        if let message { facts["ResponseBody"] = message }
        switch answer.status {
        case 401: self = .unauthenticated(serverError: facts)
        case 402: self = .quotaExceeded(bucket: path.bucket, serverError: facts)
        case 403:
            self = .unauthorized(bucket: path.bucket, object: path.object, serverError: facts)
        case 404: self = .objectNotFound(object: path.object, serverError: facts)
        case _:
            let words = message.map { ": \($0)" } ?? ""
            self = .unknown(
                message: "The server answered with status \(answer.status)\(words)",
                serverError: facts
            )
        }
    }

    /// The number of the error.
    public var code: StorageErrorCode {
        switch self {
        case .unknown: .unknown
        case .objectNotFound: .objectNotFound
        case .bucketNotFound: .bucketNotFound
        case .projectNotFound: .projectNotFound
        case .quotaExceeded: .quotaExceeded
        case .unauthenticated: .unauthenticated
        case .unauthorized: .unauthorized
        case .retryLimitExceeded: .retryLimitExceeded
        case .nonMatchingChecksum: .nonMatchingChecksum
        case .downloadSizeExceeded: .downloadSizeExceeded
        case .cancelled: .cancelled
        case .invalidArgument: .invalidArgument
        case .internalError: .internalError
        case .bucketMismatch: .bucketMismatch
        case .pathError: .pathError
        }
    }

    private var serverError: [String: any Sendable] {
        switch self {
        case .unknown(_, let facts), .objectNotFound(_, let facts), .quotaExceeded(_, let facts),
            .unauthenticated(let facts), .unauthorized(_, _, let facts):
            facts
        case .downloadSizeExceeded(let total, let maxSize):
            ["totalSize": total, "maxAllowedSize": maxSize]
        case .bucketNotFound, .projectNotFound, .retryLimitExceeded, .nonMatchingChecksum,
            .cancelled, .invalidArgument, .internalError, .bucketMismatch, .pathError:
            [:]
        }
    }
}

extension StorageError: LocalizedError {
    /// The error text for people.
    public var errorDescription: String? {
        switch self {
        case .unknown(let message, _), .invalidArgument(let message), .internalError(let message),
            .bucketMismatch(let message), .pathError(let message):
            message
        case .objectNotFound(let object, _): "There is no object \(object)."
        case .bucketNotFound(let bucket): "There is no bucket \(bucket)."
        case .projectNotFound(let project): "There is no project \(project)."
        case .quotaExceeded(let bucket, _): "The quota of the bucket \(bucket) is used up."
        case .unauthenticated: "The server does not take the user's credential: sign in again."
        case .unauthorized(let bucket, let object, _):
            "The rules do not allow the user to do this at gs://\(bucket)/\(object)."
        case .retryLimitExceeded: "The server was not reached in the time that this may take."
        case .nonMatchingChecksum: "The bytes that came are not those that were sent."
        case .downloadSizeExceeded(let total, let maxSize):
            "The object has \(total) bytes, more than the \(maxSize) that are taken: raise maxSize, or write "
                + "it to a file."
        case .cancelled: "It was cancelled."
        }
    }
}

extension StorageError: CustomNSError {
    /// The domain that apps for Firebase compare with.
    public static var errorDomain: String { StorageErrorDomain }

    /// The number of the error, a `StorageErrorCode`.
    public var errorCode: Int { code.rawValue }

    /// What the server said, and the description under the key at which `NSError` looks for it.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = serverError
        info[NSLocalizedDescriptionKey] = errorDescription ?? "\(code)"
        return info
    }
}
