import DatabaseCore
import JSONTree
import Queries
import SecurityRules
import Testing
import WireProtocol

@Suite("Event streams of the engine")
struct EngineStreamTests {
    private static let rules = #"""
        {"rules":{".write":true,"a":{".read":"root.child('ok').child(auth.uid).val() == true"}}}
        """#

    /// Asks for a stream of `/a` as a user; the connection and the request have the same number.
    @discardableResult
    private func stream(_ driver: EngineDriver, _ number: UInt64, as user: String) throws
        -> [Effect]
    {
        let auth = Node.absent.with("uid", Node(string: user))
        let request = Request(
            database: driver.database,
            credential: .admin(override: .value(auth)),
            operation: .stream(ConnectionID(number), try Path("a"), .everything, isExport: false),
        )
        return driver.step(.requested(request, id: RequestID(number)))
    }

    private func events(_ effects: [Effect]) -> [(text: String, receivers: [ConnectionID])] {
        effects.compactMap { effect in
            guard case .send(.serverSent(let text), let receivers) = effect else { return nil }
            return (String(decoding: text, as: UTF8.self), receivers)
        }
    }

    @Test("a change is one text for all streams of a place")
    func shared() throws {
        let driver = EngineDriver()
        for number in 1...1_500 { try stream(driver, UInt64(number), as: "ann") }
        let sent = events(try driver.put("/a/b", Node(string: "x")))
        #expect(sent.count == 1)
        #expect(sent.first?.text == "event: put\ndata: {\"path\":\"/b\",\"data\":\"x\"}\n\n")
        #expect(sent.first?.receivers.count == 1_500)
    }

    @Test("of very many streams whose rule looked at a change none is sent what it may not read")
    func held() throws {
        let driver = EngineDriver(rules: try Ruleset.load(Self.rules))
        let yes = Node(true)
        try driver.put("/ok", Node.absent.with("ann", yes).with("bob", yes))
        for number in 1...2_000 {
            let began = try stream(driver, UInt64(number), as: number % 2 == 0 ? "ann" : "bob")
            #expect(events(began).count == 1)
        }
        // More decisions than are made at once: until theirs, all of them are sent nothing.
        try driver.put("/ok", Node.absent.with("ann", yes))
        #expect(events(try driver.put("/a", Node(string: "secret"))).isEmpty)
        var cancelled: Set<ConnectionID> = []
        var notified: Set<ConnectionID> = []
        var closed: Set<ConnectionID> = []
        while driver.engine.hasWork {
            let effects = driver.step(.longWork(steps: 2_000))
            for case .close(let connection, .permissionDenied) in effects {
                closed.insert(connection)
            }
            for (text, receivers) in events(effects) {
                if text.hasPrefix("event: cancel\n") {
                    cancelled.formUnion(receivers)
                } else {
                    #expect(text == "event: put\ndata: {\"path\":\"/\",\"data\":\"secret\"}\n\n")
                    notified.formUnion(receivers)
                }
            }
        }
        #expect(cancelled.count == 1_000 && cancelled == closed)
        #expect(cancelled.allSatisfy { $0.value % 2 == 1 })
        #expect(notified.count == 1_000 && notified.isDisjoint(with: cancelled))
    }

    @Test("large values are sent from their snapshots, in order among the others")
    func large() throws {
        let driver = EngineDriver()
        var large = Node.absent
        for number in 0..<5_000 { large.set(Node(string: "x"), at: try Path("k\(number)")) }
        try driver.put("/a", large)
        let first = try stream(driver, 1, as: "ann")
        guard case .respond(_, .streaming(let connection)) = first.dropLast().last,
            case .send(.serverSentStream(var event), to: let receivers) = first.last
        else {
            Issue.record("the first value is not streamed: \(first.count) effects")
            return
        }
        #expect(connection == ConnectionID(1) && receivers == [connection])
        var text: [UInt8] = []
        while event.next(into: &text, atLeast: 1_000) {}
        #expect(text.count > 50_000 && text.suffix(3) == Array("}\n\n".utf8)[...])
        // Of a window, each large child by itself.
        let sent = try driver.put("/a", Node.absent.with("l", large).with("s", Node(string: "y")))
        let isStreamed = sent.contains { effect in
            if case .send(.serverSentStream, _) = effect { return true }
            return false
        }
        #expect(isStreamed)
    }

    @Test("a connection that ends takes its stream along")
    func ended() throws {
        let driver = EngineDriver()
        try stream(driver, 1, as: "ann")
        try stream(driver, 2, as: "ann")
        driver.step(.disconnected(ConnectionID(1)))
        #expect(
            events(try driver.put("/a", Node(string: "x"))).map(\.receivers) == [[ConnectionID(2)]]
        )
        driver.step(.disconnected(ConnectionID(2)))
        driver.step(.disconnected(ConnectionID(2)))
        #expect(events(try driver.put("/a", Node(string: "y"))).isEmpty)
        let summary = driver.engine.summaries()[0]
        #expect(summary.listenCount == 0 && summary.viewCount == 0)
    }
}
