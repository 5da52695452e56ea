import Glibc
import LoopSupport
import Testing

@testable import Transport

/// What libwebsockets 4.1.6 does with these in its own HTTP role is said beside each; here none of
/// them reaches it, and every one gets an answer.
@Suite("Requests that the library's HTTP role gets wrong, and bad ones")
struct RequestFaultTests {
    // lws: answers the first for ever, with growing memory, from one segment of input.
    @Test("a request with a body behind another in one segment is answered once")
    func pipelinedBody() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(
            "PUT /one HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n1"
                + "PUT /two HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n22"
                + "POST /three HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n333"
                + "GET /four HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        )
        for (path, body) in [("/one", "1"), ("/two", "22"), ("/three", "333"), ("/four", "")] {
            let text = try client.readResponse().text
            #expect(text.contains(" \(path)\n") && text.contains("body \(body)\n"))
        }
        #expect(client.isEndedByPeer())
        #expect(server.counters.requestCount == 4)
    }

    @Test("a body that looks like a request line is a body")
    func bodyLikeHeader() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let body = "GET /trap HTTP/1.1\r\nHost: h\r\n\r\n"
        let response = try client.request(
            "PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        #expect(response.text.contains("body GET /trap"))
        #expect(server.counters.requestCount == 1)
    }

    @Test("5,000 pipelined GETs are answered in order")
    func pipelinedGets() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let count = 5000
        var sent = 0
        var received = 0
        var pending: [UInt8] = []
        while received < count {
            while sent < count, pending.count < 100_000 {
                pending += Array("GET /n/\(sent) HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
                sent += 1
            }
            if !pending.isEmpty {
                let taken = client.trySend(pending)
                if taken > 0 { pending.removeFirst(taken) }
            }
            let response = try client.readResponse()
            try #require(response.text.hasPrefix("GET /n/\(received)\n"))
            received += 1
        }
    }

    // lws: waits for 100 MB until its timeout.
    @Test("a write without a length has no body", arguments: ["POST", "PUT", "PATCH"])
    func noLength(method: String) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        #expect(try client.request("\(method) / HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
        #expect(try client.request("GET /next HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
    }

    // lws: PUT and PATCH with Content-Length 0 get no body callback at all.
    @Test("a length of nought is an empty body", arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func emptyBody(method: String) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.request(
            "\(method) / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"
        )
        #expect(response.status == 200)
        #expect(response.text.contains("body \n"))
    }

    /// Head lines after the request line, the status they get, and why.
    static let heads: [(String, Int)] = [
        // lws reads lengths with atoll, and joins duplicates.
        ("Host: h\r\nContent-Length: 2x", 400),
        ("Host: h\r\nContent-Length: -1", 400),
        ("Host: h\r\nContent-Length: +1", 400),
        ("Host: h\r\nContent-Length:", 400),
        ("Host: h\r\nContent-Length: 99999999999999999999", 400),
        ("Host: h\r\nContent-Length: 2\r\nContent-Length: 2", 400),
        ("Host: h\r\nContent-Length: 2, 2", 400),
        ("Host: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked", 400),
        ("Host: h\r\nTransfer-Encoding: gzip, chunked", 501),
        ("Host: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 501),
        ("Host: h\r\nTransfer-Encoding: identity", 501),
        ("Host: h\r\nContent-Length: 300000000", 400),
        // Headers.
        ("", 400),
        ("Host: a\r\nHost: b", 400),
        ("Host : h", 400),
        ("Host: h\r\nNo colon here", 400),
        ("Host: h\r\n: nameless", 400),
        ("Host: h\r\nA: b\r\n folded", 400),
        ("Host: h\r\nA: b\u{0}c", 400),
        ("Host: h\r\nA: b\rc", 400),
        ("Host: h\r\nA: b\nB: c", 400),
        ("Host: h\r\n\rA: b", 400),
        ("Host: h\r\nA\u{7f}: b", 400),
    ]

    @Test("a bad head is answered and the connection closed", arguments: heads)
    func badHead(head: String, status: Int) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let lines = head.isEmpty ? "" : "\(head)\r\n"
        let response = try client.request("PUT / HTTP/1.1\r\n\(lines)\r\n")
        #expect(response.status == status, "\(head)")
        #expect(response.header("connection") == "close")
        #expect(client.isEndedByPeer())
        #expect(server.counters.badRequestCount == 1)
        #expect(server.read { $0.headCount } == 0)
    }

    /// Request lines and their status.
    static let lines: [(String, Int)] = [
        // lws: its own 403 page in HTTP/1.0.
        ("TRACE / HTTP/1.1", 405), ("FOO / HTTP/1.1", 405), ("get / HTTP/1.1", 405),
        // lws: falls into raw mode.
        ("CONNECT a:1 HTTP/1.1", 405),
        ("PRI * HTTP/2.0", 505), ("GET / HTTP/2", 505), ("GET / HTTP/1.2", 505),
        ("GET / FTP/1.1", 400), ("GET /", 400), ("GET  / HTTP/1.1", 400), ("GET / a HTTP/1.1", 400),
        ("GET / HTTP/1.1 ", 400), ("GE(T / HTTP/1.1", 400), (" GET / HTTP/1.1", 400),
        ("\u{1}\u{2}\u{3}", 400), ("SSH-2.0-client", 400),
        ("GET nowhere HTTP/1.1", 400), ("GET * HTTP/1.1", 400), ("GET /a#b HTTP/1.1", 400),
        ("GET ftp://h/a HTTP/1.1", 400), ("GET http:/// HTTP/1.1", 400),
        // lws: %00 drops the connection; bad % is its own 403 page.
        ("GET /a%zz HTTP/1.1", 400), ("GET /a%4 HTTP/1.1", 400), ("GET /a% HTTP/1.1", 400),
        ("GET /a%ff HTTP/1.1", 400), ("GET /%ed%a0%80 HTTP/1.1", 400),
        ("GET /?a=%ff HTTP/1.1", 400),
    ]

    @Test("a bad request line is answered and the connection closed", arguments: lines)
    func badLine(line: String, status: Int) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        #expect(try client.request("\(line)\r\nHost: h\r\n\r\n").status == status, "\(line)")
        #expect(client.isEndedByPeer())
    }

    // lws: a head over its limit is dropped without a reply.
    @Test("a head that is too large is answered 431, whole or not")
    func headTooLarge() throws {
        let server = try TestServer { $0.limits.headByteCount = 4096 }
        let whole = try RawClient(server.port)
        let filler = String(repeating: "x", count: 5000)
        #expect(
            try whole.request("GET / HTTP/1.1\r\nHost: h\r\nA: \(filler)\r\n\r\n").status == 431
        )
        let endless = try RawClient(server.port)
        #expect(try endless.request("GET / HTTP/1.1\r\nHost: h\r\nA: \(filler)").status == 431)
        let line = try RawClient(server.port)
        #expect(try line.request("GET /\(filler)").status == 414)
    }

    @Test("too many headers are answered 431")
    func tooManyHeaders() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let lines = (0..<101).map { "H\($0): v\r\n" }.joined()
        #expect(try client.request("GET / HTTP/1.1\r\nHost: h\r\n\(lines)\r\n").status == 431)
    }

    @Test(
        "a chunked body that is wrong or too large is answered 400",
        arguments: [
            ("x\r\n", 400), ("\r\n", 400), ("-1\r\n", 400), ("5\r\nhelloX", 400), ("5\nhello", 400),
            ("5\r\nhello\n", 400), ("ffffffffffffffff\r\n", 400), ("200\r\n", 400),
            ("5;name=value\r\nhello\r\n0\r\n\r\n", 400), ("5 \r\nhello\r\n0\r\n\r\n", 400),
            ("0\r\n\(String(repeating: "a: b\r\n", count: 2000))", 400),
        ]
    )
    func badChunks(body: String, status: Int) throws {
        let server = try TestServer { $0.limits.bodyByteCount = 256 }
        let client = try RawClient(server.port)
        let response = try client.request(
            "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
        )
        #expect(response.status == status, "\(body.prefix(30))")
    }

    @Test(
        "a chunked GET or DELETE body is not taken for the next request",
        arguments: ["GET", "DELETE"]
    )
    func chunkedElsewhere(method: String) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.request(
            "\(method) /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        )
        #expect(response.text.contains("body abc"))
        #expect(try client.get("/after").status == 200)
    }

    // lws: accepts the upgrade by default and changes protocol.
    @Test("an upgrade to h2c is ignored")
    func clearTextHTTP2() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.request(
            "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                + "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n"
        )
        #expect(response.status == 200)
    }

    @Test("a head that drips in is answered 408 in time")
    func slowHead() throws {
        let server = try TestServer { $0.timeouts.head = .milliseconds(200) }
        let client = try RawClient(server.port)
        try client.send("GET / HT")
        // Each byte comes in time for an idle timer; the head as a whole does not.
        while !client.wait(for: 1, milliseconds: 20) { _ = client.trySend([0x54]) }
        #expect(try client.readResponse().status == 408)
        #expect(client.isEndedByPeer())
        #expect(server.counters.timeoutCount == 1)
    }

    @Test("a connection that says nothing is closed")
    func silent() throws {
        let server = try TestServer { $0.timeouts.head = .milliseconds(100) }
        let client = try RawClient(server.port)
        #expect(try client.readToEnd().isEmpty)
    }

    @Test("an idle connection is closed after its idle time")
    func idle() throws {
        let server = try TestServer { $0.timeouts.idle = .milliseconds(100) }
        let client = try RawClient(server.port)
        #expect(try client.get("/").status == 200)
        #expect(client.isEndedByPeer())
    }

    @Test("a request that comes while the loop is held up is answered, its head's time over or not")
    func heldUpLoop() throws {
        // On a machine that stands still before the request is sent its time is over: then with a longer one.
        var status = 0
        for period in [200, 2_000, 8_000] as [Int32] where status != 200 {
            status = try statusOfHeldUp(period: period)
        }
        #expect(status == 200)
    }

    /// The answer to a request that comes while the loop stands still for longer than a head has; 0 when there is none.
    private func statusOfHeldUp(period: Int32) throws -> Int {
        let server = try TestServer { $0.timeouts.head = .milliseconds(Int64(period)) }
        let client = try RawClient(server.port)
        while server.counters.openConnectionCount == 0 {}
        let isSent = Waiter<Bool>()
        EventLoop.shared.enqueue { _ = isSent.wait() && poll(nil, 0, period + 150) == 0 }
        try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        isSent.fulfil(true)
        do {
            return try client.readResponse().status
        } catch RawClient.Failure.connectionEnded {
            return 0
        }
    }

    @Test("a body that drips in is answered 408")
    func slowBody() throws {
        let server = try TestServer { $0.timeouts.progress = .milliseconds(200) }
        let client = try RawClient(server.port)
        try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n")
        while !client.wait(for: 1, milliseconds: 20) { _ = client.trySend([0x20]) }
        #expect(try client.readResponse().status == 408)
        #expect(client.isEndedByPeer())
    }

    @Test("a body that takes several progress periods, moving on in each, is read whole")
    func steadyBody() throws {
        // On a machine that stands still for a period nothing moves on in it: then with longer ones.
        var status = 0
        for period in [500, 2_000, 8_000] where status != 200 {
            status = try steadyStatus(period: period)
        }
        #expect(status == 200)
    }

    /// The answer to a body of 20 pieces, 8 to a period of so many milliseconds.
    private func steadyStatus(period: Int) throws -> Int {
        let server = try TestServer {
            $0.timeouts.progress = .milliseconds(period)
            $0.timeouts.progressByteCount = 100
        }
        let client = try RawClient(server.port)
        try client.send("PUT /sum HTTP/1.1\r\nHost: h\r\nContent-Length: 4000\r\n\r\n")
        for _ in 0..<20 {
            _ = client.trySend([UInt8](repeating: 0x20, count: 200))
            _ = client.wait(for: 1, milliseconds: Int32(period / 8))
        }
        return try client.readResponse().status
    }

    @Test("a reader that takes nothing of its answer is cut")
    func slowDownload() throws {
        let server = try TestServer { $0.timeouts.progress = .milliseconds(150) }
        let client = try RawClient(server.port, receiveBuffer: 4096)
        try client.send("GET /big?bytes=30000000 HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try client.readUntil("\r\n\r\n")
        var counters = server.counters
        let deadline = monotonicNanoseconds() + 60_000_000_000
        while counters.timeoutCount == 0, monotonicNanoseconds() < deadline {
            _ = client.wait(for: 2, milliseconds: 10)
            counters = server.counters
        }
        #expect(counters.timeoutCount == 1)
    }
}
