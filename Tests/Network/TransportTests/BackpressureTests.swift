import LoopSupport
import Testing

@testable import Transport

@Suite("Sending: joined, shared, bounded")
struct BackpressureTests {
    @Test("frames of one tick leave in one segment, in order")
    func joined() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        server.wait { $0.webSockets.count == 1 }
        server.read { application in
            for number in 0..<1000 {
                application.webSockets[0].send(SharedFrame(text: "frame \(number)"))
            }
        }
        for number in 0..<1000 { #expect(try client.readFrame().text == "frame \(number)") }
        #expect(server.counters.sentFrameCount == 1000)
    }

    @Test("a burst larger than the queue limit reaches a reader who keeps up")
    func burst() throws {
        let server = try TestServer { $0.limits.queueByteCount = 64 * 1024 }
        let client = try RawClient.webSocket(server.port)
        server.wait { $0.webSockets.count == 1 }
        let frame = SharedFrame(text: [UInt8](repeating: 0x61, count: 1000))
        server.read { application in
            for _ in 0..<100 { application.webSockets[0].send(frame) }
        }
        for _ in 0..<100 { #expect(try client.readFrame().payload.count == 1000) }
        #expect(server.counters.slowReaderCount == 0)
    }

    @Test("a slow reader is cut with its cause, and no other connection is")
    func slowReader() throws {
        let server = try TestServer { $0.limits.queueByteCount = 100_000 }
        let slow = try RawClient.webSocket(server.port, "/ws?greet=slow", receiveBuffer: 4096)
        let quick = try RawClient.webSocket(server.port, "/ws?greet=quick")
        #expect(try slow.readFrame().text == "slow")
        #expect(try quick.readFrame().text == "quick")
        server.wait { $0.webSockets.count == 2 }
        let frame = SharedFrame(text: [UInt8](repeating: 0x61, count: 30_000))
        var sent = 0
        while server.read({ $0.closedCauses.isEmpty }) {
            server.read { application in
                for webSocket in application.webSockets { webSocket.send(frame) }
            }
            #expect(try quick.readFrame().payload.count == 30_000)
            sent += 1
            try #require(sent < 2000, "the kernel cannot hold 60 MB for one reader")
        }
        #expect(server.counters.slowReaderCount == 1)
        let causes = server.read { $0.closedCauses }
        guard case .slowReader(let waiting) = causes[0] else {
            Issue.record("closed because of \(causes)")
            return
        }
        #expect(waiting > 100_000 && waiting < 200_000)
        try quick.sendText("still here")
        while try quick.readFrame().text != "still here" {}
    }

    @Test("one message may be larger than the queue limit; what waits behind it may not")
    func largeHead() throws {
        let server = try TestServer { $0.limits.queueByteCount = 50_000 }
        let client = try RawClient.webSocket(server.port, receiveBuffer: 4096)
        server.wait { $0.webSockets.count == 1 }
        let large = SharedFrame(text: [UInt8](repeating: 0x61, count: 20_000_000))
        let small = SharedFrame(text: [UInt8](repeating: 0x62, count: 20_000))
        server.read { application in
            application.webSockets[0].send(large)
            application.webSockets[0].send(small)
            application.webSockets[0].send(small)
        }
        #expect(server.read { $0.closedCauses.isEmpty })
        #expect(server.read { $0.webSockets[0].queuedByteCount } > 1_000_000)
        #expect(try client.readFrame().payload.count == 20_000_000)
        #expect(try client.readFrame().payload.count == 20_000)
        #expect(try client.readFrame().payload.count == 20_000)
        server.read { application in
            application.webSockets[0].send(large)
            for _ in 0..<3 { application.webSockets[0].send(small) }
        }
        server.wait { $0.closedCauses.count == 1 }
        #expect(server.counters.slowReaderCount == 1)
    }

    @Test("a reader that trickles is cut after the progress time")
    func trickle() throws {
        let server = try TestServer { $0.timeouts.progress = .milliseconds(150) }
        let client = try RawClient.webSocket(server.port, receiveBuffer: 4096)
        server.wait { $0.webSockets.count == 1 }
        let large = SharedFrame(text: [UInt8](repeating: 0x61, count: 20_000_000))
        server.read { $0.webSockets[0].send(large) }
        server.wait { $0.closedCauses == [.stalled] }
        _ = client.isEndedByPeer()
    }

    @Test("a stream is pulled as the socket drains, and later frames wait behind it")
    func stream() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port, receiveBuffer: 4096)
        server.wait { $0.webSockets.count == 1 }
        let total = 1000
        server.read { application in
            let webSocket = application.webSockets[0]
            webSocket.send(SharedFrame(text: "before"))
            webSocket.sendStream {
                guard application.pulledCount < total else { return .end }
                application.pulledCount += 1
                return .next(SharedFrame(text: [UInt8](repeating: 0x73, count: 16_384)))
            }
            webSocket.send(SharedFrame(text: "after"))
        }
        #expect(try client.readFrame().text == "before")
        #expect(server.read { $0.pulledCount } < total, "16 MB cannot be in the kernel's buffers")
        for _ in 0..<total { #expect(try client.readFrame().payload.count == 16_384) }
        #expect(try client.readFrame().text == "after")
    }

    @Test("a stream that waits is asked again when it says so")
    func waitingStream() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        server.wait { $0.webSockets.count == 1 }
        server.read { application in
            let webSocket = application.webSockets[0]
            webSocket.sendStream {
                application.pulledCount += 1
                switch application.pulledCount {
                case 1: return .next(SharedFrame(text: "one"))
                case 2: return .wait
                case 3: return .next(SharedFrame(text: "two"))
                default: return .end
                }
            }
            webSocket.send(SharedFrame(text: "three"))
        }
        #expect(try client.readFrame().text == "one")
        #expect(!client.wait(for: 1, milliseconds: 30))
        server.read { $0.webSockets[0].resumeStream() }
        #expect(try client.readFrame().text == "two")
        #expect(try client.readFrame().text == "three")
    }

    @Test(
        "an event stream over HTTP waits and goes on; the application learns that a reader leaves"
    )
    func eventStream() throws {
        let server = try TestServer()
        var client: RawClient? = try RawClient(server.port)
        try client?.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        server.wait { $0.heldExchanges.count == 1 }
        server.read { application in
            application.heldExchanges[0].respondStream(
                status: 200,
                headers: [("Content-Type", "text/event-stream")],
                byteCount: nil
            ) {
                application.pulledCount += 1
                return application.pulledCount % 2 == 1 ? .next(Array("event\n\n".utf8)) : .wait
            }
        }
        _ = try client?.readUntil("event\n\n")
        server.read { $0.heldExchanges[0].resumeStream() }
        _ = try client?.readUntil("event\n\n")
        client = nil
        server.wait { $0.abortedCount == 1 }
    }

    // lws: while its own list of unsent bytes is not empty it neither reads the socket nor stops
    // watching it.
    @Test("a peer that sends without reading does not make the loop spin")
    func spin() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port, receiveBuffer: 4096)
        server.wait { $0.webSockets.count == 1 }
        let large = SharedFrame(text: [UInt8](repeating: 0x61, count: 20_000_000))
        server.read { $0.webSockets[0].send(large) }
        try client.send(RawClient.frame(10, []))
        let before = onLoop { EventLoop.shared.counters.tickCount }
        _ = client.wait(for: 4, milliseconds: 200)
        let after = onLoop { EventLoop.shared.counters.tickCount }
        #expect(after - before < 20_000, "a spinning loop turns hundreds of thousands of times")
        // Input is read although output is stuck.
        try client.send(RawClient.frame(8, [0x03, 0xe8]))
        server.wait { $0.closedCauses == [.peerClosed(code: 1000)] }
    }

    @Test("a fan-out to many is flushed in slices, and everyone gets everything in order")
    func fanOut() throws {
        let server = try TestServer()
        let clients = try (0..<600).map { _ in try RawClient.webSocket(server.port) }
        server.wait { $0.webSockets.count == 600 }
        let before = onLoop { EventLoop.shared.counters.flushSliceCount }
        server.read { application in
            for number in 0..<3 {
                let frame = SharedFrame(text: "event \(number)")
                for webSocket in application.webSockets { webSocket.send(frame) }
            }
        }
        for client in clients {
            for number in 0..<3 { #expect(try client.readFrame().text == "event \(number)") }
        }
        #expect(onLoop { EventLoop.shared.counters.flushSliceCount } >= before + 2)
    }
}
