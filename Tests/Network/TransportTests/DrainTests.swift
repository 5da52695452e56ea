import Glibc
import LoopSupport
import Testing

@testable import Transport

@Suite("Draining and the life of the loop")
struct DrainTests {
    private func drain(_ server: TestServer, within limit: Duration) -> Waiter<Int> {
        let waiter = Waiter<Int>()
        let listener = server.listener
        EventLoop.shared.enqueue { listener.drain(within: limit) { waiter.fulfil($0) } }
        return waiter
    }

    @Test("every WebSocket gets a Close frame of 1001, and what was sent before it")
    func closeFrames() throws {
        let server = try TestServer()
        let clients = try (0..<10).map { _ in try RawClient.webSocket(server.port) }
        server.wait { $0.webSockets.count == 10 }
        server.read { application in
            for webSocket in application.webSockets { webSocket.send(SharedFrame(text: "last")) }
        }
        let drained = drain(server, within: .seconds(10))
        for client in clients {
            #expect(try client.readFrame().text == "last")
            #expect(try client.readCloseCode() == 1001)
            try client.send(RawClient.frame(8, [0x03, 0xe9]))
            #expect(client.isEndedByPeer())
        }
        for client in clients { client.finishSending() }
        #expect(drained.wait() == 0)
        #expect(
            server.read { $0.closedCauses } == Array(repeating: .closedHere(code: 1001), count: 10)
        )
    }

    @Test("a request under way is answered, idle connections end, new ones are refused")
    func requestUnderWay() throws {
        let server = try TestServer()
        let busy = try RawClient(server.port)
        try busy.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
        server.wait { $0.heldExchanges.count == 1 }
        var idle: RawClient? = try RawClient(server.port)
        #expect(try idle?.get("/").status == 200)
        let drained = drain(server, within: .seconds(10))
        #expect(idle?.isEndedByPeer() == true)
        idle = nil
        // It is refused, unless another program has got the port by now.
        _ = try? RawClient(server.port)
        #expect(server.counters.connectionCount == 2)
        server.read { $0.heldExchanges.removeLast().respond(.text(200, "done")) }
        let response = try busy.readResponse()
        #expect(response.text == "done\n" && response.header("connection") == "close")
        #expect(busy.isEndedByPeer())
        busy.finishSending()
        #expect(drained.wait() == 0)
        #expect(server.counters.openConnectionCount == 0)
    }

    @Test("a silent peer is cut at the deadline")
    func deadline() throws {
        let server = try TestServer()
        let client = try RawClient.webSocket(server.port)
        server.wait { $0.webSockets.count == 1 }
        let drained = drain(server, within: .milliseconds(100))
        #expect(drained.wait() == 1)
        #expect(try client.readCloseCode() == 1001)
        #expect(client.isEndedByPeer())
    }

    @Test("an idle client that keeps its end open does not hold the drain up")
    func idleClient() throws {
        let server = try TestServer()
        let client = try RawClient(server.port)
        #expect(try client.get("/").status == 200)
        #expect(drain(server, within: .seconds(10)).wait() == 0)
        #expect(client.isEndedByPeer())
    }

    @Test("an empty listener drains at once, and its port is free")
    func empty() throws {
        // Another program on this machine may take a port that is free: not each time.
        let again = try #require(
            (0..<20).lazy.compactMap { _ -> TestServer? in
                do {
                    let server = try TestServer()
                    #expect(drain(server, within: .seconds(10)).wait() == 0)
                    let port = server.port
                    return try TestServer { $0.port = port }
                } catch {
                    return nil
                }
            }.first
        )
        #expect(try RawClient(again.port).get("/").status == 200)
    }

    @Test("run owns the calling thread until stop, and leaves nothing behind")
    func runAndStop() async {
        await #expect(processExitsWith: .success) {
            try EventLoop.shared.run {
                var configuration = TransportConfiguration()
                configuration.port = 0
                let application = TestApplication()
                let listener = try Listener(configuration, application: application)
                let client = try RawClient(listener.port)
                try client.send(RawClient.handshake("/ws"))
                application.observer = { event in
                    guard event == "opened" else { return }
                    // With a socket open: the loop cuts it and every handle closes.
                    EventLoop.shared.stop()
                    withExtendedLifetime(client) {}
                }
            }
        }
    }

    @Test("what the start of run throws ends the loop and is thrown on")
    func startFails() async {
        await #expect(processExitsWith: .success) {
            #expect(throws: TransportError.self) {
                try EventLoop.shared.run {
                    var configuration = TransportConfiguration()
                    configuration.port = 70_000
                    _ = try Listener(configuration, application: TestApplication())
                }
            }
        }
    }

    @Test("what is enqueued before the loop runs is run by it")
    func earlyJobs() async {
        await #expect(processExitsWith: .success) {
            EventLoop.shared.enqueue { EventLoop.shared.stop() }
            try EventLoop.shared.run {}
        }
    }

    // lws: accepts in a tight loop, logging, for as long as descriptors are out.
    @Test("a process out of descriptors rests from accepting, then goes on")
    func outOfDescriptors() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let server = try TestServer()
            var clients: [RawClient] = []
            // Every second descriptor is the server's end.
            while let client = try? RawClient(server.port) { clients.append(client) }
            while server.counters.failedAcceptCount == 0 {}
            let before = onLoop { EventLoop.shared.counters.tickCount }
            _ = clients[0].wait(for: 4, milliseconds: 300)
            let after = onLoop { EventLoop.shared.counters.tickCount }
            precondition(after - before < 100, "the loop rests")
            clients = []
            let status = try RawClient(server.port).get("/").status
            precondition(status == 200, "and goes on")
        }
    }

    @Test("signals arrive on the loop")
    func signals() async {
        await #expect(processExitsWith: .success) {
            try EventLoop.shared.run {
                EventLoop.shared.onSignal(SIGTERM) { EventLoop.shared.stop() }
                kill(getpid(), SIGTERM)
            }
        }
    }

    @Test("jobs of other threads run on the loop, in order")
    func jobs() {
        let waiter = Waiter<[Int]>()
        let order = Order()
        _ = onLoop { true }
        for number in 0..<1000 {
            EventLoop.shared.enqueue {
                order.numbers.append(number)
                if number == 999 { waiter.fulfil(order.numbers) }
            }
        }
        #expect(waiter.wait() == Array(0..<1000))
    }

    @LoopActor
    final class Order {
        var numbers: [Int] = []
        nonisolated init() {}
    }

    @Test("async code hops to the loop and back")
    func hop() async {
        _ = onLoop { true }
        let isOnLoop = await Task { @LoopActor in EventLoop.shared.isIsolatingCurrentContext() }
            .value
        #expect(isOnLoop == true)
        #expect(EventLoop.shared.isIsolatingCurrentContext() == false)
    }

    @Test("timers ring in order of their time, and cancelled ones never")
    func timers() {
        let waiter = Waiter<[Int]>()
        let order = Order()
        startLoop()
        EventLoop.shared.enqueue {
            for (number, delay) in [(3, 30), (1, 10), (2, 20), (9, 15)] {
                let timer = EventLoop.shared.after(.milliseconds(delay)) {
                    order.numbers.append(number)
                    if number == 3 { waiter.fulfil(order.numbers) }
                }
                if number == 9 { timer.cancel() }
            }
        }
        #expect(waiter.wait() == [1, 2, 3])
    }

    @Test("a repeating timer repeats until it is cancelled")
    func repeating() {
        let waiter = Waiter<Int>()
        let order = Order()
        startLoop()
        EventLoop.shared.enqueue {
            var timer: LoopTimer?
            timer = EventLoop.shared.every(.milliseconds(5)) {
                order.numbers.append(0)
                guard order.numbers.count == 3 else { return }
                timer?.cancel()
                EventLoop.shared.after(.milliseconds(25)) { waiter.fulfil(order.numbers.count) }
            }
        }
        #expect(waiter.wait() == 3)
    }

    @Test("a timer set for now by a timer rings, although the network is silent")
    func chainedTimers() {
        let waiter = Waiter<Int>()
        let order = Order()
        startLoop()
        EventLoop.shared.enqueue { chain(order, waiter, length: 2_000) }
        #expect(waiter.wait() == 2_000)
    }

    /// Sets one timer from within the other until there were `length`.
    @LoopActor
    private func chain(_ order: Order, _ waiter: Waiter<Int>, length: Int) {
        guard order.numbers.count < length else { return waiter.fulfil(order.numbers.count) }
        order.numbers.append(0)
        EventLoop.shared.after(.zero) { chain(order, waiter, length: length) }
    }
}
