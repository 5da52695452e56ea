import Testing

@testable import Transport

@Suite("Request targets, exactly as sent")
struct RequestTargetTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let target: String
        let segments: [String]
        var query: [String] = []
        var testDescription: String { target }
    }

    // libwebsockets reads + as a space, splits at & and ;, joins //, resolves /../, and cannot tell
    // %2F from a slash.
    static let rows: [Row] = [
        Row(target: "/", segments: []),
        Row(target: "/a/b.json", segments: ["a", "b.json"]),
        Row(target: "/a+b.json", segments: ["a+b.json"]),
        Row(target: "/a%20b", segments: ["a b"]),
        Row(target: "/a%2Bb", segments: ["a+b"]),
        Row(target: "/a%2Fb/c", segments: ["a/b", "c"]),
        Row(target: "/a%2fb", segments: ["a/b"]),
        Row(target: "/a&b;c=d/e", segments: ["a&b;c=d", "e"]),
        Row(target: "/a//b///c/", segments: ["a", "b", "c"]),
        Row(target: "/a/../b/./c", segments: ["a", "..", "b", ".", "c"]),
        Row(target: "/%E2%82%AC/\u{20ac}", segments: ["\u{20ac}", "\u{20ac}"]),
        Row(target: "/a%00b", segments: ["a\u{0}b"]),
        Row(target: "/a%25b", segments: ["a%b"]),
        Row(target: "/a?", segments: ["a"]),
        Row(target: "/a?b=c", segments: ["a"], query: ["b=c"]),
        Row(target: "/a?b+c=d+e", segments: ["a"], query: ["b c=d e"]),
        Row(target: "/a?b=%2B%26%3D", segments: ["a"], query: ["b=+&="]),
        Row(target: "/a?b=c=d&&e&=f", segments: ["a"], query: ["b=c=d", "e=", "=f"]),
        Row(target: "/a?b=c?d/e;f", segments: ["a"], query: ["b=c?d/e;f"]),
        Row(target: "/a?b=100%&c=%4", segments: ["a"], query: ["b=100%", "c=%4"]),
        Row(target: "/.ws?v=5&ns=x&ls=abc", segments: [".ws"], query: ["v=5", "ns=x", "ls=abc"]),
        Row(target: "http://localhost/a?b", segments: ["a"], query: ["b="]),
        Row(target: "http://localhost", segments: []),
    ]

    @Test("a target arrives unchanged and its parts are decoded after splitting", arguments: rows)
    func parts(row: Row) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let lines = try client.get(row.target).text.split(separator: "\n").map(String.init)
        #expect(lines[0] == "GET \(row.target)")
        #expect(lines[1] == "path \(row.segments)")
        #expect(lines.filter { $0.hasPrefix("query ") } == row.query.map { "query \($0)" })
    }

    @Test("an absolute target names the host that Host does; without Host it says it alone")
    func authority() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        #expect(try client.get("http://LocalHost/a").text.contains("\nhost localhost\n"))
        #expect(try client.get("/a").text.contains("\nhost localhost\n"))
        let old = try RawClient(server.port).request("GET http://old.example:80/a HTTP/1.0\r\n\r\n")
        #expect(old.text.contains("\nhost old.example:80\n"))
        let refused = try client.get("http://evil.example/a")
        #expect(refused.status == 400 && refused.text.contains("different hosts"))
        #expect(client.isEndedByPeer())
    }

    @Test("OPTIONS * has no path")
    func asterisk() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.request("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(response.text.hasPrefix("OPTIONS *\npath []\n"))
    }

    @Test("header names are found in any case, values without the space around them")
    func headers() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.request(
            "GET / HTTP/1.1\r\nhOST: h\r\nX-PROBE: \t a b \t \r\n\r\n"
        )
        #expect(response.text.contains("\nprobe a b\n") || response.text.hasSuffix("\nprobe a b\n"))
    }
}
