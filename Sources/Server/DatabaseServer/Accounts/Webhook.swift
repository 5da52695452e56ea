import HTTPClient
import IdentityToolkit
import JSONTree
import Webhooks

/// The operator's program that sends codes to people. It gets each code by a signed POST.
///
/// The request is drawn at `WebhookSecret`; its id, `msg_...`, is the same for every try of one message.
///
///     {"type":"PASSWORD_RESET","project":...,"email":...,"code":...,"link":...,"expiresAt":...}
struct Webhook: Sendable {
    let url: String
    let secret: WebhookSecret
    let project: String

    /// The request that delivers a message; `time` is seconds since 1970.
    ///
    /// nil only when OpenSSL is out of memory.
    func request(_ message: OneTimeMessage, id: String, time: Int64) -> HTTPRequest? {
        secret.post(body(message), to: url, id: id, time: time)
    }

    /// The object that the receiver gets; times are milliseconds since 1970.
    private func body(_ message: OneTimeMessage) -> [UInt8] {
        let body: JSONValue = [
            "type": .string(message.kind), "project": .string(project),
            "email": message.email.map { .string($0) },
            "newEmail": message.newEmail.map { .string($0) },
            "phoneNumber": message.phoneNumber.map { .string($0) },
            "code": .string(message.code), "link": message.link.map { .string($0) },
            "expiresAt": .integer(message.expiresAt.milliseconds),
        ]
        return body.text
    }
}
