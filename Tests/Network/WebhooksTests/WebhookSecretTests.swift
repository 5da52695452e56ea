import TestSupport
import Testing
import Webhooks

@Suite("WebhookSecret")
struct WebhookSecretTests {
    @Test("words are signed as Standard Webhooks says, of a secret in either form")
    func bothForms() throws {
        // Source: the specification's example for libraries.
        let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let body = Array("{\"test\": 2432232314}".utf8)
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
        for secret in [text, text + "==", text.replacing("/", with: "_")] {
            let secret = try WebhookSecret(Array(secret.utf8))
            #expect(secret.signature(id: id, time: 1_614_265_330, body: body) == expected)
        }
    }

    @Test(
        "what is no secret is refused",
        arguments: [
            ("", .length(byteCount: 0)), ("short", .length(byteCount: 5)),
            (String(repeating: "x", count: 257), .length(byteCount: 257)),
            ("whsec_%%%", .encoding), ("whsec_QUJD", .length(byteCount: 3)),
        ] as [(String, WebhookSecretError)]
    )
    func badSecret(text: String, fault: WebhookSecretError) {
        #expect(throws: fault) { try WebhookSecret(Array(text.utf8)) }
    }

    @Test("a secret is read from a file that only its owner may read")
    func file() throws {
        let folder = try TemporaryFolder()
        let text = "  an operator's secret of enough bytes.\n"
        let path = try folder.file("secret", text)
        #expect(throws: Never.self) { try WebhookSecret.load(path) }
        let open = try folder.file("open", text, permissions: 0o640)
        let error = #expect(throws: WebhookSecretError.self) { try WebhookSecret.load(open) }
        let words = "\(open): others may read this secret; run: chmod 600 \(open)"
        #expect("\(try #require(error))" == words)
        #expect(throws: WebhookSecretError.self) { try WebhookSecret.load(folder.path + "/none") }
    }

    @Test("the signature is that of the specification's example")
    func signature() throws {
        let secret = try WebhookSecret(Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            time: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8)
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(
        "a secret is long enough, and base64 where it says so",
        arguments: [
            ("short", .length(byteCount: 5)), ("whsec_!!!!", .encoding),
            ("whsec_c2hvcnQ=", .length(byteCount: 5)),
            (String(repeating: "x", count: 257), .length(byteCount: 257)),
        ] as [(String, WebhookSecretError)]
    )
    func badSecrets(text: String, expected: WebhookSecretError) {
        #expect(throws: expected) { try WebhookSecret(Array(text.utf8)) }
    }
}
