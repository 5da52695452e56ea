import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("how far a room was read, and what is unread behind that")
struct RoomReadTests {
    /// How far a person has read; nil if they have not.
    private static func upTo(_ guest: RoomGuest, _ room: String) async throws -> String? {
        try await guest.value("readStatus/\(room)/\(guest.uid)/upTo") as? String
    }

    @Test("what came behind the event that is marked stays unread, and reading never goes back")
    func behind() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        var events: [String] = []
        for number in 1...3 { events.append(try await ann.rooms.send(text: "\(number)", to: room)) }
        let own = try await bea.rooms.send(text: "mine", to: room)
        #expect(try await bea.unread(room) == 4)
        try await bea.rooms.markRead(room, upTo: events[0])
        #expect(try await bea.unread(room) == 2)
        #expect(try await Self.upTo(bea, room) == events[0])
        try await bea.rooms.markRead(room, upTo: events[2])
        #expect(try await bea.unread(room) == 0)
        try await bea.rooms.markRead(room, upTo: events[0])
        #expect(try await bea.unread(room) == 0)
        #expect(try await Self.upTo(bea, room) == events[2])
        try await ann.rooms.send(text: "4", to: room)
        try await bea.rooms.markRead(room, upTo: own)
        #expect(try await bea.unread(room) == 1)
        #expect(try await Self.upTo(bea, room) == own)
    }

    @Test("what was said before a person came is not unread, whatever they mark")
    func history() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea")
        let first = try await ann.rooms.send(text: "before", to: room)
        for _ in 1...3 { try await ann.rooms.send(text: "before", to: room) }
        try await ann.rooms.invite(bea.uid, to: room)
        try await ann.rooms.send(text: "after", to: room)
        try await bea.rooms.markRead(room, upTo: first)
        #expect(try await bea.unread(room) == 2)
        // The same for a person who was there before, left, and came back.
        try await bea.rooms.leave(room)
        try await ann.rooms.send(text: "between", to: room)
        try await ann.rooms.invite(bea.uid, to: room)
        try await bea.rooms.markRead(room, upTo: first)
        #expect(try await bea.unread(room) == 1)
    }

    @Test("a mark that waits for a connection leaves unread what came meanwhile")
    func offline() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let read = try await ann.rooms.send(text: "1", to: room)
        let reported = Recorder<RoomSummary>()
        let seen = Recorder<String>()
        let observations = [
            bea.rooms.observeRooms { listing in
                for summary in listing.records { reported.record(summary) }
            },
            bea.rooms.observeRoom(room) { result in
                if case .success(let room) = result { seen.record(room.lastEvent.key) }
            },
        ]
        try await reported.wait { $0.last?.unread == 2 }
        try await seen.wait { $0.last == read }
        bea.person.database.goOffline()
        async let marked: Void = bea.rooms.markRead(room, upTo: read)
        // Shown at once, as what is known here says.
        try await reported.wait { $0.last?.unread == 0 }
        for number in 2...4 { try await ann.rooms.send(text: "\(number)", to: room) }
        bea.person.database.goOnline()
        try await marked
        #expect(try await ann.rooms.room(room).lastEvent.key != read)
        for observation in observations { observation.remove() }
        #expect(try await bea.unread(room) == 3)
        #expect(try await Self.upTo(bea, room) == read)
    }

    @Test("a device that marks an older event takes nothing back of what another has marked")
    func devices() async throws {
        let server = try RoomCompany.server()
        let bea = RoomCompany.guest(try await server.member("Reader"))
        let other = RoomCompany.guest(try await bea.person.device(server.url))
        let ann = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let older = try await ann.rooms.send(text: "1", to: room)
        let newer = try await ann.rooms.send(text: "2", to: room)
        other.person.database.goOffline()
        async let marked: Void = other.rooms.markRead(room, upTo: older)
        try await bea.rooms.markRead(room, upTo: newer)
        other.person.database.goOnline()
        try await marked
        #expect(try await bea.unread(room) == 0)
        #expect(try await Self.upTo(bea, room) == newer)
    }

    @Test(
        "while many send, marks leave exactly what came behind the last of them",
        arguments: 1...4
    )
    func crowd(round: Int) async throws {
        let people = try await RoomCompany.guests(4)
        let bea = try await RoomCompany.guest()
        let room = try await people[0].rooms.create(
            name: "Tea",
            inviting: (people + [bea]).map(\.uid),
        )
        async let sent: [Void] = people.mapInParallel { person in
            for _ in 1...8 { try await person.rooms.send(text: "hi", to: room) }
        }
        for _ in 1...8 {
            let newest = try await bea.rooms.room(room).lastEvent.key
            try await bea.rooms.markRead(room, upTo: newest)
        }
        _ = try await sent
        let upTo = try await Self.upTo(bea, room)
        let events = try await bea.rooms.olderEvents(in: room, before: nil, count: 1000).records
        let last = try #require(events.firstIndex { $0.key == upTo })
        // Of one moment it is the keys that decide the order, and marking the newest marks them all.
        let rest = events[last...].dropFirst()
        let after = rest.count { $0.at > events[last].at }
        let unread = try #require(try await bea.unread(room))
        #expect((after...rest.count).contains(unread))
        try await bea.rooms.markRead(room, upTo: try #require(events.last?.key))
        #expect(try await bea.unread(room) == 0)
    }

    @Test("an event that is not there is not marked, and the person who is not in marks nothing")
    func refused() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Open", type: .public)
        let event = try await ann.rooms.send(text: "hi", to: room)
        let cases = [(ann, "-none"), (bea, event), (bea, "-none")]
        for (guest, key) in cases {
            let failure = await RoomCompany.failure {
                try await guest.rooms.markRead(room, upTo: key)
            }
            #expect(failure == .refused("mark this room as read"))
        }
        #expect(try await ann.value("readStatus/\(room)") is NSNull)
        #expect(try await bea.value("userRooms/\(bea.uid)") is NSNull)
    }
}
