import JSONTree
import Queries
import Testing
import WireProtocol

@testable import SyncCore

@Suite("What the client says of itself")
struct InfoTests {
    @Test(".info/connected is false from the start, and follows the connection")
    func connected() throws {
        let world = try ClientWorld(isReachable: false)
        let observer = try world.observe(ListenTarget(path: .infoConnected))
        try world.connect()
        try world.disconnect()
        try world.connect()
        #expect(world.news() == ["1 value false", "1 value true", "1 value false", "1 value true"])
        try world.take(.call(.stopObserving(observer)))
        try world.disconnect()
        #expect(world.news() == [])
    }

    @Test(".info/serverTimeOffset is reported once it is known")
    func offset() throws {
        let world = try ClientWorld(isReachable: false)
        try world.observe(ListenTarget(path: .infoServerTimeOffset))
        #expect(world.news() == [])
        let start = world.now
        try world.connect()
        let offset = 1_000_000 - (world.now.milliseconds - start.milliseconds)
        #expect(world.news() == ["1 value \(offset)"])
    }

    @Test("all of .info can be observed, and nothing of it is asked of the server")
    func whole() throws {
        let world = try ClientWorld(isReachable: false)
        try world.observe(ListenTarget(path: .info), .childAdded)
        try world.observe(ListenTarget(path: .info.appending(Path("nothing"))))
        #expect(world.news() == ["1 added connected false", "2 value null"])
        try world.connect()
        #expect(world.news().contains { $0.hasPrefix("1 added serverTimeOffset") })
        #expect(!world.server.log.contains { $0.hasPrefix("listen") })
    }

    @Test("reads of .info are answered without the server")
    func reads() throws {
        let world = try ClientWorld(isReachable: false)
        let call = world.call()
        try world.take(.call(.get(ListenTarget(path: .infoConnected), call)))
        #expect(world.outcome(call) == "value false")
    }

    @Test("writes under .info are refused, and warned of when no one waits")
    func writes() throws {
        let world = try ClientWorld()
        let target = WriteTarget(path: .infoConnected)
        let calls = (0..<4).map { _ in world.call() }
        let draft = Draft(Node(true))
        try world.take(.call(.set(target, draft, calls[0])))
        let entry = MergeEntry(target: target, draft: draft)
        try world.take(.call(.update(.root, [entry], calls[1])))
        try world.take(.call(.onDisconnectSet(target, draft, calls[2])))
        try world.take(.call(.onDisconnectCancel(.info, calls[3])))
        #expect(calls.map(world.outcome) == Array(repeating: "refused permission_denied", count: 4))
        try world.take(.call(.set(target, draft, nil)))
        #expect(
            world.warnings == [
                .writeRefused(
                    .infoConnected,
                    .refused(status: "permission_denied", message: "Permission denied")
                )
            ]
        )
    }
}
