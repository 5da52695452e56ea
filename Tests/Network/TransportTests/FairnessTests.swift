import Foundation
import Glibc
import LoopSupport
import Testing

@testable import Transport

/// How much one connection makes the loop do while others wait, counted in messages and ticks.
///
/// Tests that are about a tick itself have a process of their own: the loop is one, and other tests take their share of it.
@Suite("Fairness: what a tick gives to one connection")
struct FairnessTests {
    /// What the loop did, in its order.
    @LoopActor
    private final class Diary {
        var events: [(tick: Int, what: String)] = []

        nonisolated init() {}

        func note(_ what: String) { events.append((EventLoop.shared.counters.tickCount, what)) }

        /// How often `what` happened before `other` first did.
        func count(of what: String, before other: String) -> Int? {
            guard let end = events.firstIndex(where: { $0.what == other }) else { return nil }
            return events[..<end].count { $0.what == what }
        }

        /// The most often that `what` happened in one tick.
        func most(of what: String) -> Int {
            var countByTick: [Int: Int] = [:]
            for event in events where event.what == what {
                countByTick[event.tick, default: 0] += 1
            }
            return countByTick.values.max() ?? 0
        }
    }

    /// Keeps the loop from looking at sockets until `body` is done.
    private func holdingLoop(_ body: () throws -> Void) rethrows {
        let isHeld = Semaphore()
        let gate = Semaphore()
        EventLoop.shared.enqueue {
            isHeld.signal()
            _ = gate.wait()
        }
        #expect(isHeld.wait())
        defer { gate.signal() }
        try body()
    }

    @Test("a burst of 10,000 messages lets another connection's message through after 64 at most")
    func burst() throws {
        let server = try TestServer()
        let bomber = try RawClient.webSocket(server.port)
        let probe = try RawClient.webSocket(server.port)
        server.wait { $0.webSockets.count == 2 }
        let diary = Diary()
        server.read { $0.observer = { diary.note($0) } }
        let message = RawClient.frame(1, Array("bomb".utf8))
        try holdingLoop {
            try bomber.send(Array(repeatElement(message, count: 10_000).joined()))
            try probe.sendText("probe")
        }
        #expect(try probe.readFrame().text == "probe")
        let before = onLoop { diary.count(of: "received bomb", before: "received probe") }
        #expect(try #require(before) <= 4 * TickLimits.messagesPerConnection)
        for _ in 0..<10_000 { #expect(try bomber.readFrame().text == "bomb") }
        let most = onLoop { diary.most(of: "received bomb") }
        #expect(most <= TickLimits.messagesPerConnection)
    }

    @Test("a Close behind a burst is heard after all of it, and nothing after the Close")
    func closeBehindBurst() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        server.wait { $0.webSockets.count == 1 }
        let diary = Diary()
        server.read { $0.observer = { diary.note($0) } }
        let message = RawClient.frame(1, Array("bomb".utf8))
        let close = RawClient.frame(8, [3, 232])
        try client.send(
            Array(repeatElement(message, count: 1_000).joined()) + close + message
        )
        #expect(try client.readCloseCode() == 1000)
        let events = onLoop { diary.events.map(\.what) }
        #expect(events == Array(repeating: "received bomb", count: 1_000) + ["closed"])
    }

    @Test("messages are held until the application wants them, in order, and nothing is lost")
    func held() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        server.wait { $0.webSockets.count == 1 }
        let diary = Diary()
        server.read { application in
            application.observer = { what in
                diary.note(what)
                if what == "received 1" { application.webSockets[0].holdMessages() }
            }
        }
        try client.send((0..<100).flatMap { RawClient.frame(1, Array("\($0)".utf8)) })
        for number in 0..<2 { #expect(try client.readFrame().text == "\(number)") }
        // Sent while it holds: 200 KB, more than one read takes.
        let long = [UInt8](repeating: 0x61, count: 1_000)
        for _ in 0..<200 { try client.send(RawClient.frame(1, long)) }
        #expect(onLoop { diary.events.count } == 2)
        server.read { $0.webSockets[0].resumeMessages() }
        for number in 2..<100 { #expect(try client.readFrame().text == "\(number)") }
        for _ in 0..<200 { #expect(try client.readFrame().payload == long) }
    }

    @Test("500 pipelined requests are 16 a tick, and another connection's is answered among them")
    func pipelined() throws {
        let server = try TestServer()
        let greedy = try RawClient(server.port)
        let probe = try RawClient(server.port)
        let request = "GET /header?value=1 HTTP/1.1\r\nHost: h\r\n\r\n"
        // Both are known to the loop before it is held.
        #expect(try greedy.request(request).status == 200)
        #expect(try probe.request(request).status == 200)
        let before = server.read { $0.headCount }
        let waiter = Waiter<Int>()
        let application = server.application
        try holdingLoop {
            try greedy.send(String(repeating: request, count: 500))
            try probe.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
            // Before the loop goes on: this thread may be late afterwards.
            EventLoop.shared.enqueue {
                if !application.heldExchanges.isEmpty {
                    waiter.fulfil(application.headCount)
                } else {
                    application.observer = { _ in waiter.fulfil(application.headCount) }
                }
            }
        }
        // One of them is the probe's.
        #expect(waiter.wait() - before <= 4 * TickLimits.messagesPerConnection + 1)
        for _ in 0..<500 { #expect(try greedy.readResponse().status == 200) }
        server.read { $0.heldExchanges[0].respond(.text(200, "held")) }
        #expect(try probe.readResponse().status == 200)
    }

    @Test("an answer does not stand in line behind a push to many")
    func prompt() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            let clients = try (0..<100).map { _ in try RawClient.webSocket(server.port) }
            server.wait { $0.webSockets.count == 100 }
            let seen = FairnessTests().pushAndAnswer(server)
            #expect(seen.answer == 0)
            #expect(seen.waiting >= 99 - 2 * TickLimits.flushedConnections)
            let texts = try clients.map { try $0.readFrame().text }
            #expect(texts.sorted() == ["answer"] + Array(repeating: "push", count: 99))
        }
    }

    /// Pushes to all but the first, answers that one a tick later, and says a tick later how many bytes of the answer
    /// wait, and how many connections.
    private func pushAndAnswer(_ server: TestServer) -> (answer: Int, waiting: Int) {
        let application = server.application
        let waiter = Waiter<(answer: Int, waiting: Int)>()
        EventLoop.shared.enqueue {
            let push = SharedFrame(text: "push")
            for webSocket in application.webSockets.dropFirst() { webSocket.send(push) }
            // While most of the push still waits.
            EventLoop.shared.enqueue {
                let answered = application.webSockets[0]
                answered.send(SharedFrame(text: "answer"))
                EventLoop.shared.enqueue {
                    let waiting = application.webSockets.count { $0.queuedByteCount > 0 }
                    waiter.fulfil((answered.queuedByteCount, waiting))
                }
            }
        }
        return waiter.wait()
    }

    @Test("streams take turns: each makes one piece while the others make one")
    func streams() throws {
        let server = try TestServer()
        let clients = try (0..<5).map { _ in try RawClient.webSocket(server.port) }
        server.wait { $0.webSockets.count == 5 }
        let diary = Diary()
        let piece = SharedFrame(text: [UInt8](repeating: 0x73, count: TickLimits.pulledByteCount))
        server.read { application in
            for (number, webSocket) in application.webSockets.enumerated() {
                var left = 20
                webSocket.sendStream {
                    guard left > 0 else { return .end }
                    left -= 1
                    diary.note("\(number)")
                    return .next(piece)
                }
            }
        }
        for client in clients {
            for _ in 0..<20 {
                #expect(try client.readFrame().payload.count == TickLimits.pulledByteCount)
            }
        }
        let events = onLoop { diary.events }
        #expect(events.count == 100)
        // No tick makes two, and while all have more, none is ahead by more than one or two (a
        // socket that was full for a moment loses its place).
        #expect(Set(events.map(\.tick)).count == 100)
        for end in stride(from: 5, through: 50, by: 5) {
            let counts = (0..<5).map { number in
                events[..<end].count { $0.what == "\(number)" }
            }
            #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 2)
        }
    }

    @Test("connections dropped at once are cut over several ticks")
    func dropped() throws {
        let server = try TestServer()
        let clients = try (0..<200).map { _ in try RawClient.webSocket(server.port) }
        server.wait { $0.webSockets.count == 200 }
        let application = server.application
        let diary = Diary()
        let isOver = Waiter<Bool>()
        server.read { application in
            application.observer = { what in
                diary.note(what)
                if application.webSockets.isEmpty { isOver.fulfil(true) }
            }
            for webSocket in application.webSockets { webSocket.drop() }
        }
        _ = isOver.wait()
        let most = onLoop { diary.most(of: "closed") }
        #expect(most <= TickLimits.destroyedConnections)
        #expect(onLoop { application.closedCauses.count } == 200)
        #expect(clients.allSatisfy { $0.isEndedByPeer() })
    }

    @Test("peers that leave at once are taken off over several ticks")
    func leaving() throws {
        let server = try TestServer()
        var clients = try (0..<200).map { _ in try RawClient.webSocket(server.port) }
        server.wait { $0.webSockets.count == 200 }
        let diary = Diary()
        let isOver = Waiter<Bool>()
        server.read { application in
            application.observer = { what in
                diary.note(what)
                if application.webSockets.isEmpty { isOver.fulfil(true) }
            }
        }
        holdingLoop { clients = [] }
        #expect(clients.isEmpty)
        _ = isOver.wait()
        #expect(onLoop { diary.events.count } == 200)
        // `CTransport` serves 64 sockets a tick.
        #expect(onLoop { diary.most(of: "closed") } <= 64)
        // As many again may have a TLS handshake to make.
        #expect(onLoop { EventLoop.shared.counters.mostServedCount } <= 2 * 64)
    }

    @Test("the table of descriptors has its size before sockets come: growing holds an accept up")
    func descriptors() throws {
        startLoop()
        onLoop {}
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("FDSize:") })
        let size = try #require(UInt64(line.split(separator: "\t")[1]))
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(size >= min(limit.rlim_cur, 65_536))
    }

    /// Notes each tick which WebSockets have sent something, until each of them has.
    @LoopActor
    private static func watchSending(
        _ webSockets: [WebSocketConnection],
        _ before: [Int],
        _ unsent: Set<Int>,
        _ diary: Diary,
        _ isOver: Waiter<Bool>
    ) {
        let now = webSockets.map(\.queuedByteCount)
        let sent = webSockets.indices.filter { now[$0] < before[$0] }
        for _ in sent { diary.note("sent") }
        let unsent = unsent.subtracting(sent)
        if unsent.isEmpty { return isOver.fulfil(true) }
        EventLoop.shared.enqueue { watchSending(webSockets, now, unsent, diary, isOver) }
    }

    @Test("sockets that have room again at once are written to over several ticks")
    func room() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            let clients = try (0..<200).map { _ in
                try RawClient.webSocket(server.port, receiveBuffer: 4096)
            }
            server.wait { $0.webSockets.count == 200 }
            let frame = SharedFrame(text: [UInt8](repeating: 0x61, count: 5_000_000))
            server.read { application in
                for webSocket in application.webSockets { webSocket.send(frame) }
            }
            // Until all are full.
            while onLoop({ EventLoop.shared.flusher.hasWork }) {}
            let queued = server.read { $0.webSockets.map(\.queuedByteCount) }
            #expect(queued.allSatisfy { $0 > 1_000_000 })
            let diary = Diary()
            let isOver = Waiter<Bool>()
            let application = server.application
            try FairnessTests().holdingLoop {
                for (client, queued) in zip(clients, queued) {
                    _ = try client.read(frame.bytes.count - queued)
                }
                EventLoop.shared.enqueue {
                    let webSockets = application.webSockets
                    let all = Set(webSockets.indices)
                    FairnessTests.watchSending(webSockets, queued, all, diary, isOver)
                }
            }
            _ = isOver.wait()
            // `CTransport` serves 64 sockets a tick; those that stay writable are sent to at its end.
            let most = onLoop { diary.most(of: "sent") }
            #expect(most <= 64 + TickLimits.flushedConnections + TickLimits.promptConnections)
            #expect(server.read { $0.closedCauses.isEmpty })
        }
    }

    @Test("jobs of other threads that take long leave room for sockets between them")
    func jobs() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            let probe = try RawClient.webSocket(server.port)
            server.wait { $0.webSockets.count == 1 }
            let diary = Diary()
            server.read { $0.observer = { diary.note($0) } }
            let share = TickLimits.share.nanoseconds
            try FairnessTests().holdingLoop {
                for _ in 0..<20 {
                    EventLoop.shared.enqueue {
                        diary.note("job")
                        let end = monotonicNanoseconds() + share
                        while monotonicNanoseconds() < end {}
                    }
                }
                try probe.sendText("probe")
            }
            #expect(try probe.readFrame().text == "probe")
            let before = onLoop { diary.count(of: "job", before: "received probe") }
            #expect(try #require(before) <= 3)
            #expect(onLoop { diary.most(of: "job") } == 1)
        }
    }

    @Test("the greatest of the last minute is forgotten after it")
    func recent() {
        var recent = RecentMaximum()
        let second: UInt64 = 1_000_000_000
        #expect(recent.value(at: 0) == 0)
        recent.note(7, at: 5 * second)
        recent.note(9, at: 5 * second + 1)
        recent.note(8, at: 6 * second)
        #expect(recent.value(at: 6 * second) == 9)
        #expect(recent.value(at: 64 * second) == 9)
        #expect(recent.value(at: 65 * second) == 8)
        #expect(recent.value(at: 66 * second) == 0)
        recent.note(3, at: 66 * second)
        #expect(recent.value(at: 66 * second) == 3)
    }
}
