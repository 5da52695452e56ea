import LoopSupport
import Testing

@testable import Transport

@Suite("Answers whose body is pushed")
struct PushTests {
    /// Begins to push to the newest request that is held.
    private func begin(_ server: TestServer) throws -> PushedResponse {
        try #require(
            server.read { application in
                application.heldExchanges.removeLast()
                    .respondPushed(status: 200, headers: [("Content-Type", "text/plain")])
            }
        )
    }

    private func ask(_ server: TestServer, _ request: String, receiveBuffer: Int32? = nil) throws
        -> RawClient
    {
        let client = try RawClient(server.port, receiveBuffer: receiveBuffer)
        try client.send(request)
        server.wait { !$0.heldExchanges.isEmpty }
        return client
    }

    private static let request = "GET /hold HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test("are chunks that all receivers share, and end as a body does")
    func chunked() throws {
        let server = try TestServer()
        let client = try ask(server, Self.request)
        let response = try begin(server)
        let chunk = SharedChunk(text: Array("0123456789abcdef".utf8))
        onLoop {
            response.send(chunk)
            response.send(SharedChunk(text: Array("tail".utf8)))
            response.end()
            // The peer has left: this goes nowhere.
            response.send(chunk)
        }
        let head = try client.readUntil("\r\n\r\n")
        #expect(head.contains("Transfer-Encoding: chunked\r\n"))
        #expect(head.contains("Connection: close\r\n"))
        let body = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(body == "10\r\n0123456789abcdef\r\n4\r\ntail\r\n0\r\n\r\n")
        #expect(chunk.byteCount == 22)
        #expect(server.read { $0.abortedCount } == 0)
    }

    @Test("are bare text to HTTP/1.0, until the connection closes")
    func oldClient() throws {
        let server = try TestServer()
        let client = try ask(server, "GET /hold HTTP/1.0\r\n\r\n")
        let response = try begin(server)
        onLoop {
            response.send(SharedChunk(text: Array("one".utf8)))
            var parts = ["two", "three"][...]
            response.sendStream { parts.popFirst().map { .next(Array($0.utf8)) } ?? .end }
            response.end()
        }
        #expect(try !client.readUntil("\r\n\r\n").contains("Transfer-Encoding"))
        #expect(try client.readToEnd() == Array("onetwothree".utf8))
    }

    @Test("carry pulled parts in their place among the others")
    func pulled() throws {
        let server = try TestServer()
        let client = try ask(server, Self.request)
        let response = try begin(server)
        onLoop {
            response.send(SharedChunk(text: Array("a".utf8)))
            var parts = ["b", "", "c"][...]
            response.sendStream { parts.popFirst().map { .next(Array($0.utf8)) } ?? .end }
            response.send(SharedChunk(text: Array("d".utf8)))
            response.end()
        }
        _ = try client.readUntil("\r\n\r\n")
        let body = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(body == "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n1\r\nd\r\n0\r\n\r\n")
    }

    @Test("that have ended behind a part that is waited for go on when it is there, and end")
    func endedBehindWait() throws {
        let server = try TestServer()
        let client = try ask(server, Self.request)
        let response = try begin(server)
        let parts = WaitedParts()
        onLoop {
            response.sendStream { parts.next() }
            response.send(SharedChunk(text: Array("z".utf8)))
            response.end()
        }
        _ = try client.readUntil("\r\n\r\n")
        _ = parts.asked.wait()
        onLoop {
            parts.texts = ["a"]
            response.resumeStream()
        }
        let body = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(body == "1\r\na\r\n1\r\nz\r\n0\r\n\r\n")
    }

    @Test("of HEAD are the head alone, and the connection goes on")
    func head() throws {
        let server = try TestServer()
        let client = try ask(server, "HEAD /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        let response = server.read {
            $0.heldExchanges.removeLast().respondPushed(status: 200, headers: [])
        }
        #expect(response == nil)
        #expect(try client.readResponse(isHead: true).status == 200)
        #expect(try client.get("/big?bytes=3").body.count == 3)
    }

    @Test("are not disturbed by requests behind theirs, which are never answered")
    func pipelined() throws {
        let server = try TestServer()
        let client = try ask(server, String(repeating: Self.request, count: 5_000))
        let response = try begin(server)
        onLoop { response.send(SharedChunk(text: Array("x".utf8))) }
        _ = try client.readUntil("\r\n\r\n")
        #expect(try client.readUntil("x\r\n").hasSuffix("1\r\nx\r\n"))
        onLoop { response.end() }
        _ = try client.readUntil("0\r\n\r\n")
        #expect(server.read { $0.heldExchanges.count } == 0)
    }

    @Test("tell the application that the peer has left")
    func aborted() throws {
        let server = try TestServer()
        var client: RawClient? = try ask(server, Self.request)
        let response = try begin(server)
        _ = try client?.readUntil("\r\n\r\n")
        client = nil
        server.wait { $0.abortedCount == 1 }
        #expect(onLoop { !response.isOpen && response.queuedByteCount == 0 })
    }

    @Test("cut a slow reader at the queue limit, and no other")
    func slowReader() throws {
        let server = try TestServer { $0.limits.queueByteCount = 100_000 }
        let slow = try ask(server, Self.request, receiveBuffer: 4096)
        let slowResponse = try begin(server)
        let quick = try ask(server, Self.request)
        let quickResponse = try begin(server)
        _ = try slow.readUntil("\r\n\r\n")
        _ = try quick.readUntil("\r\n\r\n")
        let chunk = SharedChunk(text: [UInt8](repeating: 0x61, count: 30_000))
        var sent = 0
        while server.read({ $0.abortedCount == 0 }) {
            onLoop {
                slowResponse.send(chunk)
                quickResponse.send(chunk)
            }
            #expect(try quick.read(chunk.byteCount) == chunk.bytes)
            sent += 1
            try #require(sent < 2000, "the kernel cannot hold 60 MB for one reader")
        }
        #expect(server.counters.slowReaderCount == 1)
        let waiting = try #require(onLoop { slowResponse.slowReaderByteCount })
        #expect(waiting > 100_000 && waiting < 200_000)
        #expect(onLoop { quickResponse.isOpen && quickResponse.slowReaderByteCount == nil })
    }
}

/// Parts that are not there when they are first asked for.
@LoopActor
private final class WaitedParts {
    var texts: [String]?
    /// Brought by the first call of `next`.
    nonisolated let asked = Waiter<Bool>()

    nonisolated init() {}

    func next() -> StreamStep<[UInt8]> {
        asked.fulfil(true)
        guard texts != nil else { return .wait }
        guard texts?.isEmpty == false, let text = texts?.removeFirst() else { return .end }
        return .next(Array(text.utf8))
    }
}
