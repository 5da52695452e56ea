import COpenSSL
package import Files
import Foundation
import HTTPClient

/// Where pushes go: a program of the operator's, told of each by a signed POST.
///
///     POST URL
///     Content-Type: application/json
///     webhook-id: push_...                  the same for every try of one push
///     webhook-timestamp: 1700000000         seconds, of this try
///     webhook-signature: v1,BASE64          HMAC-SHA256 of "ID.TIMESTAMP.BODY"
///
/// The body is told at `PushMessage`. 2xx takes it; 429 and 5xx, also with `Retry-After` in seconds, ask for another
/// try; whatever else refuses it for good. Source for headers and signature: the Standard Webhooks specification.
package struct PushWebhook: Sendable {
    /// Without user, password and query, which may be secrets.
    package let shownURL: String
    let authorityFile: String?
    private let url: String
    private let secret: PushSecret

    /// - Throws: `PushFault` for what is no absolute address of `http` or `https`.
    package init(url: String, secret: PushSecret, authorityFile: String? = nil) throws(PushFault) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty
        else { throw .webhookURL }
        self.url = url
        self.secret = secret
        self.authorityFile = authorityFile
        shownURL = "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
    }

    /// The request of one try; `time` is seconds since 1970.
    func request(id: String, body: String, time: Int64) -> HTTPRequest {
        let body = Array(body.utf8)
        var request = HTTPRequest(
            .post,
            url,
            headers: [
                "Content-Type: application/json",
                "webhook-id: \(id)",
                "webhook-timestamp: \(time)",
                "webhook-signature: \(secret.signature(id: id, time: time, body: body))",
            ],
            body: .bytes(body)
        )
        // Nobody reads what it answers.
        request.keptByteLimit = 1024
        return request
    }

    /// What an answer means.
    static func meaning(_ status: Int, retryAfter: String?) -> PostAnswer {
        switch status {
        case 200..<300: .accepted
        case 429, 500..<600:
            .later(
                "the webhook answered \(status)",
                seconds: retryAfter.flatMap { Int64($0) }.map { max(0, $0) }
            )
        case 410: .refused("the webhook is gone (410)")
        default: .refused("the webhook answered \(status)")
        }
    }

    /// What it means that there is no answer.
    static func meaning(_ error: HTTPError) -> PostAnswer {
        switch error.reason {
        case .notConnected, .notTrusted, .silent, .cut: .later("\(error)", seconds: nil)
        case .unusable: .refused("\(error)")
        }
    }
}

/// What signs pushes, so that their receiver knows who speaks.
package struct PushSecret: Sendable {
    /// Bytes of the key. Source: Standard Webhooks has 24 to 64; longer ones do no harm.
    static let byteCount = 24...256
    /// Bytes of a file that holds one.
    private static let fileByteCount = 4096

    private let key: [UInt8]

    /// - Parameter text: the key itself, or `whsec_` and the key in base64.
    /// - Throws: `PushFault` for a key of another length, or none.
    package init(_ text: [UInt8]) throws(PushFault) {
        let prefix = Array("whsec_".utf8)
        if text.starts(with: prefix) {
            var base64 = String(decoding: text.dropFirst(prefix.count), as: UTF8.self)
                .filter { $0 != "=" }
                .replacing("-", with: "+").replacing("_", with: "/")
            base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
            guard let key = Data(base64Encoded: base64) else { throw .secretEncoding }
            self.key = Array(key)
        } else {
            key = text
        }
        guard Self.byteCount.contains(key.count) else { throw .secretLength(key.count) }
    }

    /// The secret of the file at `path`, which nobody else may read; white space around it does not count.
    package static func load(_ path: String) throws(PushFault) -> PushSecret {
        let content: SmallFile.Content
        do throws(FileError) {
            content = try SmallFile.read(path, byteLimit: fileByteCount)
        } catch {
            throw .file(error)
        }
        guard content.permissions & 0o077 == 0 else { throw .secretReadable(path: path) }
        let isSpace: (UInt8) -> Bool = { $0 == 32 || (9...13).contains($0) }
        let bare = content.bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return try PushSecret(Array(bare))
    }

    /// `v1,` and the signature in base64.
    func signature(id: String, time: Int64, body: [UInt8]) -> String {
        let signed = Array("\(id).\(time).".utf8) + body
        var code = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        var count: UInt32 = 0
        let made = HMAC(
            EVP_sha256(),
            key,
            Int32(key.count),
            signed,
            signed.count,
            &code,
            &count
        )
        precondition(made != nil, "OpenSSL has memory for 32 bytes")
        return "v1," + Data(code).base64EncodedString()
    }
}

/// Why there is no push worker.
package enum PushFault: Error, Equatable, Sendable {
    case webhookURL
    case file(FileError)
    /// Group or others have a permission on the file.
    case secretReadable(path: String)
    case secretLength(Int)
    /// What follows `whsec_` is no base64.
    case secretEncoding
    /// The rules show the account less than a push worker needs: what it may not read.
    case notAllowed(String)
    /// libcurl cannot be used.
    case noHTTP(String)
}

extension PushFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .webhookURL: "the webhook is an address like https://push.example.com/hearth"
        case .file(let error): "\(error)"
        case .secretReadable(let path):
            "\(path): others may read this secret; run: chmod 600 \(path)"
        case .secretLength(let count):
            "the webhook's secret has \(count) bytes; it must have "
                + "\(PushSecret.byteCount.lowerBound) to \(PushSecret.byteCount.upperBound)"
        case .secretEncoding: "the webhook's secret is no base64 behind 'whsec_'"
        case .notAllowed(let place):
            "this account may not read `\(place)`: the operator allows it with "
                + "`hearth users claims EMAIL '{\"pushWorker\":true}'`; then start it again"
        case .noHTTP(let reason): reason
        }
    }
}
