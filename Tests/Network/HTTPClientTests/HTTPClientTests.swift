import TestSupport
import Testing

@testable import HTTPClient

@Suite("an HTTP client")
struct HTTPClientTests {
    private struct Stop: Error {}

    @Test("asks for a head alone")
    func head() throws {
        let server = try ScriptedServer([.init(200, ["ETag: \"a\""], byteCount: 5_000_000_000)])
        let client = try HTTPClient(HTTPOptions())
        let response = try client.perform(HTTPRequest(.head, "\(server.url)/a"))
        #expect(server.requests.map(\.method) == ["HEAD"])
        #expect(response.status == 200)
        #expect(response.headers["content-length"] == "5000000000")
        #expect(response.body.isEmpty)
    }

    @Test(
        "follows redirects of what it reads, or gives them as they are",
        arguments: [true, false]
    )
    func redirects(follows: Bool) throws {
        let other = try ScriptedServer([.init(200, text: "other")])
        let server = try ScriptedServer([.init(307, ["Location: \(other.url)/b"], text: "there")])
        var options = HTTPOptions()
        options.followsRedirects = follows
        let client = try HTTPClient(options)
        let request = HTTPRequest(.get, "\(server.url)/a", headers: ["X-Secret: s"])
        let response = try client.perform(request)
        #expect(response.status == (follows ? 200 : 307))
        #expect(response.text == (follows ? "other" : "there"))
        #expect(other.requests.count == (follows ? 1 : 0))
    }

    @Test("shows the head of a success once, before its body")
    func accepted() throws {
        let body = [UInt8](repeating: 7, count: 400_000)
        let server = try ScriptedServer([.init(206, ["Content-Range: bytes 0-399999/400000"], body)]
        )
        let client = try HTTPClient(HTTPOptions())
        var events: [String] = []
        var taken: [UInt8] = []
        let response = try client.perform(
            HTTPRequest(.get, "\(server.url)/a"),
            receive: { bytes in
                if taken.isEmpty { events.append("body") }
                #expect(bytes.count <= 128 * 1024)
                taken += bytes
            },
            accept: { status, headers in
                events.append("\(status) \(headers["content-range"] ?? "")")
            }
        )
        #expect(events == ["206 bytes 0-399999/400000", "body"])
        #expect(taken == body)
        #expect(response.body.isEmpty)
    }

    @Test("ends a request whose head is refused, and goes on with the next")
    func refusedHead() throws {
        let server = try ScriptedServer([.init(200, text: "whole"), .init(404, text: "no")])
        let client = try HTTPClient(HTTPOptions())
        #expect(throws: Stop.self) {
            try client.perform(
                HTTPRequest(.get, "\(server.url)/a"),
                receive: { _ in Issue.record("a body is given") },
                accept: { _, _ in throw Stop() }
            )
        }
        // The body of an error is kept, and its head not asked about.
        let response = try client.perform(
            HTTPRequest(.get, "\(server.url)/a"),
            receive: { _ in Issue.record("a body is given") },
            accept: { _, _ in throw Stop() }
        )
        #expect(response.text == "no")
    }

    @Test("sends a body that is made in pieces, under its length")
    func stream() throws {
        let server = try ScriptedServer([.init(200)])
        let client = try HTTPClient(HTTPOptions())
        var left = 1_000_000
        let body = HTTPBody.stream(byteCount: left) { buffer in
            let count = min(left, min(buffer.count, 77_777))
            for index in 0..<count { buffer[index] = UInt8(truncatingIfNeeded: left) }
            left -= count
            return count
        }
        _ = try client.perform(HTTPRequest(.put, "\(server.url)/a", body: body))
        let request = try #require(server.requests.first)
        #expect(request.headers["content-length"] == "1000000")
        #expect(request.body.count == 1_000_000)
    }
}
