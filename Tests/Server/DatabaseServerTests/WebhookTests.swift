import HTTPClient
import JSONTree
import Testing
import Webhooks

@testable import DatabaseServer
@testable import IdentityToolkit

@Suite("what a webhook gets")
struct WebhookTests {
    private let message = OneTimeMessage(
        kind: "PASSWORD_RESET",
        email: "ann@example.com",
        code: "CODE",
        link: "https://db.example.com/?a=1&b=\"",
        expiresAt: Timestamp(milliseconds: 1_700_003_600_000)
    )

    @Test("the request has the headers of Standard Webhooks, and a body of what is known")
    func request() throws {
        let secret = try WebhookSecret(Array("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8))
        let webhook = Webhook(url: "https://mail.example.com/", secret: secret, project: "p")
        let request = try #require(webhook.request(message, id: "msg_1", time: 1_700_000_000))
        guard case .bytes(let body) = request.body else {
            Issue.record("the body is known beforehand")
            return
        }
        #expect(
            String(decoding: body, as: UTF8.self) == """
                {"type":"PASSWORD_RESET","project":"p","email":"ann@example.com","code":"CODE",\
                "link":"https://db.example.com/?a=1&b=\\"","expiresAt":1700003600000}
                """
        )
        let signature = try #require(secret.signature(id: "msg_1", time: 1_700_000_000, body: body))
        #expect(
            request.headers == [
                "Content-Type: application/json", "webhook-id: msg_1",
                "webhook-timestamp: 1700000000", "webhook-signature: \(signature)",
            ]
        )
    }
}
