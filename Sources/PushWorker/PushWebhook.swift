import Foundation
import HTTPClient
package import Webhooks

/// Where pushes go: a program of the operator's, told of each by a signed POST.
///
/// The request is drawn at `WebhookSecret`, its body at `PushMessage`; its id, `push_...`, is the same for every try of one
/// push. 2xx takes it; 429 and 5xx, also with `Retry-After` in seconds, ask for another try; whatever else refuses it for
/// good.
package struct PushWebhook: Sendable {
    /// Without user, password and query, which may be secrets.
    package let shownURL: String
    let authorityFile: String?
    private let url: String
    private let secret: WebhookSecret

    /// - Throws: `PushFault` for what is no absolute address of `http` or `https`.
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
        case .notConnected, .notTrusted, .noTLS, .silent, .cut: .later("\(error)", seconds: nil)
        case .unusable: .refused("\(error)")
        }
    }
}

/// Why there is no push worker.
package enum PushFault: Error, Equatable, Sendable {
    case webhookURL
    /// The rules show the account less than a push worker needs: what it may not read.
    case notAllowed(String)
    /// libcurl cannot be used.
    case noHTTP(String)
}

extension PushFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .webhookURL: "the webhook is an address like https://push.example.com/hearth"
        case .notAllowed(let place):
            "this account may not read `\(place)`: the operator allows it with "
                + "`hearth users claims EMAIL '{\"pushWorker\":true}'`; then start it again"
        case .noHTTP(let reason): reason
        }
    }
}
