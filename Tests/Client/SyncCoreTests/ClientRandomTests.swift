import JSONTree
import Queries
import TestSupport
import Testing
import WireProtocol

@testable import SyncCore

@Suite("A client under random inputs")
struct ClientRandomTests {
    @Test(
        "every call ends exactly once, and what is shown in the end is what the server has",
        arguments: TestSeed.seeds(60)
    )
    func calls(seed: UInt64) throws {
        let world = try ClientWorld(#"{"a":{"b":1,"c":2},"d":3}"#)
        var random = SeededGenerator(seed: seed)
        world.answersAtOnce = false
        let observer = try world.observe("/")
        var calls: [CallID] = []
        for _ in 0..<80 {
            if let call = try step(world, &random) { calls.append(call) }
        }
        try finish(world)
        for call in calls {
            #expect(world.outcomes[call]?.count == 1, "call \(call.value), seed \(seed)")
        }
        let last = world.news().last { $0.hasPrefix("\(observer.value) value") }
        #expect(last == "\(observer.value) value \(world.server.root.text)", "seed \(seed)")
    }

    @Test(
        "a restart loses no write, and what is cached is what the server has",
        arguments: TestSeed.seeds(40)
    )
    func restarts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let transacts = seed.isMultiple(of: 2)
        var world = try ClientWorld(#"{"a":{"b":1,"c":2},"d":3}"#, isStored: true)
        for _ in 0..<6 {
            world.answersAtOnce = false
            try world.observe("/")
            for _ in 0..<25 { _ = try step(world, &random, transacts: transacts) }
            let shown = world.news().last { $0.hasPrefix("1 value") }
            let next = try ClientWorld(isReachable: false, isStored: true, restoring: world.disk)
            try world.disconnect()
            next.server = world.server
            if !transacts, let shown, !next.disk.listens.isEmpty {
                // Without transactions all that is shown is on disk.
                try next.observe("/")
                #expect(next.news().last == shown, "seed \(seed)")
            }
            world = next
            if random.index(2) == 0 { try world.connect() }
        }
        try finish(world)
        let observer = try world.observe("/")
        let name = "\(observer.value) value"
        #expect(world.news().last { $0.hasPrefix(name) } == "\(name) \(world.server.root.text)")
        #expect(world.disk.writes.isEmpty, "seed \(seed)")
        let cached = world.disk.listens.first { $0.target.path.isRoot }?.node
        #expect(cached?.text == world.server.root.text, "seed \(seed)")
    }

    /// The world calms down: all is sent and answered.
    private func finish(_ world: ClientWorld) throws {
        world.server.readOnly = []
        world.server.isAlwaysStale = false
        try world.take(.call(.goOnline))
        try world.connect()
        world.answersAtOnce = true
        try world.answer()
    }

    private func step(
        _ world: ClientWorld,
        _ random: inout SeededGenerator,
        transacts: Bool = true,
    ) throws -> CallID? {
        let paths = ["/", "/a", "/a/b", "/a/c", "/d", "/d/e"]
        let path = paths[random.index(paths.count)]
        let number = random.index(100)
        switch random.index(14) {
        case 0, 1: return try world.set(path, "\(number)")
        case 2:
            // What an increment is thought to make depends on what was refused meanwhile.
            let value = transacts ? #"{".sv":{"increment":1}}"# : "1"
            return try world.set(path, #"{"b":\#(value),"x":\#(number)}"#)
        case 3: return try world.update(path, [("c", "\(number)"), ("y/z", "null")])
        case 4, 5, 6:
            if !transacts { return nil }
            return try world.transact(path, appliesLocally: random.index(3) > 0) { node in
                if number < 10 { return nil }
                return node.isMap ? #"{"b":\#(number),"c":{"e":1}}"# : "\(number)"
            }
        case 7: return try world.get(path)
        case 8: return try world.onDisconnect(path, "\(number)")
        case 9:
            try world.push(path, #"{"p":\#(number)}"#)
        case 10:
            if number < 50 { try world.disconnect() } else { try world.connect() }
        case 11:
            world.server.readOnly = number < 30 ? [try Path(path)] : []
            world.server.isAlwaysStale = number > 90
        case 12:
            if number < 10 { try world.take(.call(.purgeOutstandingWrites)) }
            if number > 90 { try world.take(.call(.goOffline)) }
            if number > 50 { try world.take(.call(.goOnline)) }
        default: try world.answer(random.index(4))
        }
        return nil
    }
}
