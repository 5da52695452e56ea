import Foundation
import LoopSupport
import TestSupport
import Testing

@testable import Transport

/// Bodies that are copied as the socket takes them.
@Suite("copied bodies")
struct CopyTests {
    /// A body whose byte at each offset is known, and what was asked of it.
    @LoopActor
    private final class Content {
        let byteCount: Int
        /// Bytes that one copy gives at most.
        var mostByteCount = Int.max
        /// How often the next copies say that there is nothing yet.
        var waits = 0
        var ends = false
        private(set) var offset = 0
        private(set) var copyCount = 0
        /// Copies that gave bytes again that a copy before had given.
        private(set) var repeatCount = 0
        /// For each tick with a copy the bytes that were taken.
        private(set) var takenInTick: [Int: Int] = [:]
        private var copiedEnd = 0

        private let bytes: [UInt8]

        nonisolated init(_ byteCount: Int) {
            self.byteCount = byteCount
            bytes = Self.bytes(byteCount)
        }

        /// A block again and again, which has no length that anything else has.
        nonisolated static func bytes(_ count: Int) -> [UInt8] {
            let block = (0..<65_003).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count + block.count)
            while bytes.count < count { bytes += block }
            bytes.removeLast(bytes.count - count)
            return bytes
        }

        func copy(into room: UnsafeMutableRawBufferPointer) -> StreamStep<Int> {
            copyCount += 1
            if waits > 0 {
                waits -= 1
                return .wait
            }
            if ends { return .end }
            // Never fewer than are owed.
            let count = min(max(mostByteCount, copiedEnd - offset), room.count, byteCount - offset)
            bytes.withUnsafeBytes {
                room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
            }
            if copiedEnd > offset { repeatCount += 1 }
            copiedEnd = max(copiedEnd, offset + count)
            return .next(count)
        }

        func taken(_ count: Int) {
            offset += count
            takenInTick[EventLoop.shared.counters.tickCount, default: 0] += count
        }
    }

    /// Answers the request that is held, with a body of this content.
    private func answer(_ server: TestServer, _ index: Int = 0, with content: Content) {
        server.wait { $0.heldExchanges.count > index }
        server.read { application in
            application.heldExchanges[index].respondCopying(
                status: 200,
                headers: [("X-Copied", "yes")],
                byteCount: content.byteCount
            ) {
                content.copy(into: $0)
            } taken: {
                content.taken($0)
            }
        }
    }

    @Test("have their bytes, and another request is answered behind them")
    func whole() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        for path in ["hold", "next"] { try client.send("GET /\(path) HTTP/1.1\r\nHost: h\r\n\r\n") }
        let content = Content(300_001)
        answer(server, with: content)
        let response = try client.readResponse()
        #expect(response.status == 200)
        #expect(response.header("content-length") == "300001")
        #expect(response.body == Content.bytes(300_001))
        let next = String(decoding: try client.readResponse().body, as: UTF8.self)
        #expect(next.hasPrefix("GET /next"))
    }

    @Test("of a peer that does not read are copied as far as the socket goes, and come again")
    func slowReader() throws {
        let server = try TestServer()
        let client = try RawClient(server.port, receiveBuffer: 4096)
        try client.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        let content = Content(20_000_000)
        answer(server, with: content)
        #expect(client.wait(for: 1))
        untilFull(content)
        #expect(onLoop { content.offset } < 20_000_000, "20 MB cannot be in the kernel's buffers")
        #expect(try client.readResponse().body == Content.bytes(20_000_000))
        #expect(onLoop { content.repeatCount } > 0, "no copy was cut by a full socket")
    }

    /// Waits until the socket takes no more: then nothing is copied in ticks that come later.
    private func untilFull(_ content: Content) {
        var before = -1
        while true {
            let now = onLoop { content.copyCount }
            if now > 0, now == before { return }
            before = now
            onTicks(50)
        }
    }

    /// Lets the loop tick so often.
    private func onTicks(_ count: Int) {
        for _ in 0..<count { onLoop {} }
    }

    @Test("that wait are asked again when they say so, also when they give few bytes at a time")
    func waiting() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        let content = Content(10_000)
        onLoop {
            content.waits = 1
            content.mostByteCount = 999
        }
        answer(server, with: content)
        onTicks(3)
        #expect(onLoop { content.copyCount } == 1)
        server.read { $0.heldExchanges[0].resumeStream() }
        #expect(try client.readResponse().body == Content.bytes(10_000))
        #expect(onLoop { content.copyCount } == 12)
    }

    @Test("that end before their last byte cut the connection")
    func cut() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        let content = Content(1_000_000)
        onLoop { content.ends = true }
        answer(server, with: content)
        let rest = try client.readToEnd()
        #expect(rest.starts(with: "HTTP/1.1 200 OK\r\n".utf8))
        #expect(rest.suffix(4).elementsEqual("\r\n\r\n".utf8))
        server.wait { $0.abortedCount == 1 }
    }

    @Test("of an answer to HEAD are not asked for")
    func head() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        try client.send("HEAD /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        let content = Content(1_000_000)
        answer(server, with: content)
        let response = try client.readResponse(isHead: true)
        #expect(response.header("content-length") == "1000000")
        #expect(onLoop { content.copyCount } == 0)
    }

    @Test("of a peer that leaves are dropped")
    func left() throws {
        let server = try TestServer()
        var client: RawClient? = try RawClient(server.port, receiveBuffer: 4096)
        try client?.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        answer(server, with: Content(50_000_000))
        #expect(client?.wait(for: 1) == true)
        client = nil
        server.wait { $0.abortedCount == 1 }
    }

    @Test("take turns: a tick sends a bounded part of all, and none is far ahead")
    func fair() throws {
        let server = try TestServer()
        let clients = try (0..<6).map { _ in try RawClient(server.port) }
        let contents = clients.map { _ in Content(2_000_000) }
        for (index, client) in clients.enumerated() {
            try client.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
            answer(server, index, with: contents[index])
        }
        for client in clients {
            #expect(try client.readResponse().body.count == 2_000_000)
        }
        let ticks = onLoop {
            contents.map(\.takenInTick).reduce(into: [:]) { sum, taken in
                sum.merge(taken) { $0 + $1 }
            }
        }
        let most = ticks.values.max() ?? 0
        #expect(most < TickLimits.tickByteCount + TickLimits.copiedByteCount)
        for content in contents {
            let own = onLoop { content.takenInTick.values.max() ?? 0 }
            #expect(own < 2 * TickLimits.copiedByteCount)
        }
    }

    @Test("come whole over TLS to a peer that reads late")
    func tls() throws {
        let identity = try TLSTests.Identity("hearth.test")
        let server = try TestServer { $0.tls = identity.files }
        let client = try TLSTests.Client(server.port)
        try client.send(Array("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        let content = Content(8_000_000)
        answer(server, with: content)
        // The pipe of the program is full long before.
        untilFull(content)
        #expect(onLoop { content.offset } < 8_000_000)
        #expect(try client.readUntil("\r\n\r\n").contains("Content-Length: 8000000\r\n"))
        #expect(try client.read(8_000_000) == Data(Content.bytes(8_000_000)))
        #expect(onLoop { content.repeatCount } > 0, "no record was cut by a full socket")
    }
}
