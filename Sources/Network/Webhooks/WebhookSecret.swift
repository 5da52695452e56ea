package import Files
package import HTTPClient
import JSONTree
import Tokens

/// Signs the requests to a webhook, so that its receiver can verify the sender.
///
///     POST URL
///     Content-Type: application/json
///     webhook-id: ID                        the same for every try of one message
///     webhook-timestamp: 1700000000         seconds, of this try
///     webhook-signature: v1,BASE64          HMAC-SHA256 of "ID.TIMESTAMP.BODY"
///
/// Source for headers and signature: the Standard Webhooks specification, so that its libraries check them.
package struct WebhookSecret: Sendable {
    /// Bytes of the key. Source: Standard Webhooks has 24 to 64; longer ones do no harm.
    package static let byteCount = 24...256

    private let key: [UInt8]

    /// - Parameter text: the key itself, or `whsec_` and the key in base64.
    /// - Throws: `WebhookSecretError` if the key is missing or has another length.
    package init(_ text: [UInt8]) throws(WebhookSecretError) {
        let prefix = Array("whsec_".utf8)
        if text.starts(with: prefix) {
            let digits = text.dropFirst(prefix.count).filter { $0 != UInt8(ascii: "=") }
            guard let key = Base64.decode(String(decoding: digits, as: UTF8.self)) else {
                throw .encoding
            }
            self.key = key
        } else {
            key = text
        }
        guard Self.byteCount.contains(key.count) else { throw .length(byteCount: key.count) }
    }

    /// Reads the secret from the file at `path`, ignoring white space around it. Only the owner may read the file.
    ///
    /// - Throws: `WebhookSecretError` if the file cannot be read, others may read it, or it holds no secret.
    package static func load(_ path: String) throws(WebhookSecretError) -> WebhookSecret {
        let text: [UInt8]
        do throws(FileError) { text = try SmallFile.readSecret(path, byteLimit: 4096) } catch {
            throw .file(error)
        }
        return try WebhookSecret(text)
    }

    /// Makes the request that delivers a JSON body to `url`, once per try; `time` is seconds since 1970.
    ///
    /// nil only when OpenSSL is out of memory.
    package func post(_ body: [UInt8], to url: String, id: String, time: Int64) -> HTTPRequest? {
        guard let signature = signature(id: id, time: time, body: body) else { return nil }
        var request = HTTPRequest(
            .post,
            url,
            headers: [
                "Content-Type: application/json",
                "webhook-id: \(id)",
                "webhook-timestamp: \(time)",
                "webhook-signature: \(signature)",
            ],
            body: .bytes(body)
        )
        // The sender ignores the body of the answer.
        request.keptByteLimit = 1024
        return request
    }

    /// `v1,` and the signature in base64; nil only when OpenSSL is out of memory.
    package func signature(id: String, time: Int64, body: [UInt8]) -> String? {
        let signed = Array("\(id).\(time).".utf8) + body
        guard let code = HashMAC.code(of: signed, secret: key) else { return nil }
        return "v1,\(Base64.encode(code, .standard, isPadded: true))"
    }
}

/// Why the webhook has no secret.
package enum WebhookSecretError: Error, Equatable, Sendable, CustomStringConvertible {
    case file(FileError)
    case length(byteCount: Int)
    /// The text after `whsec_` is not base64.
    case encoding

    package var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .length(let byteCount):
            "the webhook's secret has \(byteCount) bytes; it must have "
                + "\(WebhookSecret.byteCount.lowerBound) to \(WebhookSecret.byteCount.upperBound)"
        case .encoding: "the webhook's secret is no base64 behind 'whsec_'"
        }
    }
}
