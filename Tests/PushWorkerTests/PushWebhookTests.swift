import TestSupport
import Testing

@testable import PushWorker

@Suite("PushWebhook")
struct PushWebhookTests {
    @Test("a push is signed as Standard Webhooks says, of a secret in either form")
    func signature() throws {
        // Source: the specification's example for libraries.
        let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let body = Array("{\"test\": 2432232314}".utf8)
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
        for secret in [text, text + "==", text.replacing("/", with: "_")] {
            let secret = try PushSecret(Array(secret.utf8))
            #expect(secret.signature(id: id, time: 1_614_265_330, body: body) == expected)
        }
    }

    @Test(
        "what is no secret is refused",
        arguments: [
            ("", PushFault.secretLength(0)), ("short", .secretLength(5)),
            (String(repeating: "x", count: 257), .secretLength(257)),
            ("whsec_%%%", .secretEncoding), ("whsec_QUJD", .secretLength(3)),
        ]
    )
    func badSecret(text: String, fault: PushFault) {
        #expect(throws: fault) { try PushSecret(Array(text.utf8)) }
    }

    @Test("a secret is read from a file that nobody else may read")
    func file() throws {
        let folder = try TemporaryFolder()
        let text = "  an operator's secret of 34 letters.\n"
        let path = try folder.file("secret", text)
        #expect(throws: Never.self) { try PushSecret.load(path) }
        let open = try folder.file("open", text, permissions: 0o640)
        #expect(throws: PushFault.secretReadable(path: open)) { try PushSecret.load(open) }
        #expect(throws: PushFault.self) { try PushSecret.load(folder.path + "/none") }
    }

    @Test("a webhook is an absolute address, shown without what may be secret")
    func address() throws {
        let secret = try PushSecret([UInt8](repeating: 1, count: 32))
        let url = "https://user:word@push.example.com:8443/hook?key=1"
        #expect(
            try PushWebhook(url: url, secret: secret).shownURL == "https://push.example.com:8443"
        )
        for url in ["", "push.example.com", "ftp://x/", "http://", "/hook", "http:///x", "a b"] {
            #expect(throws: PushFault.webhookURL) { try PushWebhook(url: url, secret: secret) }
        }
    }

    @Test("what an answer means")
    func answers() {
        for status in [200, 201, 204, 299] {
            #expect(PushWebhook.meaning(status, retryAfter: nil) == .accepted)
        }
        for status in [301, 307, 400, 401, 403, 404, 408, 410, 413] {
            guard case .refused = PushWebhook.meaning(status, retryAfter: "3") else {
                Issue.record("\(status)")
                continue
            }
        }
        let cases: [(Int, String?, Int64?)] = [
            (429, "7", 7), (503, "120", 120), (500, nil, nil), (599, "Fri, 31 Dec 1999", nil),
            (503, "-1", 0), (503, "9999999999999999999999", nil),
        ]
        for (status, header, seconds) in cases {
            #expect(
                PushWebhook.meaning(status, retryAfter: header)
                    == .later("the webhook answered \(status)", seconds: seconds)
            )
        }
    }
}
