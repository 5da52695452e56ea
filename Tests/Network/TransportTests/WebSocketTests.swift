import Testing

@testable import Transport

@Suite("WebSockets over a real socket")
struct WebSocketTests {
    @Test("a message comes back", arguments: [1, 125, 126, 65535, 65536, 1_000_000])
    func echo(byteCount: Int) throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        let text = String(repeating: "x", count: byteCount)
        try client.sendText(text)
        let frame = try client.readFrame()
        #expect(frame.operation == 1 && frame.isFinal)
        #expect(frame.text == text)
    }

    @Test("the handshake has the accept value of RFC 6455's example")
    func acceptValue() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(RawClient.handshake("/ws"))
        let response = try client.readResponse()
        #expect(response.status == 101)
        #expect(response.header("sec-websocket-accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(response.header("sec-websocket-extensions") == nil)
    }

    @Test("the application chooses the subprotocol")
    func subprotocol() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(
            RawClient.handshake("/events", "Sec-WebSocket-Protocol: hearth.events.v1, other\r\n")
        )
        #expect(
            try client.readResponse().header("sec-websocket-protocol") == "hearth.events.v1"
        )
    }

    // lws: drops a client that offers only unknown subprotocols, without a reply.
    @Test("an unknown subprotocol is not the end")
    func unknownSubprotocol() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(RawClient.handshake("/ws", "Sec-WebSocket-Protocol: unknown\r\n"))
        let response = try client.readResponse()
        #expect(response.status == 101)
        #expect(response.header("sec-websocket-protocol") == nil)
    }

    @Test("a refused upgrade is an HTTP answer")
    func refused() throws {
        let server = try TestServer()
        let wrong = try RawClient(server.port)
        try wrong.send(RawClient.handshake("/elsewhere"))
        let response = try wrong.readResponse()
        #expect(response.status == 404 && response.text == "no WebSocket here\n")
        #expect(wrong.isEndedByPeer())
        let forbidden = try RawClient(server.port)
        try forbidden.send(RawClient.handshake("/forbidden"))
        #expect(try forbidden.readResponse().status == 403)
        #expect(server.counters.refusedCount == 2)
    }

    @Test("query parameters are known when the WebSocket opens")
    func greeting() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port, "/ws?greet=hello+there")
        #expect(try client.readFrame().text == "hello there")
    }

    @Test("frames that come with the handshake are read")
    func eagerFrames() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(
            Array(RawClient.handshake("/ws").utf8) + RawClient.frame(1, Array("early".utf8))
        )
        #expect(try client.readResponse().status == 101)
        #expect(try client.readFrame().text == "early")
    }

    @Test(
        "a bad handshake is answered",
        arguments: [
            ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8", 426),
            ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "X: y", 400),
            ("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=", 400),
            ("dGhlIHNhbXBsZSBub25jZQ==", "!!!!!!!!!!!!!!!!!!!!!!==", 400),
            ("GET ", "POST ", 400),
            ("HTTP/1.1", "HTTP/1.0", 400),
            ("Host: localhost", "Host: localhost\r\nContent-Length: 3", 400),
        ]
    )
    func badHandshake(part: String, replacement: String, status: Int) throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send(RawClient.handshake("/ws").replacing(part, with: replacement))
        #expect(try client.readResponse().status == status)
        #expect(client.isEndedByPeer())
    }

    @Test("a message in fragments, with a ping between, is one message")
    func fragments() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        try client.send(RawClient.frame(1, Array("one \u{20ac}".utf8).dropLast(2), isFinal: false))
        try client.send(RawClient.frame(9, Array("ping".utf8)))
        try client.send(RawClient.frame(0, [], isFinal: false))
        try client.send(RawClient.frame(0, Array("\u{20ac}".utf8).suffix(2) + Array(" two".utf8)))
        #expect(try client.readFrame() == .init(operation: 10, payload: Array("ping".utf8)))
        #expect(try client.readFrame().text == "one \u{20ac} two")
    }

    @Test("frames cut at every byte are read the same")
    func bytewise() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        let bytes =
            RawClient.frame(1, Array("abc".utf8))
            + RawClient.frame(1, [UInt8](repeating: 0x79, count: 200))
        for byte in bytes { try client.send([byte]) }
        #expect(try client.readFrame().text == "abc")
        #expect(try client.readFrame().text == String(repeating: "y", count: 200))
    }

    @Test("the application is notified of a Close frame at once, and the peer gets its echo")
    func closeHandshake() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        try client.send(RawClient.frame(8, [0x03, 0xe9]))
        // The client's TCP stays open: what counts is the frame.
        server.wait { $0.closedCauses == [.peerClosed(code: 1001)] }
        #expect(try client.readFrame() == .init(operation: 8, payload: [0x03, 0xe9]))
        #expect(client.isEndedByPeer())
        #expect(server.read { $0.closedCauses.count } == 1)
    }

    @Test("a Close frame without a code is echoed without one")
    func emptyClose() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        try client.send(RawClient.frame(8, []))
        #expect(try client.readFrame() == .init(operation: 8, payload: []))
        server.wait { $0.closedCauses == [.peerClosed(code: nil)] }
    }

    // lws: data pipelined after a close is still delivered.
    @Test("nothing is received after a Close frame")
    func dataAfterClose() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        try client.send(RawClient.frame(8, [0x03, 0xe8]) + RawClient.frame(1, Array("late".utf8)))
        #expect(try client.readCloseCode() == 1000)
        #expect(try client.readToEnd().isEmpty)
        #expect(server.counters.receivedFrameCount == 0)
    }

    @Test("a peer that vanishes is reported once")
    func vanished() throws {
        let server = try TestServer()
        var client: RawClient? = try RawClient.webSocket(server.port)
        try client?.sendText("x")
        _ = try client?.readFrame()
        client = nil
        server.wait { $0.closedCauses == [.socketEnded] }
        #expect(server.counters.openWebSocketCount == 0)
    }

    @Test("the server closes: what was sent before goes first, and the peer's answer ends it")
    func closedHere() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        try client.sendText("first")
        try client.sendText("close me")
        #expect(try client.readFrame().text == "first")
        let close = try client.readFrame()
        #expect(
            close.code == 4001
                && String(decoding: close.payload.dropFirst(2), as: UTF8.self) == "as asked"
        )
        server.wait { $0.closedCauses == [.closedHere(code: 4001)] }
        try client.send(RawClient.frame(8, [0x0f, 0xa1]))
        #expect(client.isEndedByPeer())
        #expect(server.read { $0.closedCauses.count } == 1)
    }

    @Test("a peer that never answers a Close is cut")
    func closeUnanswered() throws {
        let server = try TestServer { $0.timeouts.goodbye = .milliseconds(100) }
        let client = try RawClient.webSocket(server.port)
        try client.sendText("close me")
        #expect(try client.readCloseCode() == 4001)
        #expect(client.isEndedByPeer())
    }

    @Test("drop cuts without a Close frame")
    func drop() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        try client.sendText("drop me")
        #expect(try client.readToEnd().isEmpty)
        server.wait { $0.closedCauses == [.dropped] }
    }

    struct Breach: Sendable, CustomTestStringConvertible {
        let what: String
        let bytes: [UInt8]
        let code: Int
        var testDescription: String { what }
    }

    static let breaches: [Breach] = [
        Breach(what: "binary", bytes: RawClient.frame(2, [1]), code: 1003),
        // lws: accepts unmasked frames.
        Breach(what: "unmasked", bytes: RawClient.frame(1, [0x61], isMasked: false), code: 1002),
        Breach(what: "reserved bit", bytes: RawClient.frame(1, [0x61], reserved: 4), code: 1002),
        Breach(what: "reserved data code", bytes: RawClient.frame(3, []), code: 1002),
        Breach(what: "reserved control code", bytes: RawClient.frame(11, []), code: 1002),
        Breach(what: "stray continuation", bytes: RawClient.frame(0, [0x61]), code: 1002),
        Breach(
            what: "text within a message",
            bytes: RawClient.frame(1, [0x61], isFinal: false) + RawClient.frame(1, [0x61]),
            code: 1002
        ),
        Breach(
            what: "ping in fragments",
            bytes: RawClient.frame(9, [], isFinal: false),
            code: 1002
        ),
        // lws: drops an over-long control frame without a Close.
        Breach(
            what: "long ping",
            bytes: RawClient.frame(9, [UInt8](repeating: 1, count: 126)),
            code: 1002
        ),
        // lws: echoes a close body of one byte.
        Breach(what: "close of one byte", bytes: RawClient.frame(8, [3]), code: 1002),
        Breach(what: "close with 1005", bytes: RawClient.frame(8, [0x03, 0xed]), code: 1002),
        Breach(what: "close with 999", bytes: RawClient.frame(8, [0x03, 0xe7]), code: 1002),
        Breach(
            what: "close with bad text",
            bytes: RawClient.frame(8, [0x03, 0xe8, 0xff]),
            code: 1007
        ),
        Breach(what: "long form of a short length", bytes: [0x81, 0xfe, 0, 5], code: 1002),
        Breach(
            what: "length with the top bit",
            bytes: [0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4],
            code: 1002
        ),
        Breach(what: "bad UTF-8", bytes: RawClient.frame(1, [0x61, 0xff]), code: 1007),
        Breach(what: "surrogate", bytes: RawClient.frame(1, [0xed, 0xa0, 0x80]), code: 1007),
        Breach(what: "cut character", bytes: RawClient.frame(1, [0xe2, 0x82]), code: 1007),
        Breach(
            what: "bad UTF-8 in the first fragment",
            bytes: RawClient.frame(1, [0xc0], isFinal: false),
            code: 1007
        ),
        Breach(
            what: "large",
            bytes: RawClient.frame(1, [UInt8](repeating: 0x61, count: 1001)),
            code: 1009
        ),
        Breach(
            what: "huge, header only",
            bytes: [0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4],
            code: 1009
        ),
        Breach(
            what: "large in fragments",
            bytes: RawClient.frame(1, [UInt8](repeating: 0x61, count: 600), isFinal: false)
                + RawClient.frame(0, [UInt8](repeating: 0x61, count: 600)),
            code: 1009
        ),
    ]

    @Test("a breach of the protocol is answered with its Close code", arguments: breaches)
    func breach(breach: Breach) throws {
        let server = try TestServer { $0.limits.messageByteCount = 1000 }
        let client = try RawClient.webSocket(server.port)
        // The long form of a short length needs the rest of its header to be seen.
        try client.send(
            breach.what.hasPrefix("long form") ? breach.bytes + [1, 2, 3, 4] : breach.bytes
        )
        #expect(try client.readCloseCode() == breach.code)
        #expect(client.isEndedByPeer())
        server.wait { $0.closedCauses == [.peerFault(code: UInt16(breach.code))] }
        #expect(server.counters.receivedFrameCount == 0)
        #expect(server.counters.badFrameCount == 1)
        #expect(server.counters.inboundByteCount == 0)
    }

    @Test("a silent peer is pinged, and dropped when it does not answer")
    func hangup() throws {
        let server = try TestServer {
            $0.timeouts.ping = .milliseconds(100)
            $0.timeouts.hangup = .milliseconds(800)
        }
        let client = try RawClient.webSocket(server.port)
        #expect(try client.readFrame() == .init(operation: 9, payload: []))
        #expect(try client.readToEnd().isEmpty)
        server.wait { $0.closedCauses == [.silent] }
        #expect(server.counters.timeoutCount == 1)
    }

    @Test("a peer that answers pings and says nothing is closed; one that has spoken may be silent")
    func firstMessage() throws {
        let server = try TestServer { $0.timeouts.ping = .milliseconds(50) }
        server.read { $0.silence = .seconds(60) }
        let spoken = try RawClient.webSocket(server.port)
        #expect(server.read { $0.webSockets.map { $0.speakingDeadline == nil } } == [false])
        try spoken.sendText("here")
        while try spoken.readFrame().text != "here" {}
        #expect(server.read { $0.webSockets.map { $0.speakingDeadline == nil } } == [true])
        server.read { $0.silence = .milliseconds(200) }
        let silent = try RawClient.webSocket(server.port)
        var frame = try silent.readFrame()
        while frame.operation == 9 {
            try silent.send(RawClient.frame(10, []))
            frame = try silent.readFrame()
        }
        #expect(frame.operation == 8 && frame.payload.prefix(2) == [0x03, 0xF0], "1008")
        server.wait { $0.closedCauses == [.closedHere(code: 1008)] }
        #expect(server.counters.timeoutCount == 1)
    }

    @Test("a peer that answers pings stays; any frame counts as life")
    func alive() throws {
        let server = try TestServer {
            $0.timeouts.ping = .milliseconds(50)
            $0.timeouts.hangup = .seconds(8)
        }
        let client = try RawClient.webSocket(server.port)
        for _ in 0..<4 {
            #expect(try client.readFrame().operation == 9)
            try client.send(RawClient.frame(10, []))
        }
        for _ in 0..<2 {
            #expect(try client.readFrame().operation == 9)
            try client.sendText("alive")
            #expect(try client.readFrame().text == "alive")
        }
        #expect(server.read { $0.webSockets.count } == 1)
    }
}
