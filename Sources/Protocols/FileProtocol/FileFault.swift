import JSONTree

/// Why a request is refused, before a dialect gives it its form.
package struct FileFault: Error, Equatable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// A sentence for people.
    package let message: String
    /// What libraries of servers and signed addresses call it; nil for the usual word of the status.
    package var code: String?
    /// Whether clients get the message as plain text, as the official emulator has it for these.
    package var isPlain = false
    /// Seconds after which to ask again.
    package var retryAfter: Int?

    package init(_ status: Int, _ message: String, code: String? = nil) {
        self.status = status
        self.message = message
        self.code = code
    }

    /// What rules allow or deny.
    package enum Permission: String, Sendable { case read = "READ", write = "WRITE", list = "LIST" }

    /// Rules deny it.
    package static func denied(_ permission: Permission) -> FileFault {
        FileFault(403, "Permission denied. No \(permission.rawValue) permission.")
    }

    /// There are no rules for the bucket.
    package static let noRules = FileFault(403, "Permission denied. Storage has no loaded ruleset.")

    /// The caller must be an administrator.
    package static let notAdmin = FileFault(403, "Missing admin credentials.")

    /// The credential cannot be verified, or one is needed.
    package static let unauthenticated = FileFault(401, "Login Required.")

    /// There is no such object, bucket or session.
    package static let notFound = FileFault(404, "Not Found.")

    /// The quota of a user or bucket is used up.
    package static let overQuota = FileFault(402, "The quota for files is used up.")

    /// Bytes beyond what the server takes.
    package static func tooLarge(limit: Int64) -> FileFault {
        FileFault(413, "An object must have at most \(limit) bytes.")
    }

    /// A precondition does not hold.
    package static let conditionNotMet = FileFault(
        412,
        "At least one of the pre-conditions you specified did not hold."
    )

    /// The bytes are not those that the sender says they are.
    package static func hashMismatch(_ name: String) -> FileFault {
        FileFault(400, "The bytes do not have the \(name) that the request says.")
    }

    /// The server cannot do it now.
    package static func busy(retryAfter: Int) -> FileFault {
        var fault = FileFault(503, "The server cannot do this now; ask again later.")
        fault.retryAfter = retryAfter
        return fault
    }

    /// A call that is not there.
    package static let notImplemented = FileFault(501, "This operation is not implemented.")

    static func plain(_ message: String) -> FileFault {
        var fault = FileFault(400, message)
        fault.isPlain = true
        return fault
    }

    /// The word that libraries of servers read.
    var reason: String {
        if let code { return code }
        return switch status {
        case 400: "invalid"
        case 401: "required"
        case 402: "quotaExceeded"
        case 403: "forbidden"
        case 404: "notFound"
        case 409: "conflict"
        case 412: "conditionNotMet"
        case 413: "uploadTooLarge"
        case 416: "requestedRangeNotSatisfiable"
        case 429: "rateLimitExceeded"
        case 501: "notImplemented"
        case 503: "backendError"
        default: status < 500 ? "invalid" : "internalError"
        }
    }

    /// The word of signed addresses.
    var xmlCode: String {
        if let code { return code }
        return switch status {
        case 400: "InvalidArgument"
        case 401: "AuthenticationRequired"
        case 403: "AccessDenied"
        case 404: "NoSuchKey"
        case 411: "MissingContentLength"
        case 412: "PreconditionFailed"
        case 413: "EntityTooLarge"
        case 416: "InvalidRange"
        case 429: "SlowDown"
        case 501: "NotImplemented"
        case 503: "ServiceUnavailable"
        default: status < 500 ? "InvalidRequest" : "InternalError"
        }
    }
}

/// A refusal, and the dialect that it is answered in.
package struct FileRefusal: Error, Equatable, Sendable {
    package let dialect: FileDialect
    package let fault: FileFault

    package init(dialect: FileDialect, fault: FileFault) {
        self.dialect = dialect
        self.fault = fault
    }
}

/// Whose form an answer has.
package enum FileDialect: String, Sendable, CaseIterable {
    /// The SDKs of clients: `/v0`.
    case client
    /// The libraries of servers: the JSON API of Cloud Storage.
    case server
    /// Plain addresses `/BUCKET/OBJECT`, most of them signed.
    case plain
}
