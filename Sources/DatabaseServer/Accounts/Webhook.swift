package import Files
package import HTTPClient
package import IdentityToolkit
import JSONTree
import Tokens

/// Who takes codes to people: a program of the operator's, told of each by a signed POST.
///
///     POST URL
///     Content-Type: application/json
///     webhook-id: msg_...                   the same for every try of one message
///     webhook-timestamp: 1700000000         seconds, of this try
///     webhook-signature: v1,BASE64          HMAC-SHA256 of "ID.TIMESTAMP.BODY"
///
///     {"type":"PASSWORD_RESET","project":...,"email":...,"code":...,"link":...,"expiresAt":...}
///
/// Source for headers and signature: the Standard Webhooks specification, so that its libraries check them.
package struct Webhook: Sendable {
    private let url: String
    private let secret: WebhookSecret
    private let project: String

    package init(url: String, secret: WebhookSecret, project: String) {
        self.url = url
        self.secret = secret
        self.project = project
    }

    /// The request that tells of a message; `time` is seconds since 1970.
    ///
    /// nil only when OpenSSL is out of memory.
    package func request(_ message: OneTimeMessage, id: String, time: Int64) -> HTTPRequest? {
        let body = body(message)
        guard let signature = secret.signature(id: id, time: time, body: body) else { return nil }
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

    /// The object that the receiver is told; times are milliseconds since 1970.
    private func body(_ message: OneTimeMessage) -> [UInt8] {
        var body = JSONMembers()
        body.add("type", message.kind)
        body.add("project", project)
        body.add("email", message.email)
        body.add("newEmail", message.newEmail)
        body.add("phoneNumber", message.phoneNumber)
        body.add("code", message.code)
        body.add("link", message.link)
        body.add("expiresAt", .integer(message.expiresAt.milliseconds))
        return body.value.text
    }
}

/// What signs the words to a webhook, so that its receiver knows who speaks.
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
