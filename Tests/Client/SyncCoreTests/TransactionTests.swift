import JSONTree
import Queries
import Synchronization
import Testing
import WireProtocol

@testable import SyncCore

@Suite("Transactions")
struct TransactionTests {
    @Test("a transaction on unknown data runs on nothing, then on what the server has")
    func unknownData() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        let runs = Runs()
        let call = try world.transact("/a", runs.increment)
        #expect(world.outcome(call) == "committed 6")
        #expect(runs.inputs == ["null", "5"])
        #expect(world.server.root.text == #"{"a":6}"#)
    }

    @Test("a transaction on known data runs once, and stops listening afterwards")
    func knownData() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        let observer = try world.observe("/a")
        let runs = Runs()
        let call = try world.transact("/a", runs.increment)
        #expect(world.outcome(call) == "committed 6")
        #expect(runs.inputs == ["5"])
        #expect(world.news() == ["1 value 5", "1 value 6", "call 1 committed 6"])
        try world.take(.call(.stopObserving(observer)))
        #expect(world.server.log.count { $0.hasPrefix("listen") } == 1)
        #expect(world.server.log.count { $0.hasPrefix("unlisten") } == 1)
    }

    @Test("giving up at once ends with what is known, and sends nothing")
    func givingUp() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        try world.observe("/a")
        let call = try world.transact("/a") { _ in nil }
        #expect(world.outcome(call) == "gave up 5")
        #expect(!world.server.log.contains { $0.hasPrefix("put") })
    }

    @Test("giving up when run again takes the first result back")
    func givingUpLater() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        world.answersAtOnce = false
        try world.observe("/a")
        let call = try world.transact("/a") { $0.isAbsent ? "1" : nil }
        try world.answer()
        #expect(world.outcome(call) == "gave up 5")
        #expect(world.news() == ["1 value 1", "1 value 5", "call 1 gave up 5"])
    }

    @Test("a transaction is sent at most 25 times")
    func retries() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        world.server.isAlwaysStale = true
        try world.observe("/a")
        let runs = Runs()
        let call = try world.transact("/a", runs.increment)
        #expect(world.outcome(call) == "too many retries")
        #expect(runs.inputs.count == 25)
        #expect(world.server.log.count { $0.hasPrefix("put if") } == 25)
        #expect(world.news().suffix(2) == ["1 value 5", "call 1 too many retries"])
    }

    @Test("a hidden result is shown once the server has accepted it", arguments: [true, false])
    func hidden(isHidden: Bool) throws {
        let world = try ClientWorld(#"{"a":5}"#)
        try world.observe("/a")
        _ = world.news()
        world.answersAtOnce = false
        try world.transact("/a", appliesLocally: !isHidden, Runs().increment)
        #expect(world.news() == (isHidden ? [] : ["1 value 6"]))
        try world.answer()
        #expect(
            world.news() == (isHidden ? ["1 value 6"] : []) + ["call 1 committed 6"]
        )
    }

    @Test("a second transaction on a path starts from the first one's result and waits for it")
    func twoOnOnePath() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        let runs = Runs()
        let first = try world.transact("/a", appliesLocally: false, runs.increment)
        let second = try world.transact("/a", appliesLocally: false, runs.increment)
        let third = try world.transact("/a", runs.increment)
        #expect(runs.inputs == ["5", "6", "7"])
        #expect(world.server.waiting.count == 1)
        try world.answer()
        #expect(
            [first, second, third].map(world.outcome) == [
                "committed 6", "committed 7", "committed 8",
            ]
        )
        #expect(runs.inputs.count == 3)
        #expect(
            world.server.log.filter { $0.hasPrefix("put if") } == ["put if /a 6", "put if /a 8"]
        )
    }

    @Test("a transaction waits for those below it; then all are sent as one write")
    func nested() throws {
        let world = try ClientWorld(#"{"a":{"x":1,"y":1,"z":1}}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        let x = try world.transact("/a/x", Runs().increment)
        let whole = try world.transact("/a") { node in
            let key = node.descendant(at: Path.root.appending(Key(unchecked: Array("x".utf8))))
            return #"{"x":\#((key.integer ?? 0) * 10),"y":1,"z":1}"#
        }
        let y = try world.transact("/a/y", Runs().increment)
        #expect(world.server.waiting.count == 1)
        try world.answer()
        #expect(world.outcome(x) == "committed 2")
        #expect(world.outcome(whole) == #"committed {"x":20,"y":1,"z":1}"#)
        #expect(world.outcome(y) == "committed 2")
        #expect(
            world.server.log.filter { $0.hasPrefix("put if") } == [
                "put if /a/x 2", #"put if /a {"x":20,"y":2,"z":1}"#,
            ]
        )
        #expect(world.server.root.text == #"{"a":{"x":20,"y":2,"z":1}}"#)
    }

    @Test("data that changes under a waiting transaction makes it run again, before it is sent")
    func changeWhileWaiting() throws {
        let world = try ClientWorld(#"{"a":{"x":1,"n":1}}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        try world.transact("/a/x", Runs().increment)
        let runs = Runs()
        let call = try world.transact("/a") { node in
            _ = runs.increment(node)
            return #"{"all":true}"#
        }
        try world.push("/a/n", "2")
        #expect(runs.inputs == [#"{"n":1,"x":2}"#, #"{"n":2,"x":2}"#])
        try world.answer()
        #expect(world.outcome(call) == #"committed {"all":true}"#)
        #expect(world.server.log.count { $0.hasPrefix("put if /a ") } == 1)
    }

    @Test("a refusal takes the result back")
    func refused() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        world.server.readOnly = [try Path("/a")]
        try world.observe("/a")
        let call = try world.transact("/a", Runs().increment)
        #expect(world.outcome(call) == "refused permission_denied")
        #expect(
            world.news() == [
                "1 value 5", "1 value 6", "1 value 5", "call 1 refused permission_denied",
            ]
        )
    }

    @Test("a set over a transaction that waits ends it at once")
    func setOverWaiting() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        let first = try world.transact("/a", Runs().increment)
        let second = try world.transact("/a", Runs().increment)
        let set = try world.set("/a", "100")
        #expect(world.outcome(first) == "open")
        #expect(world.outcome(second) == "overridden")
        try world.answer()
        // The server accepted the first before the set came.
        #expect(world.outcome(first) == "committed 6")
        #expect(world.outcome(set) == "done")
        #expect(world.server.root.text == #"{"a":100}"#)
    }

    @Test(
        "a set over a transaction that was sent ends it if it does not come through",
        arguments: [
            ("/", #"{"a":{"b":7}}"#), ("/a", #"{"b":7}"#), ("/a/b", "7"), ("/a/b/c", "7"),
        ]
    )
    func setOverSent(path: String, json: String) throws {
        let world = try ClientWorld(#"{"a":{"b":5}}"#)
        try world.observe("/a/b")
        world.answersAtOnce = false
        world.server.isAlwaysStale = true
        let call = try world.transact("/a/b", Runs().increment)
        try world.set(path, json)
        #expect(world.outcome(call) == "open")
        try world.answer()
        #expect(world.outcome(call) == "overridden")
    }

    @Test("an update over a transaction that waits ends it; one beside it does not")
    func updateOver() throws {
        let world = try ClientWorld(#"{"a":{"b":5,"c":5}}"#)
        try world.observe("/")
        world.answersAtOnce = false
        try world.transact("/a/b", Runs().increment)
        try world.transact("/a/c", Runs().increment)
        let b = try world.transact("/a/b", Runs().increment)
        let c = try world.transact("/a/c", Runs().increment)
        try world.update("/", [("a/b", "1"), ("d", "2")])
        #expect([b, c].map(world.outcome) == ["overridden", "open"])
        try world.answer()
        #expect([b, c].map(world.outcome) == ["overridden", "committed 7"])
        #expect(world.server.root.text == #"{"a":{"b":1,"c":7},"d":2}"#)
    }

    @Test("those that wait for a transaction that is overridden are sent then")
    func freed() throws {
        let world = try ClientWorld(#"{"a":{"b":5,"c":5,"d":5}}"#)
        try world.observe("/")
        world.answersAtOnce = false
        try world.transact("/a/d", Runs().increment)
        try world.transact("/a") { _ in "1" }
        let runs = Runs()
        let c = try world.transact("/a/c", runs.increment)
        try world.set("/a/b", "7")
        #expect(runs.inputs == ["null", "5"])
        try world.answer()
        #expect(world.outcome(c) == "committed 6")
        #expect(world.server.root.text == #"{"a":{"b":7,"c":6,"d":6}}"#)
    }

    @Test("one that waits runs again when the one before it is refused, and is sent then")
    func waitingAfterRefusal() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        let first = try world.transact("/a", Runs().increment)
        let runs = Runs()
        let second = try world.transact("/a", runs.increment)
        world.server.readOnly = [.root]
        try world.answer(1)
        #expect(world.outcome(first) == "refused permission_denied")
        #expect(runs.inputs == ["6", "5"])
        world.server.readOnly = []
        try world.answer()
        #expect(world.outcome(second) == "committed 6")
    }

    @Test("one that waits runs again with a stale one before it; both are sent as one write")
    func waitingAfterStale() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        world.answersAtOnce = false
        let first = try world.transact("/a", Runs().increment)
        let runs = Runs()
        let second = try world.transact("/a", runs.increment)
        try world.answer()
        #expect([first, second].map(world.outcome) == ["committed 6", "committed 7"])
        #expect(runs.inputs == ["1", "6"])
        #expect(
            world.server.log.filter { $0.hasPrefix("put if") } == ["put if /a 1", "put if /a 7"]
        )
    }

    @Test("one that waits when the connection is lost is sent over the next")
    func waitingWhenLost() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        let first = try world.transact("/a", Runs().increment)
        let second = try world.transact("/a", Runs().increment)
        try world.disconnect()
        world.answersAtOnce = true
        try world.connect()
        #expect([first, second].map(world.outcome) == ["disconnected", "committed 6"])
    }

    @Test("children of a query that are known are what a transaction starts from")
    func knownFromQuery() throws {
        let world = try ClientWorld(#"{"a":{"x":{"n":1},"y":{"n":2}}}"#)
        let query = QuerySpec(index: .key, limit: 1)
        let text = Array(#"{"i":".key","l":1,"vf":"l"}"#.utf8)
        let target = ListenTarget(path: try Path("/a"), query: query, queryText: text)
        try world.observe(target, .childAdded)
        let runs = Runs()
        let call = try world.transact("/a/x") { node in
            _ = runs.increment(node)
            return "null"
        }
        #expect(runs.inputs == [#"{"n":1}"#])
        #expect(world.outcome(call) == "committed null")
    }

    @Test("a lost connection ends a transaction that was sent, and takes its result back")
    func lostConnection() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        let call = try world.transact("/a", Runs().increment)
        try world.disconnect()
        #expect(world.outcome(call) == "disconnected")
        #expect(world.news().suffix(2) == ["1 value 5", "call 1 disconnected"])
    }

    @Test("a transaction without a connection shows its result and is sent when there is one")
    func offline() throws {
        let world = try ClientWorld(#"{"a":5}"#, isReachable: false)
        try world.observe("/a")
        let runs = Runs()
        let call = try world.transact("/a", runs.increment)
        #expect(world.news() == ["1 value 1"])
        #expect(world.outcome(call) == "open")
        try world.connect()
        #expect(world.outcome(call) == "committed 6")
        #expect(runs.inputs == ["null", "5"])
    }

    @Test("a transaction under .info is refused without being run")
    func info() throws {
        let world = try ClientWorld()
        let call = world.call()
        let request = TransactionRequest(path: .infoConnected, appliesLocally: true, call: call) {
            _ in preconditionFailure("not run")
        }
        try world.take(.call(.runTransaction(request)))
        #expect(world.outcome(call) == "refused permission_denied")
    }

    @Test("purging ends transactions, whether sent or waiting")
    func purge() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        let sent = try world.transact("/a", Runs().increment)
        let waiting = try world.transact("/a", Runs().increment)
        try world.take(.call(.purgeOutstandingWrites))
        #expect([sent, waiting].map(world.outcome) == ["cancelled", "cancelled"])
        _ = world.news()
        try world.answer()
        #expect(world.news().allSatisfy { !$0.hasPrefix("call") })
    }

    @Test("server values in a result are shown as far as they can be known, and sent as they are")
    func serverValues() throws {
        let world = try ClientWorld(#"{"a":5}"#)
        try world.observe("/a")
        let call = try world.transact("/a") { _ in #"{".sv":{"increment":2}}"# }
        #expect(world.outcome(call) == "committed 7")
        #expect(world.server.root.text == #"{"a":7}"#)
    }

    @Test("a priority is part of what a transaction sees and of what the server compares")
    func priority() throws {
        let world = try ClientWorld(#"{"a":{".value":5,".priority":1}}"#)
        let call = try world.transact("/a") { _ in #"{".value":6,".priority":2}"# }
        #expect(world.outcome(call) == #"committed {".value":6,".priority":2}"#)
    }
}

/// Counts up, and remembers what it was given.
final class Runs: Sendable {
    private let given = Mutex<[String]>([])

    var inputs: [String] { given.withLock { $0 } }

    @Sendable func increment(_ node: Node) -> String? {
        given.withLock { $0.append(node.text) }
        return String((node.integer ?? 0) + 1)
    }
}
