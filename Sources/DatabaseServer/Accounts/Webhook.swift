package import HTTPClient
package import IdentityToolkit
import JSONTree
package import Webhooks

/// Who takes codes to people: a program of the operator's, told of each by a signed POST.
///
/// The request is drawn at `WebhookSecret`; its id, `msg_...`, is the same for every try of one message.
///
///     {"type":"PASSWORD_RESET","project":...,"email":...,"code":...,"link":...,"expiresAt":...}
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
        secret.post(body(message), to: url, id: id, time: time)
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
