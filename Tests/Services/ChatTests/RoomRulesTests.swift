import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

/// What the rules say of rooms to clients that know nothing of the service, allowed and refused.
@Suite("what the rules enforce of rooms")
struct RoomRulesTests {
    private static func mayRead(_ query: DatabaseQuery) async throws -> Bool {
        do {
            try await query.getData()
            return true
        } catch DatabaseError.permissionDenied {
            return false
        }
    }

    private static func isAllowed(
        _ paths: [String: Any],
        for writer: RoomGuest,
    ) async throws -> Bool {
        try await RoomForgeryTests.isAllowed(paths, for: writer)
    }

    @Test(
        "a list is its owner's, rooms are not listed, and events are of the person who sees the room"
    )
    func readers() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let outsider = try await RoomCompany.guest()
        let stranger = RoomCompany.guest(try RoomCompany.server().stranger())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let open = try await ann.rooms.create(name: "Open", type: .public)
        func may(_ reader: RoomGuest, _ path: String) async throws -> Bool {
            try await Self.mayRead(reader.person.place(path))
        }
        for member in [ann, bea] {
            for path in ["userRooms/\(member.uid)", "rooms/\(room)", "roomEvents/\(room)"] {
                #expect(try await may(member, path), "\(path)")
            }
            #expect(try await may(member, "readStatus/\(room)"))
        }
        #expect(try await may(outsider, "rooms/\(open)"))
        #expect(try await may(outsider, "roomEvents/\(open)"))
        #expect(try await may(outsider, "publicRooms/\(open)") == false)
        let lists = [
            "userRooms", "userRooms/\(ann.uid)", "userRooms/\(ann.uid)/\(room)",
            "userRooms/\(ann.uid)/\(room)/unread",
        ]
        // Members are not above these: a list is read by its owner, and the room's others by no one.
        for reader in [bea, outsider, stranger] {
            for path in lists + ["rooms", "roomEvents", "readStatus", "typing", "publicRooms"] {
                #expect(try await !may(reader, path), "\(path)")
            }
        }
        #expect(try await !may(ann, "userRooms"))
        let event = try await ann.rooms.room(room).lastEvent.key
        let hidden = [
            "rooms/\(room)", "rooms/\(room)/name", "rooms/\(room)/members", "roomEvents/\(room)",
            "roomEvents/\(room)/\(event)", "readStatus/\(room)", "typing/\(room)",
        ]
        for reader in [outsider, stranger] {
            for path in hidden { #expect(try await !may(reader, path), "\(path)") }
        }
        for path in ["rooms/\(open)", "roomEvents/\(open)"] {
            #expect(try await !may(stranger, path), "\(path)")
        }
    }

    @Test("public rooms are looked at by a page of names, and named by who looks after them")
    func publicRooms() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let outsider = try await RoomCompany.guest()
        let stranger = RoomCompany.guest(try RoomCompany.server().stranger())
        let open = try await ann.rooms.create(name: "Open", type: .public, inviting: [bea.uid])
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        func place(_ guest: RoomGuest) -> DatabaseQuery { guest.person.place("publicRooms") }
        let page = place(outsider).queryOrderedByValue()
        #expect(try await Self.mayRead(page.queryLimited(toFirst: 100)))
        #expect(try await !Self.mayRead(page.queryLimited(toFirst: 101)))
        #expect(try await !Self.mayRead(page.queryLimited(toLast: 10)))
        #expect(try await !Self.mayRead(page))
        let byKey = place(outsider).queryOrderedByKey().queryLimited(toFirst: 10)
        #expect(try await !Self.mayRead(byKey))
        let strangers = place(stranger).queryOrderedByValue().queryLimited(toFirst: 10)
        #expect(try await !Self.mayRead(strangers))

        for writer in [bea, outsider, stranger] {
            #expect(try await !Self.isAllowed(["publicRooms/\(open)": NSNull()], for: writer))
            #expect(try await !Self.isAllowed(["publicRooms/\(open)": "Open"], for: writer))
        }
        #expect(try await !Self.isAllowed(["publicRooms/\(open)": "Another"], for: ann))
        #expect(try await !Self.isAllowed(["publicRooms/\(room)": "Tea"], for: ann))
        #expect(try await !Self.isAllowed(["publicRooms/-none": "Tea"], for: ann))
        // The person who looks after it takes it off the list and puts it there again.
        #expect(try await Self.isAllowed(["publicRooms/\(open)": NSNull()], for: ann))
        #expect(try await Self.isAllowed(["publicRooms/\(open)": "Open"], for: ann))
    }

    @Test(
        "the person who is banned or not in changes nothing, with all that belongs to it",
        arguments: RoomType.allCases
    )
    func outsiders(type: RoomType) async throws {
        let ann = try await RoomCompany.guest()
        let others = try await RoomCompany.guests(4)
        let (bea, banned, outsider, third) = (others[0], others[1], others[2], others[3])
        let room = try await ann.rooms.create(
            name: "Tea",
            type: type,
            inviting: [bea.uid, banned.uid],
        )
        try await ann.rooms.ban(banned.uid, from: room)
        let before = try await ann.contents(room)
        for writer in [banned, outsider] {
            for (what, paths) in Self.deeds(writer, in: room, type, ann, bea, third) {
                #expect(try await !Self.isAllowed(paths, for: writer), "\(what)")
            }
        }
        #expect(try await ann.contents(room) == before)
        #expect(try await ann.rooms.room(room).members.count == 3)
        // What is refused to them is refused for who they are: the owner may write each of these.
        for (what, paths) in Self.deeds(ann, in: room, type, ann, bea, third) {
            #expect(try await Self.isAllowed(paths, for: ann), "\(what)")
        }
        #expect(
            try await bea.saw(
                before + [
                    .renamedChat("Mine"), .addedUser(third.uid), .userLeft(bea.uid),
                    .addedUser(bea.uid), .userLeft(ann.uid),
                ],
                in: room
            )
        )
    }

    /// Whole updates of a writer, of whom nothing but the writer is wrong: in the room as the one before leaves it if that
    /// is the owner, who may do each and goes with the last one; else in the room as it is.
    private static func deeds(
        _ writer: RoomGuest,
        in room: String,
        _ type: RoomType,
        _ ann: RoomGuest,
        _ bea: RoomGuest,
        _ third: RoomGuest,
    ) -> [(what: String, paths: [String: Any])] {
        let isOwner = writer.uid == ann.uid
        func update(
            _ kind: String,
            _ fields: [String: Any],
            to people: [RoomGuest],
            _ more: [String: Any],
        ) -> [String: Any] {
            let event = RoomForgeryTests.message(
                writer.uid,
                fields.merging(["kind": kind, "text": NSNull()]) { $1 },
            )
            let (_, paths) = RoomForgeryTests.update(
                event,
                in: room,
                by: writer,
                to: people.map(\.uid),
            )
            return paths.merging(more) { $1 }
        }
        func coming(_ guest: RoomGuest, as role: String, _ people: [RoomGuest]) -> [String: Any] {
            let entry: [String: Any] = [
                "name": isOwner ? "Mine" : "Tea", "lastEventText": "",
                "lastEventAt": ServerValue.timestamp(),
                "unread": guest.uid == writer.uid ? 0 : 1,
            ]
            return update(
                "addedUser",
                ["target": guest.uid],
                to: people,
                [
                    "rooms/\(room)/members/\(guest.uid)": role,
                    "userRooms/\(guest.uid)/\(room)": entry,
                ],
            )
        }
        func going(_ guest: RoomGuest, _ people: [RoomGuest]) -> [String: Any] {
            update(
                "userLeft",
                ["target": guest.uid],
                to: people,
                [
                    "rooms/\(room)/members/\(guest.uid)": NSNull(),
                    "userRooms/\(guest.uid)/\(room)": NSNull(),
                ],
            )
        }
        var name: [String: Any] = ["rooms/\(room)/name": "Mine"]
        for member in [ann, bea] { name["userRooms/\(member.uid)/\(room)/name"] = "Mine" }
        if type == .public { name["publicRooms/\(room)"] = "Mine" }
        return [
            ("rename", update("renamedChat", ["name": "Mine"], to: [ann, bea], name)),
            ("bring in a third", coming(third, as: "member", [ann, bea])),
            ("put a member out", going(bea, isOwner ? [ann, third] : [ann])),
            (
                "come in with a role",
                isOwner
                    ? coming(bea, as: "admin", [ann, third])
                    : coming(writer, as: "admin", [ann, bea])
            ),
            ("put the owner out", going(ann, isOwner ? [bea, third] : [bea])),
        ]
    }
}
