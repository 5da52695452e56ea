import Files
package import HTTPClient

/// A request of S3's protocol, by its name there.
package enum StoreOperation: String, Sendable, CaseIterable {
    case putObject = "PutObject"
    case createMultipartUpload = "CreateMultipartUpload"
    case uploadPart = "UploadPart"
    case completeMultipartUpload = "CompleteMultipartUpload"
    case abortMultipartUpload = "AbortMultipartUpload"
    case getObject = "GetObject"
    case headObject = "HeadObject"
    case deleteObject = "DeleteObject"
    case listObjects = "ListObjectsV2"

    /// What a policy of the store must allow for it. Source: Amazon S3, "Required permissions for API operations".
    var permission: String {
        switch self {
        case .putObject, .createMultipartUpload, .uploadPart, .completeMultipartUpload:
            "s3:PutObject"
        case .abortMultipartUpload: "s3:AbortMultipartUpload"
        case .getObject, .headObject: "s3:GetObject"
        case .deleteObject: "s3:DeleteObject"
        case .listObjects: "s3:ListBucket"
        }
    }
}

/// Why a store did not do what it was asked for. Says so without secrets.
package struct ObjectStoreError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// The store answered with an error.
        case refused(StoreRefusal)
        /// There is no whole answer.
        case noAnswer(HTTPError)
        /// The answer is not what S3's protocol has there.
        case unexpected(String)
        /// The bytes to be stored cannot be read.
        case source(String)
        /// There are fewer bytes to be stored than announced.
        case sourceEnded
        /// The object is larger than any may be.
        case tooLarge(byteCount: Int64)
        /// The caller did not want the rest.
        case stopped
    }

    package let operation: StoreOperation
    package let reason: Reason
    /// `http://10.0.0.2:9000`.
    package let origin: String
    package let bucket: String
    /// Nil for a list.
    package let key: String?
    /// The region that was signed for.
    package let region: String
    /// How often the request was sent.
    package let tryCount: Int
    /// The upload in parts that could not be ended: its parts may use space until a rule of the bucket removes them.
    package internal(set) var leftUploadID: String?

    /// Whether there is no such object.
    package var isMissing: Bool {
        guard case .refused(let refusal) = reason else { return false }
        return refusal.isMissingObject
    }

    /// Whether there is no such upload in parts.
    var isOfMissingUpload: Bool {
        guard case .refused(let refusal) = reason else { return false }
        return refusal.status == 404 && refusal.code == "NoSuchUpload"
    }

    package var description: String {
        let object = key.map { "\(bucket)/\($0)" } ?? bucket
        let tries = tryCount > 1 ? " (tried \(tryCount) times)" : ""
        let left =
            leftUploadID.map {
                "; parts of upload \($0) may still use space: let a rule of the bucket remove unfinished uploads"
            } ?? ""
        return
            "\(operation.rawValue) of '\(object)' at \(origin): \(event)\(tries); \(advice)\(left)"
    }

    /// What happened.
    private var event: String {
        switch reason {
        case .refused(let refusal): refusal.description
        case .noAnswer(let error): Self.event(error)
        case .unexpected(let text): "the answer is not that of an S3 server: \(text)"
        case .source(let text): "the bytes to be stored cannot be read: \(text)"
        case .sourceEnded: "the bytes to be stored end early"
        case .tooLarge(let byteCount):
            "\(byteCount) bytes are more than the \(ObjectStoreLimits.objectByteCount) of an object"
        case .stopped: "the caller did not want the rest"
        }
    }

    private static func event(_ error: HTTPError) -> String {
        switch error.reason {
        case .unusable: "the request cannot be sent: \(error.detail)"
        case .notConnected: "the store cannot be reached: \(error.detail)"
        case .notTrusted: "the store's certificate is not trusted: \(error.detail)"
        case .noTLS: "the store speaks plain HTTP"
        case .silent: "the store does not answer: \(error.detail)"
        case .cut: "the connection was lost: \(error.detail)"
        }
    }

    /// What to do.
    private var advice: String {
        switch reason {
        case .refused(let refusal): refusal.advice(operation, region: region)
        case .noAnswer(let error):
            switch error.reason {
            case .unusable: "check the address of the store"
            case .notConnected: "check its address, and that it is running"
            case .notTrusted: "name the file of its certificate's authority"
            case .noTLS: "begin its address with http://, or set up TLS there"
            case .silent, .cut: "check the network and the store's log"
            }
        case .unexpected: "check the address of the store, and proxies before it"
        case .source, .sourceEnded: "check the disk that holds them"
        case .tooLarge: "store it in several objects"
        case .stopped: "ask for it again"
        }
    }
}

/// A store's answer that is an error.
package struct StoreRefusal: Equatable, Sendable, CustomStringConvertible {
    package let status: Int
    /// `NoSuchKey`; empty where the answer has none, as those to HEAD.
    package var code = ""
    package var message = ""
    /// The host or region that the store names instead.
    package var hint = ""

    /// Characters of a text of the store that are shown.
    private static let textLimit = 300

    /// Statuses after which the same request may succeed. Source: Amazon S3, "Best practices for handling errors".
    private static let passingStatuses: Set<Int> = [429, 500, 502, 503, 504]

    /// Reads an answer; one that has no error of S3's protocol, as a proxy's, has a status only.
    init(status: Int, body: [UInt8]) {
        var found: XMLElement?
        do throws(XMLFault) { found = try XMLReader.read(body) } catch { found = nil }
        self.init(status: status, found)
    }

    /// Reads an error that came with a status.
    init(status: Int, _ error: XMLElement?) {
        self.status = status
        guard let error, error.name == "Error" else { return }
        code = Self.shown(error.text(of: "Code"))
        message = Self.shown(error.text(of: "Message"))
        hint = Self.shown(error.text(of: "Endpoint") ?? error.text(of: "Region"))
    }

    /// Whether the same request may well succeed later.
    var isPassing: Bool {
        Self.passingStatuses.contains(status)
            || ["RequestTimeout", "InternalError", "SlowDown", "ServiceUnavailable"].contains(code)
    }

    /// Whether the object is not there, while the bucket is or may be.
    var isMissingObject: Bool { status == 404 && ["", "NoSuchKey", "NotFound"].contains(code) }

    package var description: String {
        "\(status)" + (code.isEmpty ? "" : " \(code)") + (message.isEmpty ? "" : " (\(message))")
    }

    func advice(_ operation: StoreOperation, region: String) -> String {
        switch code {
        case "SignatureDoesNotMatch":
            "check the secret access key, the region '\(region)', and that no proxy changes requests"
        case "InvalidAccessKeyId", "InvalidToken", "ExpiredToken":
            "check that the store knows this access key and its token"
        case "RequestTimeTooSkewed": "set the clock of this machine"
        case "AuthorizationHeaderMalformed": "set the region to what the store says" + hinted
        case "NoSuchBucket": "make the bucket, or correct its name"
        case "XAmzContentSHA256Mismatch", "BadDigest":
            "bytes changed on their way: check memory, disk and proxies, and try again"
        case "QuotaExceeded", "XMinioStorageFull", "InsufficientStorage":
            "make room in the store"
        case "EntityTooLarge": "raise the size of requests that the store and proxies take"
        case "NoSuchUpload": "a rule of the bucket or another program ended the upload: try again"
        default: adviceByStatus(operation)
        }
    }

    private func adviceByStatus(_ operation: StoreOperation) -> String {
        switch status {
        case 300..<400:
            "name the endpoint or region that has the bucket\(hinted): signed requests follow no redirect"
        case 401, 403: "allow this access key \(operation.permission) in the bucket"
        case 404: "look for what removed the object, and restore it"
        case 405, 501: "use a store that has \(operation.rawValue)"
        case 412: "the object was replaced while it was read: read it again"
        case 413: "raise the size of requests that the store and proxies take"
        case 416: "the object is shorter than recorded: restore it"
        case 507: "make room in the store"
        case 429, 500...599: "the store is busy or broken: look at its log, and try again later"
        default: "look at the store's log"
        }
    }

    private var hinted: String { hint.isEmpty ? "" : " ('\(hint)')" }

    /// A text of the store, short and without what moves a cursor.
    private static func shown(_ text: String?) -> String {
        TerminalText.shown(String((text ?? "").prefix(textLimit)).replacing("\n", with: " "))
    }
}

/// A failed try of a request.
struct StoreFault: Error {
    let reason: ObjectStoreError.Reason
    let isPassing: Bool

    init(_ reason: ObjectStoreError.Reason) {
        self.reason = reason
        isPassing =
            switch reason {
            case .refused(let refusal): refusal.isPassing
            case .noAnswer(let error): error.isPassing
            case .unexpected, .source, .sourceEnded, .tooLarge, .stopped: false
            }
    }
}
