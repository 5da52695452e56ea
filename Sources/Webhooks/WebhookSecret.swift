package import Files
package import HTTPClient
import Tokens

/// What signs the words to a webhook, so that its receiver knows who speaks.
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
    /// - Throws: `WebhookSecretError` for a key of another length, or none.
    package init(_ text: [UInt8]) throws(WebhookSecretError) {
        let prefix = Array("whsec_".utf8)
        if text.starts(with: prefix) {
            let standard = text.dropFirst(prefix.count).filter { $0 != UInt8(ascii: "=") }
            let url = standard.map { byte in
                byte == UInt8(ascii: "+")
                    ? UInt8(ascii: "-") : byte == UInt8(ascii: "/") ? UInt8(ascii: "_") : byte
            }
            guard let key = Base64URL.decode(url) else { throw .encoding }
            self.key = key
        } else {
            key = text
        }
        guard Self.byteCount.contains(key.count) else { throw .length(byteCount: key.count) }
    }

    /// The secret of the file at `path`, which nobody else may read; white space around it does not count.
    ///
    /// - Throws: `WebhookSecretError` when it cannot be read, others may read it, or it is no secret.
    package static func load(_ path: String) throws(WebhookSecretError) -> WebhookSecret {
        let content: SmallFile.Content
        do throws(FileError) {
            content = try SmallFile.read(path, byteLimit: 4096)
        } catch {
            throw .file(error)
        }
        guard content.permissions & 0o077 == 0 else { throw .readableByOthers(path: path) }
        let isSpace: (UInt8) -> Bool = { $0 == 32 || (9...13).contains($0) }
        let bare = content.bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return try WebhookSecret(Array(bare))
    }

    /// The request of one try to tell `url` of a body of JSON; `time` is seconds since 1970.
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
        // Nobody reads what it answers.
        request.keptByteLimit = 1024
        return request
    }

    /// `v1,` and the signature in base64; nil only when OpenSSL is out of memory.
    package func signature(id: String, time: Int64, body: [UInt8]) -> String? {
        let signed = Array("\(id).\(time).".utf8) + body
        guard let code = HashMAC.code(of: signed, secret: key) else { return nil }
        let text = Base64URL.encode(code).map { character -> Character in
            character == "-" ? "+" : character == "_" ? "/" : character
        }
        // 32 bytes leave one place to fill.
        return "v1,\(String(text))="
    }
}

/// Why there is no secret for the webhook.
package enum WebhookSecretError: Error, Equatable, Sendable, CustomStringConvertible {
    case file(FileError)
    /// Group or others have a permission on the file.
    case readableByOthers(path: String)
    case length(byteCount: Int)
    /// What follows `whsec_` is no base64.
    case encoding

    package var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .readableByOthers(let path):
            "\(path): others may read this secret; run: chmod 600 \(path)"
        case .length(let byteCount):
            "the webhook's secret has \(byteCount) bytes; it must have "
                + "\(WebhookSecret.byteCount.lowerBound) to \(WebhookSecret.byteCount.upperBound)"
        case .encoding: "the webhook's secret is no base64 behind 'whsec_'"
        }
    }
}
