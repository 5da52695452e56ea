import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

/// What a program could write that does not keep to the rules: each is refused whole, by the rules alone.
@Suite("events that the rules refuse")
struct RoomForgeryTests {
    /// An update that the rules allow, which each case makes wrong in one place.
    static func update(
        _ event: [String: Any],
        in room: String,
        by writer: RoomGuest,
        to people: [String],
    ) -> (key: String, paths: [String: Any]) {
        let key = writer.person.place("roomEvents/\(room)").childByAutoId().key ?? ""
        var paths: [String: Any] = ["roomEvents/\(room)/\(key)": event]
        paths["rooms/\(room)/lastEvent"] = event.merging(["key": key]) { $1 }
        for uid in people {
            paths["userRooms/\(uid)/\(room)/lastEventText"] = event["text"] as? String ?? ""
            paths["userRooms/\(uid)/\(room)/lastEventAt"] = event["at"]
            if uid != writer.uid {
                paths["userRooms/\(uid)/\(room)/unread"] = ServerValue.increment(1)
            }
        }
        return (key, paths)
    }

    static func isAllowed(
        _ paths: [String: Any],
        for writer: RoomGuest,
    ) async throws -> Bool {
        do {
            try await writer.person.database.reference().updateChildValues(paths)
            return true
        } catch DatabaseError.permissionDenied {
            return false
        }
    }

    static func message(_ uid: String, _ more: [String: Any] = [:]) -> [String: Any] {
        let plain: [String: Any] = [
            "kind": "message", "by": uid, "at": ServerValue.timestamp(), "text": "hi",
        ]
        return plain.merging(more) { $1 }.filter { !($0.value is NSNull) }
    }

    @Test("an event is of the server's time, of its writer, of a kind, and makes sense")
    func flatForms() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let now = Date().timeIntervalSince1970 * 1000
        let none = NSNull()
        let cases: [(what: String, fields: [String: Any], isAllowed: Bool)] = [
            ("as it should be", [:], true),
            ("the device's own time", ["at": now], false),
            ("a clock that is a day ahead", ["at": now + 86_400_000], false),
            ("a clock that is a day behind", ["at": now - 86_400_000], false),
            ("no time", ["at": none], false),
            ("in another's name", ["by": ann.uid], false),
            ("by no one", ["by": none], false),
            ("without text, picture and location", ["text": none], false),
            ("a picture alone", ["text": none, "picture": "p"], true),
            (
                "a location alone",
                ["text": none, "location": ["lat": 1, "lng": 2] as [String: Any]], true
            ),
            ("a location without longitude", ["location": ["lat": 1] as [String: Any]], false),
            ("nowhere", ["location": ["lat": 91, "lng": 2] as [String: Any]], false),
            ("a style", ["style": ["color": "red"]], true),
            ("a style of something else", ["style": ["size": "big"]], false),
            ("an empty text", ["text": ""], false),
            ("a text that is a number", ["text": 7], false),
            ("4,000 characters", ["text": String(repeating: "a", count: 4000)], true),
            ("4,001 characters", ["text": String(repeating: "a", count: 4001)], false),
            ("of no kind", ["kind": none], false),
            ("of a kind of its own", ["kind": "shout"], false),
            ("a message about a person", ["target": ann.uid], false),
            ("with a field of an app", ["mood": "fine"], true),
            ("with a field of an app that is no value", ["mood": ["is": "fine"]], false),
            ("making the room once more", ["kind": "createdChat", "text": none], false),
            ("adding no one", ["kind": "addedUser", "text": none], false),
            (
                "adding a person who is in",
                ["kind": "addedUser", "target": ann.uid, "text": none], false
            ),
            (
                "telling of a person who has not left",
                ["kind": "userLeft", "target": ann.uid, "text": none], false
            ),
            (
                "telling of a name that the room has not got",
                ["kind": "renamedChat", "name": "Coffee", "text": none], false
            ),
        ]
        for (what, fields, isAllowed) in cases {
            let event = Self.message(bea.uid, fields)
            let (key, paths) = Self.update(event, in: room, by: bea, to: [ann.uid, bea.uid])
            #expect(try await Self.isAllowed(paths, for: bea) == isAllowed, "\(what)")
            let isThere = try await !(ann.value("roomEvents/\(room)/\(key)") is NSNull)
            #expect(isThere == isAllowed, "\(what)")
        }
        #expect(try await ann.rooms.olderEvents(in: room, before: nil).faults.isEmpty)
    }

    @Test("no one who is not in, may not speak or is banned writes past the service")
    func outsiders() async throws {
        let ann = try await RoomCompany.guest()
        let others = try await RoomCompany.guests(3)
        let (watcher, banned, outsider) = (others[0], others[1], others[2])
        for type in RoomType.allCases {
            let room = try await ann.rooms.create(
                name: "Tea",
                type: type,
                inviting: [watcher.uid, banned.uid],
            )
            try await ann.rooms.setRole(.watcher, of: watcher.uid, in: room)
            try await ann.rooms.ban(banned.uid, from: room)
            for writer in [ann, watcher, banned, outsider] {
                let (_, paths) = Self.update(
                    Self.message(writer.uid),
                    in: room,
                    by: writer,
                    to: [ann.uid, watcher.uid],
                )
                #expect(try await Self.isAllowed(paths, for: writer) == (writer.uid == ann.uid))
                // Coming in: into a public room, and not after a ban.
                let entry: [String: Any] = [
                    "name": "Tea", "lastEventText": "", "lastEventAt": ServerValue.timestamp(),
                    "unread": 0,
                ]
                var (_, coming) = Self.update(
                    Self.message(
                        writer.uid,
                        ["kind": "addedUser", "target": writer.uid, "text": NSNull()],
                    ),
                    in: room,
                    by: writer,
                    to: [ann.uid, watcher.uid],
                )
                coming["rooms/\(room)/members/\(writer.uid)"] = "member"
                coming["userRooms/\(writer.uid)/\(room)"] = entry
                let isJoining = writer.uid == outsider.uid && type == .public
                if writer.uid != ann.uid, writer.uid != watcher.uid {
                    #expect(try await Self.isAllowed(coming, for: writer) == isJoining)
                }
            }
        }
    }

    @Test("what belongs together is written together, and what was said stays said")
    func parts() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let cid = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let said = try await bea.rooms.send(text: "said", to: room)
        let made = try await ann.rooms.olderEvents(in: room, before: nil).records[0].key
        try await bea.rooms.markRead(room, upTo: said)
        let event = Self.message(bea.uid)
        let (key, whole) = Self.update(event, in: room, by: bea, to: [ann.uid, bea.uid])
        var cases: [(what: String, paths: [String: Any])] = [
            ("an event that is not the room's last", ["roomEvents/\(room)/\(key)": event]),
            (
                "a last event that is no event",
                ["rooms/\(room)/lastEvent": event.merging(["key": key]) { $1 }]
            ),
            ("an event that was there", ["roomEvents/\(room)/\(said)/text": "never said"]),
            ("an event that goes", ["roomEvents/\(room)/\(said)": NSNull()]),
            ("another's list without an event", ["userRooms/\(ann.uid)/\(room)/unread": 0]),
            ("going without an event", ["rooms/\(room)/members/\(bea.uid)": NSNull()]),
            (
                "another's reading",
                [
                    "readStatus/\(room)/\(ann.uid)": [
                        "upTo": said, "at": ServerValue.timestamp(),
                    ] as [String: Any]
                ]
            ),
            (
                "reading at a time of one's own",
                ["readStatus/\(room)/\(bea.uid)": ["upTo": said, "at": 1] as [String: Any]]
            ),
            (
                "reading that goes back",
                [
                    "readStatus/\(room)/\(bea.uid)": [
                        "upTo": made, "at": ServerValue.timestamp(),
                    ] as [String: Any]
                ]
            ),
            ("another's typing", ["typing/\(room)/\(ann.uid)": true]),
            ("another's mute", ["mutes/\(ann.uid)/\(room)": true]),
            ("another's flag", ["flags/\(room)/\(said)/\(ann.uid)": true]),
            (
                "another's presence",
                [
                    "presence/\(ann.uid)/s": [
                        "online": true, "at": ServerValue.timestamp(),
                    ] as [String: Any]
                ]
            ),
            ("another's last time", ["lastOnline/\(ann.uid)": ServerValue.timestamp()]),
            ("a last time of one's own", ["lastOnline/\(bea.uid)": 1]),
        ]
        var twoMore = whole
        twoMore["userRooms/\(ann.uid)/\(room)/unread"] = ServerValue.increment(2)
        cases.append(("an event that counts twice", twoMore))
        var otherText = whole
        otherText["userRooms/\(ann.uid)/\(room)/lastEventText"] = "something else"
        cases.append(("another text in another's list", otherText))
        for (what, paths) in cases {
            #expect(try await !Self.isAllowed(paths, for: bea), "\(what)")
        }
        // The owner may do everything, but not these.
        let entry: [String: Any] = [
            "name": "Tea", "lastEventText": "said", "unread": 0,
            "lastEventAt": try await ann.value("roomEvents/\(room)/\(said)/at"),
        ]
        let coming: [String: Any] = [
            "rooms/\(room)/members/\(cid.uid)": "member", "userRooms/\(cid.uid)/\(room)": entry,
        ]
        let ownersCases: [(what: String, paths: [String: Any])] = [
            ("a name without an event", ["rooms/\(room)/name": "Coffee"]),
            ("a type", ["rooms/\(room)/type": "public"]),
            ("when it was made", ["rooms/\(room)/createdAt": ServerValue.timestamp()]),
            ("who made it", ["rooms/\(room)/createdBy": bea.uid]),
            ("a room that goes", ["rooms/\(room)": NSNull()]),
            ("coming without an event", coming),
            ("putting out without an event", ["rooms/\(room)/members/\(bea.uid)": NSNull()]),
            (
                "putting out of list and room without an event",
                [
                    "rooms/\(room)/members/\(bea.uid)": NSNull(),
                    "userRooms/\(bea.uid)/\(room)": NSNull(),
                ]
            ),
            ("another's event that goes", ["roomEvents/\(room)/\(said)": NSNull()]),
            ("another's list without an event", ["userRooms/\(bea.uid)/\(room)/unread": 0]),
        ]
        for (what, paths) in ownersCases {
            #expect(try await !Self.isAllowed(paths, for: ann), "the owner: \(what)")
        }
        #expect(try await Self.isAllowed(whole, for: bea))
        let own = ["presence/\(bea.uid)/s": ["online": true, "at": ServerValue.timestamp()]]
        #expect(try await Self.isAllowed(own, for: bea))
        #expect(try await ann.contents(room).count == 3)
        #expect(try await ann.unread(room) == 2)
    }

    @Test("the person who is not signed in sees nothing and writes nothing")
    func stranger() async throws {
        let ann = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Open", type: .public)
        let stranger = RoomCompany.guest(try RoomCompany.server().stranger())
        let failures = [
            await RoomCompany.failure { _ = try await stranger.rooms.room(room) },
            await RoomCompany.failure { _ = try await stranger.rooms.publicRooms() },
            await RoomCompany.failure {
                _ = try await stranger.rooms.olderEvents(in: room, before: nil)
            },
        ]
        #expect(failures.allSatisfy { $0?.isRefusal == true })
        let (_, paths) = Self.update(Self.message("x"), in: room, by: stranger, to: [ann.uid])
        #expect(try await !Self.isAllowed(paths, for: stranger))
    }
}
