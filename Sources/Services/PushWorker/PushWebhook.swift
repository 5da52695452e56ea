import Foundation
import HTTPClient
package import Webhooks

/// The target of pushes: a program of the operator, which gets each by a signed POST. `WebhookSecret` draws the
/// request, `PushMessage` its body. Its id, `push_...`, is the same for every try of one push. 2xx accepts it; 429 and
/// 5xx, also with `Retry-After` in seconds, ask for another try; any other status refuses it for good.
package struct PushWebhook: Sendable {
    /// Without user, password and query, which may be secrets.
    package let shownURL: String
    let authorityFile: String?
    private let url: String
    private let secret: WebhookSecret

    /// - Throws: `PushFault` unless the text is an absolute address of `http` or `https`.
    package init(url: String, secret: WebhookSecret, authorityFile: String? = nil) throws(PushFault)
    {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty
        else { throw .webhookURL }
        self.url = url
        self.secret = secret
        self.authorityFile = authorityFile
        shownURL = "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
    }

    /// The request of one try; `time` is seconds since 1970. nil only when OpenSSL is out of memory.
    func request(id: String, body: String, time: Int64) -> HTTPRequest? {
        secret.post(Array(body.utf8), to: url, id: id, time: time)
    }

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

    static func meaning(_ error: HTTPError) -> PostAnswer {
        switch error.reason {
        case .notConnected, .notTrusted, .noTLS, .silent, .cut: .later("\(error)", seconds: nil)
        case .unusable: .refused("\(error)")
        }
    }
}

/// Why there is no push worker.
package enum PushFault: Error, Equatable, Sendable {
    case webhookURL
    /// The rules deny the account a path that a push worker needs.
    case notAllowed(String)
    /// libcurl cannot be used.
    case noHTTP(String)
}

extension PushFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .webhookURL: "the webhook is an address like https://push.example.com/hearth"
        case .notAllowed(let location):
            "this account may not read `\(location)`: the operator allows it with "
                + "`hearth users claims EMAIL '{\"pushWorker\":true}'`; then start it again"
        case .noHTTP(let reason): reason
        }
    }
}
