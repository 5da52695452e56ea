import Testing
import Webhooks

@testable import PushWorker

@Suite("PushWebhook")
struct PushWebhookTests {
    @Test("a webhook is an absolute address, shown without what may be secret")
    func address() throws {
        let secret = try WebhookSecret([UInt8](repeating: 1, count: 32))
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
