import JSONTree
import Queries
import TestSupport
import Testing
import WireProtocol

@testable import SyncCore

@Suite("A client")
struct ClientTests {
    @Test("a write is shown at once, and done when the server has it")
    func write() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        let call = try world.set("/a", "2")
        #expect(world.news() == ["1 value 1", "1 value 2"])
        #expect(world.outcome(call) == "open")
        try world.answer()
        #expect(world.news() == ["call 1 done"])
        #expect(world.server.root.text == #"{"a":2}"#)
    }

    @Test("a refused write is taken back before its call is notified")
    func refusedWrite() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        world.server.readOnly = [try Path("/a")]
        try world.observe("/a")
        try world.set("/a", "2")
        #expect(
            world.news() == [
                "1 value 1", "1 value 2", "1 value 1", "call 1 refused permission_denied",
            ]
        )
        try world.take(.call(.set(WriteTarget("/a"), Draft(Node(true)), nil)))
        #expect(world.warnings.count == 1)
    }

    @Test("an update changes all its places as one event, or none")
    func update() throws {
        let world = try ClientWorld(#"{"a":{"x":1,"y":1}}"#)
        try world.observe("/a")
        try world.update("/", [("a/x", "2"), ("a/y", "3")])
        #expect(
            world.news() == [
                #"1 value {"x":1,"y":1}"#, #"1 value {"x":2,"y":3}"#, "call 1 done",
            ]
        )
        world.server.readOnly = [try Path("/a/x")]
        let call = try world.update("/a", [("x", "9"), ("y", "9")])
        #expect(world.outcome(call) == "refused permission_denied")
        #expect(world.news().suffix(2).first == #"1 value {"x":2,"y":3}"#)
    }

    @Test("an empty update is done without asking the server")
    func emptyUpdate() throws {
        let world = try ClientWorld(isReachable: false)
        #expect(world.outcome(try world.update("/a", [])) == "done")
    }

    @Test("increments start from what is shown, timestamps from the server's time")
    func serverValues() throws {
        let world = try ClientWorld(#"{"n":1}"#)
        try world.observe("/")
        _ = world.news()
        world.answersAtOnce = false
        try world.set("/n", #"{".sv":{"increment":1}}"#)
        try world.set("/n", #"{".sv":{"increment":1}}"#)
        try world.set("/t", #"{".sv":"timestamp"}"#)
        #expect(
            world.news() == [
                #"1 value {"n":2}"#, #"1 value {"n":3}"#, #"1 value {"n":3,"t":5000000}"#,
            ]
        )
        try world.answer()
        #expect(world.news() == ["call 1 done", "call 2 done", "call 3 done"])
        #expect(world.server.root.text == #"{"n":3,"t":5000000}"#)
    }

    @Test("a priority is written alone")
    func priority() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        try world.observe("/a")
        try world.set("/a/.priority", "5")
        #expect(world.news().contains(#"1 value {".value":1,".priority":5}"#))
        #expect(world.server.root.text == #"{"a":{".value":1,".priority":5}}"#)
    }

    @Test("writes without a connection are sent in order when there is one")
    func offlineWrites() throws {
        let world = try ClientWorld(isReachable: false)
        try world.observe("/a")
        let calls = try (1...3).map { try world.set("/a", "\($0)") }
        #expect(world.news() == ["1 value 1", "1 value 2", "1 value 3"])
        try world.connect()
        #expect(calls.map(world.outcome) == ["done", "done", "done"])
        #expect(world.server.log.filter { $0.hasPrefix("put") } == (1...3).map { "put /a \($0)" })
    }

    @Test("going offline closes the connection, going online opens one")
    func goingOffline() throws {
        let world = try ClientWorld()
        try world.observe(ListenTarget(path: .infoConnected))
        try world.take(.call(.goOffline))
        let call = try world.set("/a", "1")
        #expect(world.outcome(call) == "open")
        try world.take(.call(.goOnline))
        try world.connect()
        #expect(world.outcome(call) == "done")
        #expect(
            world.news() == [
                "1 value false", "1 value true", "1 value false", "1 value true", "call 1 done",
            ]
        )
    }

    @Test("purging takes all pending writes back and ends their calls; late answers are ignored")
    func purge() throws {
        let world = try ClientWorld(#"{"a":1,"b":1}"#, isStored: true)
        try world.observe("/")
        world.answersAtOnce = false
        let calls = [try world.set("/a", "2"), try world.update("/", [("b", "2"), ("c", "2")])]
        _ = world.news()
        try world.take(.call(.purgeOutstandingWrites))
        #expect(calls.map(world.outcome) == ["cancelled", "cancelled"])
        #expect(
            world.news() == [
                #"1 value {"a":1,"b":1}"#, "call 1 cancelled", "call 2 cancelled",
            ]
        )
        #expect(world.stored.removedWrites == [1, 2])
        try world.answer()
        #expect(world.outcomes.values.allSatisfy { $0.count == 1 })
        #expect(world.warnings.isEmpty)
    }

    @Test("purging without a connection ends on-disconnect requests too")
    func purgeOffline() throws {
        let world = try ClientWorld(isReachable: false)
        let call = try world.onDisconnect("/d", "1")
        try world.take(.call(.purgeOutstandingWrites))
        #expect(world.outcome(call) == "cancelled")
        try world.connect()
        #expect(!world.server.log.contains { $0.hasPrefix("onDisconnect") })
    }
}

@Suite("Reads of a client")
struct ClientReadTests {
    @Test("a get asks the server, and lays pending writes over the answer")
    func get() throws {
        let world = try ClientWorld(#"{"a":{"x":1,"y":1}}"#)
        #expect(world.outcome(try world.get("/a")) == #"value {"x":1,"y":1}"#)
        world.answersAtOnce = false
        try world.set("/a/x", "2")
        let call = try world.get("/a")
        try world.answer()
        #expect(world.outcome(call) == #"value {"x":2,"y":1}"#)
    }

    @Test("a get of what a live listen covers is answered at once")
    func covered() throws {
        let world = try ClientWorld(#"{"a":{"x":1}}"#)
        try world.observe("/a")
        world.answersAtOnce = false
        #expect(world.outcome(try world.get("/a/x")) == "value 1")
        #expect(world.outcome(try world.get("/a")) == #"value {"x":1}"#)
        #expect(world.outcome(try world.get("/")) == "open")
    }

    @Test("a refused get fails; one without a connection fails in the end")
    func failing() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        world.server.secret = [try Path("/a")]
        #expect(world.outcome(try world.get("/a")) == "refused permission_denied")
        try world.disconnect()
        let call = try world.get("/a")
        #expect(world.outcome(call) == "open")
        for _ in 0..<20 { try world.wake() }
        #expect(world.outcome(call) == "offline")
    }

    @Test("what is kept synced is listened to without an observer")
    func keptSynced() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        let target = ListenTarget(path: try Path("/a"))
        try world.take(.call(.keepSynced(target, true)))
        try world.take(.call(.keepSynced(target, true)))
        world.answersAtOnce = false
        #expect(world.outcome(try world.get("/a")) == "value 1")
        try world.take(.call(.keepSynced(target, false)))
        try world.take(.call(.keepSynced(target, false)))
        #expect(
            world.server.log.filter { $0.hasSuffix("listen /a") } == ["listen /a", "unlisten /a"]
        )
        #expect(world.news() == ["call 1 value 1"])
    }

    @Test("what is kept synced can be so again after a refusal")
    func keptSyncedAgain() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        world.server.secret = [try Path("/a")]
        let target = ListenTarget(path: try Path("/a"))
        try world.take(.call(.keepSynced(target, true)))
        #expect(world.warnings.count == 1)
        world.server.secret = []
        try world.take(.call(.keepSynced(target, true)))
        #expect(world.server.log.filter { $0.hasPrefix("listen") } == ["listen /a", "listen /a"])
        #expect(world.news() == [])
    }

    @Test("a refused listen cancels its observers")
    func refusedListen() throws {
        let world = try ClientWorld(#"{"a":1}"#)
        world.server.secret = [try Path("/a")]
        try world.observe("/a")
        #expect(world.news() == ["1 cancelled refused permission_denied"])
    }
}

extension [StoreChange] {
    /// The numbers of the writes that are kept no longer, in order.
    var removedWrites: [Int64] {
        compactMap { change in
            guard case .removeWrite(let id) = change else { return nil }
            return id.value
        }
    }

    /// The numbers of the writes that are kept, in order.
    var savedWrites: [Int64] {
        compactMap { change in
            guard case .saveWrite(let id, _) = change else { return nil }
            return id.value
        }
    }
}
