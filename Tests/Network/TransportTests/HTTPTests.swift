import Glibc
import Testing

@testable import Transport

@Suite("HTTP over a real socket")
struct HTTPTests {
    @Test("a GET is answered, and the connection serves the next one")
    func keepAlive() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        for number in 1...3 {
            let response = try client.get("/a/\(number)")
            #expect(response.status == 200)
            #expect(response.text.hasPrefix("GET /a/\(number)\n"))
            #expect(response.header("connection") == "keep-alive")
        }
        #expect(server.counters.connectionCount == 1)
        #expect(server.counters.requestCount == 3)
    }

    @Test(
        "every method with a body gets it whole",
        arguments: ["POST", "PUT", "PATCH", "DELETE", "GET", "OPTIONS"]
    )
    func bodies(method: String) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.request(
            "\(method) /x HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
        )
        #expect(response.status == 200)
        #expect(response.text.contains("body {\"a\":1}"))
    }

    @Test("HEAD has the headers of GET and no body")
    func head() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send("HEAD /big?bytes=1000 HTTP/1.1\r\nHost: h\r\n\r\n")
        let response = try client.readResponse(isHead: true)
        #expect(response.header("content-length") == "1000")
        #expect(try client.get("/after").status == 200)
    }

    @Test("HEAD of a stream ends with its headers")
    func headOfStream() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.readResponse(isHead: true).status == 200)
        #expect(try client.get("/after").status == 200)
        #expect(server.read { $0.pulledCount } == 0)
    }

    @Test("204 has neither body nor length")
    func noContent() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.get("/empty")
        #expect(response.status == 204)
        #expect(response.header("content-length") == nil)
        #expect(try client.get("/after").status == 200)
    }

    @Test("Expect: 100-continue is answered before the body")
    func expectContinue() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(
            "PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        )
        #expect(try client.readResponse().status == 100)
        try client.send("true")
        #expect(try client.readResponse().text.contains("body true"))
    }

    @Test("a refused request with Expect: 100-continue is never asked to go on")
    func expectRefused() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(
            "PUT /forbidden HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        )
        #expect(try client.readResponse().status == 403)
        #expect(client.isEndedByPeer())
    }

    @Test("any other expectation is answered 417")
    func expectOther() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.request("GET / HTTP/1.1\r\nHost: h\r\nExpect: a miracle\r\n\r\n")
        #expect(response.status == 417)
    }

    @Test("a chunked body is decoded, and the connection goes on", arguments: [1, 3, 10_000])
    func chunkedBody(pieceByteCount: Int) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let bytes = Array(
            ("PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "5\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n").utf8
        )
        for start in stride(from: 0, to: bytes.count, by: pieceByteCount) {
            try client.send(Array(bytes[start..<min(start + pieceByteCount, bytes.count)]))
        }
        #expect(try client.readResponse().text.contains("body hello world"))
        #expect(try client.get("/after").status == 200)
    }

    @Test("a streamed answer is chunked, or has the promised length")
    func streams() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let chunked = try client.get("/stream?chunks=3&size=4")
        #expect(chunked.header("transfer-encoding") == "chunked")
        #expect(chunked.text == "111122223333")
        let counted = try client.get("/stream?chunks=2&size=4&promise=8")
        #expect(counted.header("content-length") == "8")
        #expect(counted.text == "11112222")
    }

    @Test("HTTP/1.0 gets a stream that ends with the connection")
    func oldStream() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send("GET /stream HTTP/1.0\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.text == "111122223333")
        #expect(response.header("connection") == "close")
    }

    @Test("a stream that breaks its promise ends with a cut connection", arguments: [5, 100])
    func brokenPromise(promised: Int) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(
            "GET /stream?chunks=3&size=4&promise=\(promised) HTTP/1.1\r\nHost: h\r\n\r\n"
        )
        #expect(throws: RawClient.Failure.self) { try client.readResponse() }
    }

    @Test("a stream is pulled only as the socket drains")
    func pulled() throws {
        let server = try TestServer()
        let client = try RawClient(server.port, receiveBuffer: 4096)
        let total = 2000
        try client.send("GET /stream?chunks=\(total)&size=65536 HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try client.readUntil("\r\n\r\n")
        // The loop has gone round since it could send no more.
        _ = try RawClient(server.port).get("/turn")
        let pulled = server.read { $0.pulledCount }
        #expect(pulled > 0 && pulled < total / 2, "128 MB cannot be in the kernel's buffers")
    }

    @Test("HTTP/1.0 closes, unless it asks for keep-alive")
    func oldVersion() throws {
        let server = try TestServer()
        let closing = try RawClient(server.port)
        #expect(try closing.request("GET / HTTP/1.0\r\n\r\n").status == 200)
        #expect(closing.isEndedByPeer())
        let staying = try RawClient(server.port)
        let text = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
        #expect(try staying.request(text).header("connection") == "keep-alive")
        #expect(try staying.request(text).status == 200)
    }

    @Test("Connection: close ends the connection after the answer")
    func connectionClose() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.request("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(response.header("connection") == "close")
        #expect(client.isEndedByPeer())
    }

    @Test("a refusal reaches a client that is still sending its body")
    func refusedUpload() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send("PUT /forbidden HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n")
        try client.send([UInt8](repeating: 0x20, count: 200_000))
        #expect(try client.readResponse().status == 403)
        #expect(client.isEndedByPeer())
    }

    @Test("a client that ends its sending half still gets its answer")
    func halfClosed() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send("GET /big?bytes=3000000 HTTP/1.1\r\nHost: h\r\n\r\n")
        client.finishSending()
        #expect(try client.readResponse().body.count == 3_000_000)
    }

    @Test("the application learns that a peer leaves before its answer")
    func aborted() throws {
        let server = try TestServer()
        var client: RawClient? = try RawClient(server.port)
        try client?.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        server.wait { $0.heldExchanges.count == 1 }
        #expect(server.read { $0.heldExchanges[0].isAnswerable })
        client = nil
        server.wait { $0.abortedCount == 1 }
        #expect(server.read { !$0.heldExchanges[0].isAnswerable })
    }

    @Test("an answer may come later, and requests behind it wait")
    func laterAnswer() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(
            "GET /hold HTTP/1.1\r\nHost: h\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n"
        )
        server.wait { $0.heldExchanges.count == 1 }
        #expect(server.read { $0.headCount } == 1)
        server.read { $0.heldExchanges.removeLast().respond(.text(200, "at last")) }
        #expect(try client.readResponse().text == "at last\n")
        #expect(try client.readResponse().text.hasPrefix("GET /next"))
    }

    @Test("a header value cannot begin another header")
    func responseSplitting() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let response = try client.get("/header?value=a%0d%0aSet-Cookie:%20b")
        #expect(response.header("x-echo") == "a  Set-Cookie: b")
        #expect(response.header("set-cookie") == nil)
    }

    @Test("a body of 1 MB arrives unharmed")
    func largeBody() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let sum = body.reduce(UInt32(7)) { $0 &* 31 &+ UInt32($1) }
        try client.send("PUT /sum HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n")
        try client.send(body)
        #expect(try client.readResponse().text == "\(body.count) \(sum)\n")
        #expect(server.counters.inboundByteCount == 0)
    }

    @Test("unfinished bodies have a limit together")
    func overloaded() throws {
        let server = try TestServer { $0.limits.inboundByteCount = 100_000 }
        let first = try RawClient(server.port)
        try first.send("PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n\r\n")
        try first.send([UInt8](repeating: 0x20, count: 80_000))
        let second = try RawClient(server.port)
        try second.send("PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n\r\n")
        try second.send([UInt8](repeating: 0x20, count: 80_000))
        // Which of the two comes too late is a matter of scheduling.
        var loser = second
        while !loser.wait(for: 1, milliseconds: 10) { loser = loser === first ? second : first }
        #expect(try loser.readResponse().status == 503)
    }

    @Test("the peer's address is known")
    func peerAddress() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        server.wait { $0.heldExchanges.count == 1 }
        #expect(server.read { $0.heldExchanges[0].head.peerAddress } == "127.0.0.1")
        #expect(server.read { $0.heldExchanges[0].head.peerPort } > 0)
    }

    @Test("connections over the limit are closed")
    func connectionLimit() throws {
        let server = try TestServer { $0.limits.connectionCount = 1 }
        let first = try RawClient(server.port)
        #expect(try first.get("/").status == 200)
        let second = try RawClient(server.port)
        #expect(second.isEndedByPeer())
        #expect(try first.get("/").status == 200)
        #expect(server.counters.failedAcceptCount == 1)
    }

    @Test("a busy port is a typed error that names address, cause and holder")
    func busyPort() throws {
        let server = try TestServer()
        let port = server.port
        let error = #expect(throws: TransportError.self) {
            _ = try TestServer { $0.port = port }
        }
        let start =
            "cannot listen on 127.0.0.1 port \(port): Address already in use by process \(getpid()) ("
        let text = error?.description ?? ""
        #expect(text.hasPrefix(start) && text.hasSuffix("); stop it, or choose another port"))
    }

    @Test("an address of another machine cannot be bound")
    func foreignAddress() throws {
        let error = #expect(throws: TransportError.self) {
            _ = try TestServer { $0.host = "192.0.2.1" }
        }
        #expect(error?.description.contains("cannot listen on 192.0.2.1 port 0: ") == true)
    }
}
