import TestSupport
import LoopSupport
import Testing

@testable import Transport

@Suite("Bytes of unfinished things")
struct HeldBytesTests {
    /// An account and the things that it counts.
    private final class Account {
        private(set) var held: HeldBytes
        private(set) var things: [String: Int] = [:]

        init(byteLimit: Int, shareByteCount: Int) {
            held = HeldBytes(byteLimit: byteLimit, shareByteCount: shareByteCount)
        }

        func hold(_ total: Int, _ thing: String, of client: String) -> HeldBytes.Outcome {
            held.hold(total, for: &things[thing, default: 0], of: client)
        }
    }

    @Test("several things of one client have a share, one alone has not")
    func share() {
        let account = Account(byteLimit: 1_000, shareByteCount: 100)
        #expect(account.hold(500, "a", of: "x") == .held)
        #expect(account.hold(1, "b", of: "x") == .overShare)
        #expect(account.things["b"] == 0)
        #expect(account.hold(60, "b", of: "y") == .held)
        #expect(account.hold(40, "c", of: "y") == .held)
        #expect(account.hold(41, "c", of: "y") == .overShare)
        #expect(account.hold(20, "b", of: "y") == .held)
        #expect(account.hold(80, "c", of: "y") == .held)
        #expect(account.held.byteCount == 600)
    }

    @Test("over the limit of all, the client that holds most is named, whichever wants more")
    func limit() {
        let account = Account(byteLimit: 1_000, shareByteCount: 1_000)
        #expect(account.hold(600, "a", of: "greedy") == .held)
        #expect(account.hold(400, "b", of: "other") == .held)
        #expect(account.hold(1, "c", of: "third") == .overLimit(greediest: "greedy"))
        #expect(account.hold(700, "b", of: "other") == .overLimit(greediest: "other"))
        #expect(account.hold(0, "a", of: "greedy") == .held)
        #expect(account.hold(1, "c", of: "third") == .held)
        #expect(account.held.byteCount == 401)
    }

    @Test("random changes leave the sums of what is held, and nothing once all is let go")
    func random() {
        var generator = TestSeed.generator(1)
        var held = HeldBytes(byteLimit: 50_000, shareByteCount: 9_000)
        var things = [Int](repeating: 0, count: 60)
        func client(_ index: Int) -> String { "\(index % 7)" }
        for _ in 0..<20_000 {
            let index = Int.random(in: 0..<60, using: &generator)
            let wanted = Bool.random(using: &generator) ? 0 : Int.random(in: 0...3_000)
            let before = things[index]
            let outcome = held.hold(wanted, for: &things[index], of: client(index))
            if outcome != .held { #expect(things[index] == before) }
            #expect(held.byteCount == things.reduce(0, +))
            #expect(held.byteCount <= 50_000)
        }
        for index in things.indices { _ = held.hold(0, for: &things[index], of: client(index)) }
        #expect(held.byteCount == 0)
    }

    /// Begins a message of 50,000 bytes and sends so many of them.
    private func begin(_ client: RawClient, _ count: Int) throws {
        let frame = RawClient.frame(1, [UInt8](repeating: 0x61, count: 50_000))
        try client.send(Array(frame[..<(8 + count)]))
    }

    @Test("unfinished messages of one address have a share; another address is not concerned")
    func addressShare() throws {
        let server = try TestServer {
            $0.limits.inboundByteCount = 1_000_000
            $0.limits.inboundShareByteCount = 100_000
        }
        let clients = try (0..<3).map { _ in try RawClient.webSocket(server.port) }
        let other = try RawClient.webSocket(server.port, from: 2)
        server.wait { $0.webSockets.count == 4 }
        for client in clients { try begin(client, 40_000) }
        try begin(other, 40_000)
        server.wait { !$0.closedCauses.isEmpty }
        #expect(server.read { $0.closedCauses } == [.peerFault(code: 1013)])
        try other.send([UInt8](repeating: 0x61, count: 10_000))
        #expect(try other.readFrame().payload.count == 50_000)
        let counters = server.counters
        #expect(counters.overloadCount == 1)
        #expect(counters.badFrameCount == 0)
        #expect(counters.inboundByteCount == 80_000)
        // Their sockets are open up to here.
        withExtendedLifetime(clients) {}
    }

    /// Asks for two answers of which the kernel takes a part, and reads nothing.
    private func askAndWait(_ server: TestServer, from: UInt32) throws -> RawClient {
        let listener = server.listener
        let before = server.counters.sentByteCount
        let client = try RawClient(server.port, receiveBuffer: 4096, from: from)
        let request = "GET /big?bytes=20000000 HTTP/1.1\r\nHost: h\r\n\r\n"
        try client.send(request + request)
        while onLoop({ listener.counters.sentByteCount }) == before {}
        // Until all have what they can take.
        while onLoop({ EventLoop.shared.flusher.hasWork }) {}
        return client
    }

    @Test("answers that no client reads have a share for an address and a limit for all")
    func unreadAnswers() throws {
        let server = try TestServer {
            $0.limits.outboundShareByteCount = 45_000_000
            $0.limits.outboundByteCount = 65_000_000
        }
        var greedy = try (0..<2).map { _ in try askAndWait(server, from: 2) }
        #expect(server.counters.cutAnswerCount == 0)
        #expect(server.counters.outboundByteCount > 20_000_000)
        // Two have their share; a third is cut, and none of the two.
        greedy.append(try askAndWait(server, from: 2))
        #expect(server.counters.cutAnswerCount == 1)
        #expect(greedy[2].isEndedByPeer())
        let others = try (3..<5).map { try askAndWait(server, from: $0) }
        // One of the greedy made room for all there is of the newcomers.
        #expect(server.counters.cutAnswerCount == 2)
        #expect(server.counters.outboundByteCount < 65_000_000)
        for other in others {
            for _ in 0..<2 { #expect(try other.readResponse().body.count == 20_000_000) }
        }
        greedy = []
        let listener = server.listener
        while onLoop({ listener.counters.outboundByteCount }) > 0 {}
    }

    @Test("over the limit of all, the largest of the greediest address ends, not the newcomer")
    func greediest() throws {
        let server = try TestServer { $0.limits.inboundByteCount = 100_000 }
        let large = try RawClient.webSocket(server.port)
        let small = try RawClient.webSocket(server.port)
        server.wait { $0.webSockets.count == 2 }
        try begin(large, 49_000)
        try begin(small, 30_000)
        let listener = server.listener
        while onLoop({ listener.counters.inboundByteCount }) < 79_000 {}
        let newcomer = try RawClient.webSocket(server.port, from: 2)
        try begin(newcomer, 40_000)
        #expect(try large.readCloseCode() == 1013)
        try newcomer.send([UInt8](repeating: 0x61, count: 10_000))
        #expect(try newcomer.readFrame().payload.count == 50_000)
        try small.send([UInt8](repeating: 0x61, count: 20_000))
        #expect(try small.readFrame().payload.count == 50_000)
        #expect(server.counters.inboundByteCount == 0)
    }
}
