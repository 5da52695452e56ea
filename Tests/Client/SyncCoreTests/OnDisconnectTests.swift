import JSONTree
import Testing
import WireProtocol

@testable import SyncCore

@Suite("On-disconnect writes")
struct OnDisconnectTests {
    @Test("an accepted write is shown when the connection is lost, after .info/connected")
    func shown() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        try world.observe("/a")
        try world.observe(ListenTarget(path: .infoConnected))
        let call = try world.onDisconnect("/a", "2")
        #expect(world.outcome(call) == "done")
        _ = world.news()
        try world.disconnect()
        #expect(world.news() == ["2 value false", "1 value 2"])
        #expect(world.server.root.text == #"{"a":2}"#)
    }

    @Test("it is shown once: the next lost connection changes nothing")
    func once() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        try world.observe("/a")
        try world.onDisconnect("/a", "2")
        try world.disconnect()
        try world.connect()
        try world.set("/a", "3")
        _ = world.news()
        try world.disconnect()
        #expect(world.news() == [])
    }

    @Test("a refused write is not shown; without a call it is warned of")
    func refused() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        world.server.readOnly = [try Path("/a")]
        try world.observe("/a")
        let call = try world.onDisconnect("/a", "2")
        #expect(world.outcome(call) == "refused permission_denied")
        let target = try WriteTarget("/a")
        try world.take(.call(.onDisconnectSet(target, Draft(Node(integer: 3)), nil)))
        #expect(world.warnings.count == 1)
        _ = world.news()
        try world.disconnect()
        #expect(world.news() == [])
    }

    @Test("server values are filled in when the connection is lost")
    func serverValues() throws {
        let world = try ClientWorld(#"{"a":{"n":1}}"#)
        try world.observe("/a")
        try world.onDisconnect("/a/n", #"{".sv":{"increment":4}}"#)
        try world.onDisconnect("/a/t", #"{".sv":"timestamp"}"#)
        _ = world.news()
        try world.disconnect()
        #expect(world.news().last == #"1 value {"n":5,"t":5000000}"#)
    }

    @Test("a cancelled write is forgotten, a pending one beside it is not")
    func cancelled() throws {
        let world = try ClientWorld()
        try world.observe("/")
        try world.onDisconnect("/a", #"{"x":1,"y":2}"#)
        let call = world.call()
        try world.take(.call(.onDisconnectCancel(Path("/a/x"), call)))
        #expect(world.outcome(call) == "done")
        _ = world.news()
        try world.disconnect()
        #expect(world.news().last == #"1 value {"a":{"y":2}}"#)
    }

    @Test("a request without a connection waits for one")
    func offline() throws {
        let world = try ClientWorld(isReachable: false)
        try world.observe("/a")
        let call = try world.onDisconnect("/a", "2")
        #expect(world.outcome(call) == "open")
        try world.connect()
        #expect(world.outcome(call) == "done")
        try world.disconnect()
        #expect(world.news().last == "1 value 2")
    }

    @Test("an empty update is done at once; one under .info is refused")
    func notSent() throws {
        let world = try ClientWorld()
        let (empty, info) = (world.call(), world.call())
        try world.take(.call(.onDisconnectUpdate(.root, [], empty)))
        try world.take(.call(.onDisconnectUpdate(.info, [], info)))
        #expect(world.outcome(empty) == "done")
        #expect(world.outcome(info) == "refused permission_denied")
        #expect(!world.server.log.contains { $0.hasPrefix("onDisconnect") })
    }

    @Test("a waiting transaction where such a write goes is overridden")
    func overTransaction() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        try world.observe("/a")
        try world.onDisconnect("/a", "2")
        world.answersAtOnce = false
        let sent = try world.transact("/a") { _ in "5" }
        let waiting = try world.transact("/a") { _ in "6" }
        try world.disconnect()
        #expect(world.outcome(sent) == "disconnected")
        #expect(world.outcomes[waiting]?.count ?? 0 <= 1)
    }
}

@Suite("What the server will write")
struct OnDisconnectTreeTests {
    /// Writes in order (`-/a` forgets), and what is kept then.
    static let cases: [([(String, String)], [(String, String)])] = [
        ([("/a", "1")], [("/a", "1")]),
        ([("/a", "1"), ("/a", "2")], [("/a", "2")]),
        ([("/b", "1"), ("/a", "2")], [("/a", "2"), ("/b", "1")]),
        ([("/a/b", "1"), ("/a", "2")], [("/a", "2")]),
        ([("/a", #"{"b":1}"#), ("/a/c", "2")], [("/a", #"{"b":1,"c":2}"#)]),
        ([("/a", "1"), ("/a/c", "2")], [("/a", #"{"c":2}"#)]),
        ([("/a", "1"), ("/a/.priority", "2")], [("/a", #"{".value":1,".priority":2}"#)]),
        ([("/a/.priority", "2"), ("/a", "1")], [("/a", "1")]),
        ([("/a/.priority", "2"), ("/a/b", "1")], [("/a/.priority", "2"), ("/a/b", "1")]),
        ([("/a", "1"), ("-/a", "")], []),
        ([("/a/b", "1"), ("/a/c", "1"), ("-/a", "")], []),
        ([("/a", "1"), ("-/a/b", "")], [("/a", "1")]),
        (
            [("/a", #"{"b":1,"c":{"d":2,"e":3}}"#), ("-/a/c/d", "")],
            [("/a/b", "1"), ("/a/c/e", "3")]
        ),
        ([("/a", "1"), ("-/b", "")], [("/a", "1")]),
        ([("/", #"{"a":1}"#), ("-/", "")], []),
    ]

    @Test(
        "a write replaces what is kept below it and edits what is kept above it",
        arguments: cases
    )
    func kept(writes: [(String, String)], kept: [(String, String)]) throws {
        var tree = OnDisconnectTree()
        for (place, json) in writes {
            if place.hasPrefix("-") {
                tree.forget(try Path(String(place.dropFirst())))
            } else {
                tree.remember(try Draft(json: Array(json.utf8)), at: try WriteTarget(place))
            }
        }
        #expect(
            tree.writes.map { "\($0.target) \($0.draft.node.text)" } == kept.map { "\($0) \($1)" }
        )
    }
}
