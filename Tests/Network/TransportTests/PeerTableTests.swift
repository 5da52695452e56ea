import LoopSupport
import Testing

@testable import Transport

@Suite("Connections of one peer")
struct PeerTableTests {
    private static let second: UInt64 = 1_000_000_000

    /// A table that can be asked within an expectation.
    private final class Peers {
        private var table: PeerTable

        init(_ limits: PeerLimits) { table = PeerTable(limits) }

        var count: Int { table.count }
        func admits(_ network: UInt64, now: UInt64) -> Bool { table.admits(network, now: now) }
        func opened(_ network: UInt64) { table.opened(network) }
        func closed(_ network: UInt64) { table.closed(network) }
    }

    private func limits(open: Int = 0, perSecond: Int = 0) -> PeerLimits {
        var limits = PeerLimits()
        limits.connectionCount = open
        limits.connectionsPerSecond = perSecond
        return limits
    }

    @Test("ten seconds' worth may come at once, the next is refused, and another peer is not")
    func burst() {
        let table = Peers(limits(perSecond: 3))
        let now = 5 * Self.second
        for _ in 0..<30 { #expect(table.admits(1, now: now)) }
        #expect(!table.admits(1, now: now))
        #expect(table.admits(2, now: now))
    }

    @Test("a share that is used up comes back at its rate, and never grows beyond a burst")
    func refill() {
        let table = Peers(limits(perSecond: 4))
        var now = Self.second
        for _ in 0..<40 { #expect(table.admits(1, now: now)) }
        now += Self.second / 4 - 1
        #expect(!table.admits(1, now: now))
        now += 1
        #expect(table.admits(1, now: now))
        #expect(!table.admits(1, now: now))
        now += 1_000 * Self.second
        var admitted = 0
        for _ in 0..<100 where table.admits(1, now: now) { admitted += 1 }
        #expect(admitted == 40)
    }

    @Test("refused tries cost a peer nothing")
    func refusedIsFree() {
        let table = Peers(limits(perSecond: 1))
        for _ in 0..<10 { #expect(table.admits(1, now: 0)) }
        for _ in 0..<1_000 { #expect(!table.admits(1, now: 0)) }
        #expect(table.admits(1, now: Self.second))
    }

    @Test("as many may be open as the limit says; a closed one makes room")
    func open() {
        let table = Peers(limits(open: 2))
        for _ in 0..<2 {
            #expect(table.admits(1, now: 0))
            table.opened(1)
        }
        #expect(!table.admits(1, now: 0))
        #expect(table.admits(2, now: 0))
        table.closed(1)
        #expect(table.admits(1, now: 0))
    }

    @Test("without limits nothing is kept")
    func unlimited() {
        let table = Peers(limits())
        for network in 0..<5_000 {
            #expect(table.admits(UInt64(network), now: 0))
            table.opened(UInt64(network))
        }
        #expect(table.count == 0)
    }

    @Test("peers that are gone and whole again are forgotten, others are not")
    func sweep() {
        let table = Peers(limits(open: 5, perSecond: 1))
        #expect(table.admits(0, now: 0))
        table.opened(0)
        for network in 1..<100_000 {
            #expect(table.admits(UInt64(network), now: UInt64(network) * Self.second / 100))
        }
        #expect(table.count < 3_000)
        for _ in 0..<4 {
            #expect(table.admits(0, now: 1_000 * Self.second))
            table.opened(0)
        }
        #expect(!table.admits(0, now: 1_000 * Self.second))
    }

    @Test(
        "a connection more than the limit is reset before a byte is read; another address is served"
    )
    func listener() throws {
        let server = try TestServer { $0.limits.peer.connectionCount = 3 }
        let clients = try (0..<3).map { _ in try RawClient(server.port) }
        for client in clients { #expect(try client.get("/").status == 200) }
        #expect(try RawClient(server.port).isEndedByPeer())
        #expect(try RawClient(server.port, from: 2).get("/").status == 200)
        #expect(try clients[0].get("/").status == 200)
        let counters = server.counters
        #expect(counters.refusedConnectionCount == 1)
        #expect(counters.connectionCount == 4)
        let listener = server.listener
        let refusals = onLoop { listener.takeRefusals().map { "\($0.count) \($0.address)" } }
        #expect(refusals == "1 127.0.0.1")
        #expect(onLoop { listener.takeRefusals() == nil })
    }

    @Test("a new connection over the rate is reset; one that speaks for others is not limited")
    func rate() throws {
        let server = try TestServer {
            // 10 at once, the next after a second: none of the test's.
            $0.limits.peer.connectionsPerSecond = 1
            $0.speaksForOthers = { $0 == "127.0.0.9" }
        }
        var served = 0
        for _ in 0..<30 where (try? RawClient(server.port).get("/").status) == 200 { served += 1 }
        // A machine that stands still gives some back.
        #expect(served >= 10)
        #expect(server.counters.refusedConnectionCount == 30 - served)
        for _ in 0..<30 { #expect(try RawClient(server.port, from: 9).get("/").status == 200) }
    }
}
