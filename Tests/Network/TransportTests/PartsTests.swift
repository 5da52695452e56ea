import Testing

@testable import Transport

@Suite("Bodies in parts")
struct PartsTests {
    private static let head = "PUT /parts HTTP/1.1\r\nHost: localhost\r\n"

    private func content(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    private func sum(_ bytes: [UInt8]) -> String {
        "\(bytes.count) \(bytes.reduce(UInt32(7)) { $0 &* 31 &+ UInt32($1) })\n"
    }

    @Test("a large body comes in parts, a small one whole", arguments: [1, 1_000, 70_000, 500_000])
    func parts(count: Int) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let body = content(count)
        for _ in 0..<2 {
            try client.send(PartsTests.head + "Content-Length: \(count)\r\n\r\n")
            try client.send(body)
            #expect(try client.readResponse().text == sum(body))
        }
        try client.send(PartsTests.head + "Transfer-Encoding: chunked\r\n\r\n")
        for start in stride(from: 0, to: count, by: 5_000) {
            let part = body[start..<min(start + 5_000, count)]
            try client.send("\(String(part.count, radix: 16))\r\n")
            try client.send(Array(part))
            try client.send("\r\n")
        }
        try client.send("0\r\n\r\n")
        #expect(try client.readResponse().text == sum(body))
        #expect(server.counters.inboundByteCount == 0)
    }

    @Test("an application that has enough is sent no more until it goes on")
    func pause() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let body = content(400_000)
        let head = "PUT /parts?pause HTTP/1.1\r\nHost: localhost\r\n"
        try client.send(head + "Content-Length: \(body.count)\r\n\r\n")
        try client.send(body)
        server.wait { !$0.pausedExchanges.isEmpty }
        // Other requests take ticks of the loop, in which more could have come.
        for _ in 0..<20 { #expect(try RawClient(server.port).get("/empty").status == 204) }
        #expect(server.read { $0.partByteCount } < 200_000)
        server.read { application in
            for exchange in application.pausedExchanges { exchange.resumeBody() }
        }
        #expect(try client.readResponse().text == sum(body))
    }

    @Test("a body that is cut, or goes wrong, is reported once")
    func cut() throws {
        let server = try TestServer()
        var client: RawClient? = try RawClient(server.port)
        try client?.send(PartsTests.head + "Content-Length: 1000000\r\n\r\n")
        try client?.send(content(500_000))
        server.wait { $0.partByteCount == 500_000 }
        client = nil
        server.wait { $0.cutCount == 1 && $0.abortedCount == 1 }
        let other = try RawClient(server.port)
        try other.send(PartsTests.head + "Transfer-Encoding: chunked\r\n\r\n20000\r\n")
        try other.send(content(0x20000))
        try other.send("\r\nzz\r\n")
        #expect(try other.readResponse().status == 400)
        server.wait { $0.cutCount == 2 && $0.abortedCount == 2 }
        #expect(server.counters.inboundByteCount == 0)
    }

    @Test("an answer before the end of a body ends the connection")
    func early() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(
            "PUT /parts?early HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n"
        )
        try client.send(content(100_000))
        let response = try client.readResponse()
        #expect(response.status == 400)
        #expect(response.header("connection") == "close")
        #expect(server.read { $0.abortedCount } == 0)
    }

    @Test("who waits for a word hears it unless the head is refused")
    func expectation() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let expects = "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n"
        #expect(try client.request(PartsTests.head + expects).status == 100)
        try client.send("abc")
        #expect(try client.readResponse().text == sum(Array("abc".utf8)))
        let refused = "PUT /parts?early HTTP/1.1\r\nHost: localhost\r\n" + expects
        #expect(try client.request(refused).status == 400)
    }
}
