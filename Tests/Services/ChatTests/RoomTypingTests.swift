import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("who is seen typing, whichever service of theirs says so")
struct RoomTypingTests {
    private let ann: RoomGuest
    private let bea: RoomGuest
    private let room: String
    private let reported = Recorder<[String]>()
    private let observation: Observation

    init() async throws {
        ann = try await RoomCompany.guest()
        bea = try await RoomCompany.guest()
        room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        observation = ann.rooms.observeTyping(in: room) { [reported] in reported.record($0) }
        try await reported.wait { $0 == [[]] }
    }

    /// Whether the server has it that Bea is typing, when it has answered all that she wrote.
    private func isShown() async throws -> Bool {
        _ = try await bea.value("userRooms/\(bea.uid)/none")
        // What Ann observes she reads in the order in which she received it: all of that is before the answer to something else.
        _ = try await ann.value("userRooms/\(ann.uid)/none")
        return try await ann.value("typing/\(room)/\(bea.uid)") as? Bool == true
    }

    @Test("a service that was made for one call shows it, and another one ends it")
    func services() async throws {
        // No one holds these.
        try await RoomCompany.guest(bea.person).rooms.startTyping(in: room)
        #expect(try await isShown())
        RoomCompany.guest(bea.person).rooms.stopTyping(in: room)
        #expect(try await !isShown())
        try await bea.rooms.startTyping(in: room)
        #expect(try await isShown())
        try await RoomCompany.guest(bea.person).rooms.send(text: "hi", to: room)
        #expect(try await !isShown())
        // Again, by the one that has not ended it.
        try await bea.rooms.startTyping(in: room)
        #expect(try await isShown())
        observation.remove()
    }

    @Test("what one service has ended no other shows after a cut; what none has ended is shown")
    func cut() async throws {
        let other = try await ann.rooms.create(name: "Coffee", inviting: [bea.uid])
        try await bea.rooms.startTyping(in: room)
        try await RoomCompany.guest(bea.person).rooms.startTyping(in: other)
        RoomCompany.guest(bea.person).rooms.stopTyping(in: room)
        #expect(try await !isShown())
        let both = Recorder<[String]>()
        let otherObservation = ann.rooms.observeTyping(in: other) { both.record($0) }
        try await both.wait { $0.last == [bea.uid] }
        bea.person.database.goOffline()
        try await both.wait { $0.last == [] }
        bea.person.database.goOnline()
        try await both.wait { $0.last == [bea.uid] }
        #expect(try await !isShown())
        otherObservation.remove()
        observation.remove()
    }

    @Test("without a connection nothing is shown and nothing waits, from the first time on")
    func offline() async throws {
        let before = reported.values.count
        bea.person.database.goOffline()
        try await bea.rooms.startTyping(in: room)
        #expect(reported.values.count == before)
        bea.person.database.goOnline()
        try await reported.wait { $0.last == [bea.uid] }
        // The connection that it is shown on takes it along.
        bea.person.database.goOffline()
        try await reported.wait { $0.last == [] }
        bea.rooms.stopTyping(in: room)
        try await bea.rooms.startTyping(in: room)
        bea.rooms.stopTyping(in: room)
        bea.person.database.goOnline()
        #expect(try await !isShown())
        observation.remove()
    }

    @Test(
        "a cut while it is being shown ends the wait, and leaves nothing behind",
        arguments: 1...8
    )
    func cutBetween(turns: Int) async throws {
        async let shown: Void = bea.rooms.startTyping(in: room)
        for _ in 1...(turns * turns) { await Task.yield() }
        bea.person.database.goOffline()
        try await shown
        bea.person.database.goOnline()
        // What was under way at the cut is sent again and taken back first: only what comes behind that ends with the
        // connection.
        repeat {
            try await reported.wait { $0.last == [bea.uid] }
        } while try await !isShown()
        bea.person.database.goOffline()
        try await reported.wait { $0.last == [] }
        bea.rooms.stopTyping(in: room)
        bea.person.database.goOnline()
        #expect(try await !isShown())
        observation.remove()
    }

    @Test("a person who may not speak is refused once, and is not shown after a cut either")
    func refused() async throws {
        try await ann.rooms.setRole(.watcher, of: bea.uid, in: room)
        let failure = await RoomCompany.failure { try await bea.rooms.startTyping(in: room) }
        #expect(failure == .refused("be seen typing in this room"))
        bea.person.database.goOffline()
        bea.person.database.goOnline()
        #expect(try await !isShown())
        observation.remove()
    }
}
