import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("rooms from their making to the last who leaves")
struct RoomFlowTests {
    @Test("a room is reported to everybody in it, event by event, until the last one has left")
    func life() async throws {
        let ann = try await RoomCompany.guest("Ann")
        let bea = try await RoomCompany.guest("Bea")
        let cid = try await RoomCompany.guest("Cid")
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid, ann.uid])
        let made = try await bea.rooms.room(room)
        #expect(made.name == "Tea" && made.type == .private && made.createdBy == ann.uid)
        #expect(made.members == [ann.uid: .owner, bea.uid: .member])
        #expect(made.lastEvent.content == .createdChat && made.lastEvent.at == made.createdAt)
        #expect(try await ann.unread(room) == 0)
        #expect(try await bea.unread(room) == 1)

        let hello = try await bea.rooms.send(text: "hello", to: room)
        #expect(try await ann.unread(room) == 1)
        #expect(try await bea.unread(room) == 1)
        let shown = try await ann.value("userRooms/\(ann.uid)/\(room)/lastEventText")
        #expect(shown as? String == "hello")
        // The copy in the room is the event and its key.
        var copy = try #require(try await ann.value("rooms/\(room)/lastEvent") as? [String: Any])
        #expect(copy.removeValue(forKey: "key") as? String == hello)
        let event = try #require(
            try await ann.value("roomEvents/\(room)/\(hello)") as? [String: Any]
        )
        #expect(NSDictionary(dictionary: copy) == NSDictionary(dictionary: event))

        try await bea.rooms.invite(cid.uid, to: room)
        #expect(try await cid.unread(room) == 1)
        #expect(try await ann.unread(room) == 2)
        try await ann.rooms.setRole(.admin, of: cid.uid, in: room)
        try await cid.rooms.rename(room, to: "Coffee")
        for guest in [ann, bea, cid] {
            let name = try await guest.value("userRooms/\(guest.uid)/\(room)/name")
            #expect(name as? String == "Coffee")
        }
        try await cid.rooms.ban(bea.uid, from: room)
        #expect(try await bea.value("userRooms/\(bea.uid)/\(room)") is NSNull)
        #expect(await RoomCompany.failure { _ = try await bea.rooms.room(room) }?.isRefusal == true)
        try await cid.rooms.invite(bea.uid, to: room)
        try await ann.rooms.remove(bea.uid, from: room)
        #expect(
            try await ann.saw(
                [
                    .createdChat, .message(try RoomEvent.Message(text: "hello")),
                    .addedUser(cid.uid),
                    .renamedChat("Coffee"), .userLeft(bea.uid), .addedUser(bea.uid),
                    .userLeft(bea.uid),
                ],
                in: room
            )
        )

        try await ann.rooms.leave(room)
        #expect(try await cid.rooms.room(room).people == [cid.uid])
        try await cid.rooms.leave(room)
        for guest in [ann, bea, cid] {
            #expect(try await guest.value("userRooms/\(guest.uid)/\(room)") is NSNull)
            let failure = await RoomCompany.failure {
                _ = try await guest.rooms.olderEvents(in: room, before: nil)
            }
            #expect(failure?.isRefusal == true)
        }
    }

    @Test("what everybody was shown of each kind of event is a text or a few words")
    func words() async throws {
        let ann = try await RoomCompany.guest("Ann")
        let bea = try await RoomCompany.guest("Bea")
        let room = try await ann.rooms.create(name: "Tea", type: .public)
        let (her, other) = (ann.person.username, bea.person.username)
        func shown() async throws -> String? {
            try await ann.value("userRooms/\(ann.uid)/\(room)/lastEventText") as? String
        }
        #expect(try await shown() == "\(her) made the room")
        try await bea.rooms.join(room)
        #expect(try await shown() == "\(other) came in")
        try await bea.rooms.send(picture: "https://example.com/cat.png", to: room)
        #expect(try await shown() == "\(other) sent a picture")
        try await bea.rooms.send(location: Location(latitude: 48.2, longitude: 16.4), to: room)
        #expect(try await shown() == "\(other) sent a location")
        let long = String(repeating: "tea ", count: 1000)
        try await bea.rooms.send(text: long, picture: "p", style: Style(color: "teal"), to: room)
        #expect(try await shown() == long)
        try await bea.rooms.leave(room)
        #expect(try await shown() == "\(other) left")
        try await ann.rooms.invite(bea.uid, to: room)
        #expect(try await shown() == "\(her) added \(other)")
        try await ann.rooms.remove(bea.uid, from: room)
        #expect(try await shown() == "\(her) put \(other) out")
        let name = String(repeating: "n", count: 100)
        try await ann.rooms.rename(room, to: name)
        #expect(try await shown() == "\(her) named the room \(name)")
    }

    @Test("text, picture, place and look of a message arrive as they were sent")
    func parts() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let messages = [
            try RoomEvent.Message(text: "x", style: Style(font: "Serif")),
            try RoomEvent.Message(picture: "https://example.com/cat.png"),
            try RoomEvent.Message(location: Location(latitude: -90, longitude: 180)),
            try RoomEvent.Message(
                text: "👋 hallo",
                picture: "p",
                location: Location(latitude: 48.2082, longitude: 16.3738),
                style: Style(color: "#0a7", font: "Mono"),
            ),
        ]
        for message in messages {
            try await ann.rooms.send(
                text: message.text,
                picture: message.picture,
                location: message.location,
                style: message.style,
                to: room,
            )
        }
        let contents = try await bea.contents(room)
        #expect(contents == [.createdChat] + messages.map { .message($0) })
        #expect(try await bea.rooms.room(room).lastEvent.content == contents.last)
    }

    @Test("my rooms are the newest first, and one that I leave is there no more")
    func list() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let reported = Recorder<Listing<RoomSummary>>()
        let observation = bea.rooms.observeRooms { reported.record($0) }
        try await reported.wait(untilLast: \.records.isEmpty)
        var rooms: [String] = []
        for name in ["one", "two", "three"] {
            rooms.append(try await ann.rooms.create(name: name, inviting: [bea.uid]))
        }
        try await reported.wait { $0.last?.records.map(\.name) == ["three", "two", "one"] }
        try await ann.rooms.send(text: "hi", to: rooms[0])
        let last = try await reported.wait {
            $0.last?.records.map(\.name) == ["one", "three", "two"]
        }
        .last?.records.first
        #expect(last?.lastEventText == "hi" && last?.unread == 2)
        let sent = try await ann.rooms.room(rooms[0]).lastEvent.at
        #expect(last?.lastEventAt == sent)
        try await bea.rooms.leave(rooms[1])
        try await reported.wait { $0.last?.records.map(\.name) == ["one", "three"] }
        observation.remove()
    }

    @Test(
        "the person who looks at a room is notified of its members, its name, and of being put out"
    )
    func observedRoom() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let reported = Recorder<Room>()
        let ended = Recorder<ServiceError>()
        let observation = bea.rooms.observeRoom(
            room,
            with: { if case .success(let room) = $0 { reported.record(room) } },
            withCancel: { ended.record($0) },
        )
        try await reported.wait { $0.last?.name == "Tea" }
        try await ann.rooms.setRole(.watcher, of: bea.uid, in: room)
        try await reported.wait { $0.last?.role(of: bea.uid) == .watcher }
        try await ann.rooms.rename(room, to: "Coffee")
        try await reported.wait { $0.last?.name == "Coffee" }
        try await ann.rooms.ban(bea.uid, from: room)
        #expect(try await ended.wait(count: 1) == [.refused("see this room")])
        observation.remove()
    }

    @Test("public rooms are found by name, page by page; private ones are not")
    func publicRooms() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        // A name of its own, since all tests of a process share a server.
        let prefix = "Zoo \(ann.person.username) "
        for character in ["b", "a", "😀", "c"] {
            _ = try await ann.rooms.create(name: prefix + character, type: .public)
        }
        _ = try await ann.rooms.create(name: prefix + "private")
        let all = try await bea.rooms.publicRooms(named: prefix)
        #expect(all.records.map { $0.name.dropFirst(prefix.count) } == ["a", "b", "c", "😀"])
        #expect(all.faults.isEmpty)
        let first = try await bea.rooms.publicRooms(named: prefix, count: 3)
        let rest = try await bea.rooms.publicRooms(named: prefix, after: first.records.last)
        #expect(first.records + rest.records == all.records)
        #expect(try await !bea.rooms.publicRooms(count: 1000).records.isEmpty)

        let room = all.records[0].key
        try await bea.rooms.join(room)
        #expect(try await bea.rooms.room(room).role(of: bea.uid) == .member)
        #expect(try await bea.unread(room) == 0)
        try await ann.rooms.rename(room, to: prefix + "d")
        let renamed = try await bea.rooms.publicRooms(named: prefix).records
        #expect(renamed.map { $0.name.dropFirst(prefix.count) } == ["b", "c", "d", "😀"])
    }

    @Test("a mute is one's own, and a flag is seen by who looks after the room")
    func marks() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let reported = Recorder<Set<String>>()
        let observation = bea.rooms.observeMutes { reported.record($0) }
        try await reported.wait(count: 1)
        try await bea.rooms.mute(room)
        try await bea.rooms.unmute(room)
        #expect(try await reported.wait(count: 3) == [[], [room], []])
        observation.remove()

        let key = try await ann.rooms.send(text: "rude", to: room)
        try await bea.rooms.flag(key, in: room)
        #expect(try await ann.rooms.flags(in: room) == [key: [bea.uid]])
        let failure = await RoomCompany.failure { _ = try await bea.rooms.flags(in: room) }
        #expect(failure == .refused("see the flags of this room"))
        try await bea.rooms.unflag(key, in: room)
        #expect(try await ann.rooms.flags(in: room).isEmpty)
        #expect(
            await RoomCompany.failure { try await bea.rooms.flag("-none", in: room) }?.isRefusal
                == true
        )
    }

    @Test("reading makes nothing unread and shows the others how far one is")
    func readStatus() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let reported = Recorder<Listing<ReadStatus>>()
        let observation = ann.rooms.observeReadStatus(in: room) { reported.record($0) }
        let key = try await ann.rooms.send(text: "hello", to: room)
        #expect(try await bea.unread(room) == 2)
        try await bea.rooms.markRead(room, upTo: key)
        #expect(try await bea.unread(room) == 0)
        let listing = try await reported.wait { $0.last?.records.isEmpty == false }.last
        let status = try #require(listing?.records.first)
        #expect(status.uid == bea.uid && status.upTo == key)
        let sent = try await ann.rooms.room(room).lastEvent.at
        #expect(status.at >= sent)
        #expect(
            await RoomCompany.failure { try await bea.rooms.markRead(room, upTo: "-none") }
                == .refused("mark this room as read")
        )
        observation.remove()
    }

    @Test("what the rules would refuse is refused before it is sent")
    func limits() async throws {
        let ann = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea")
        func field(_ operation: () async throws -> Void) async -> String? {
            guard case .invalid(let field, _) = await RoomCompany.failure(operation) else {
                return nil
            }
            return field
        }
        let long = String(repeating: "n", count: 101)
        #expect(await field { _ = try await ann.rooms.create(name: "") } == "name")
        #expect(await field { _ = try await ann.rooms.create(name: long) } == "name")
        #expect(await field { try await ann.rooms.rename(room, to: long) } == "name")
        #expect(await field { try await ann.rooms.rename(room, to: "Tea") } == "name")
        #expect(await field { try await ann.rooms.send(to: room) } == "text")
        #expect(await field { try await ann.rooms.send(text: "", to: room) } == "text")
        #expect(await field { try await ann.rooms.send(text: "hi", to: "a/b") } == "room")
        #expect(await field { try await ann.rooms.ban("a/b", from: room) } == "uid")
        #expect(await field { try await ann.rooms.invite("", to: room) } == "uid")
        #expect(await field { try await ann.rooms.invite("x", to: room, as: .banned) } == "role")
        #expect(await field { try await ann.rooms.setRole(.banned, of: "x", in: room) } == "role")
        #expect(
            await RoomCompany.failure { try await ann.rooms.invite("stranger", to: room) }
                == .notFound("account with this key")
        )
        #expect(
            await RoomCompany.failure { try await ann.rooms.invite(ann.uid, to: room) }
                == .taken("a membership of this room")
        )
        #expect(
            await RoomCompany.failure { try await ann.rooms.unban("stranger", in: room) }
                == .notFound("ban of them here")
        )
        #expect(try await ann.contents(room) == [.createdChat])
    }

    @Test("the person who has blocked a person is not brought into a room by them")
    func blocks() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        try await bea.person.place("blocks/\(bea.uid)/\(ann.uid)").setValue(true)
        let made = await RoomCompany.failure {
            _ = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        }
        #expect(made == .refused("make a room with these people"))
        let room = try await ann.rooms.create(name: "Tea")
        let invited = await RoomCompany.failure { try await ann.rooms.invite(bea.uid, to: room) }
        #expect(invited == .refused("invite them to this room"))
        #expect(try await bea.value("userRooms/\(bea.uid)") is NSNull)
    }
}
