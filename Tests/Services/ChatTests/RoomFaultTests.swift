import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import TestSupport
import Testing

/// A server without rules, on which anything can be written.
@Suite("half-valid rooms and events")
struct RoomFaultTests {
    /// Anything may be written; the indexes are those of the sample rules.
    private static let rules = """
        {"rules": {
            ".read": true, ".write": true, "publicRooms": {".indexOn": [".value"]},
            "roomEvents": {"$r": {".indexOn": ["at"]}},
            "userRooms": {"$u": {".indexOn": ["lastEventAt"]}}
        }}
        """

    private static func server() throws -> RunningServer {
        let folder = try TemporaryFolder()
        let file = try folder.file("open.json", rules)
        return try RunningServer(arguments: ["--dev", "--memory", "--rules", file])
    }

    @Test("what is no event is left out and reported, live and in pages; the others arrive")
    func events() async throws {
        let server = try Self.server()
        let writer = try Person(server.url)
        let rooms = RoomService(
            database: writer.database,
            me: UserProfile(uid: "ann", username: "Ann"),
        )
        func event(_ at: Any, _ more: [String: Any]) -> [String: Any] {
            ["at": at, "by": "ann", "kind": "message"].merging(more) { $1 }
        }
        let stored: [String: Any] = [
            "a": event(1, ["text": "one"]),
            "b": event(2, [:]),
            "c": event(3, ["kind": "addedUser"]),
            "d": event(4, ["text": "four", "location": ["lat": "north"]]),
            "e": "no event at all",
            "f": event("today", ["text": "five"]),
            "g": event(5, ["picture": "p"]),
        ]
        try await writer.place("roomEvents/r").setValue(stored)
        let page = try await rooms.olderEvents(in: "r", before: nil)
        #expect(page.records.map(\.key) == ["a", "g"])
        #expect(
            page.faults.map(\.path).sorted()
                == ["b", "c", "d", "e", "f"].map { "roomEvents/r/\($0)" }
        )
        #expect(
            page.faults.first { $0.path.hasSuffix("c") }?.reason == "target: nothing is there"
        )

        // Pages of nothing but faults do not end the way back.
        for count in 1...3 {
            var held: [RoomEvent] = []
            while true {
                let older = try await rooms.olderEvents(
                    in: "r",
                    before: held.first?.position,
                    count: count,
                )
                if older.records.isEmpty { break }
                held = older.records + held
            }
            #expect(held.map(\.key) == ["a", "g"])
        }

        let reported = Recorder<EventChange>()
        let observation = rooms.observeEvents(in: "r") { reported.record($0) }
        try await reported.wait { $0.contains(.caughtUp) }
        try await writer.place("roomEvents/r/h").setValue(event(6, ["text": ""]))
        try await writer.place("roomEvents/r/i").setValue(event(7, ["text": "seven"]))
        let changes = try await reported.wait { changes in
            changes.contains { if case .added(let event) = $0 { event.key == "i" } else { false } }
        }
        let added = changes.compactMap { if case .added(let event) = $0 { event.key } else { nil } }
        #expect(added == ["a", "g", "i"])
        #expect(changes.count { if case .faulty = $0 { true } else { false } } == 6)
        observation.remove()
    }

    @Test("a list leaves out rooms that are none, and an operation on one says what is wrong")
    func rooms() async throws {
        let server = try Self.server()
        let writer = try Person(server.url)
        let rooms = RoomService(
            database: writer.database,
            me: UserProfile(uid: "ann", username: "Ann"),
        )
        let entry: [String: Any] = [
            "name": "Tea", "lastEventText": "hi", "lastEventAt": 5, "unread": 0,
        ]
        try await writer.database.reference().updateChildValues([
            "userRooms/ann/good": entry,
            "userRooms/ann/bare": ["name": "Tea"],
            "userRooms/ann/below": entry.merging(["unread": -1]) { $1 },
            "userRooms/ann/text": "Tea",
            "readStatus/r/bea": ["upTo": "e", "at": 5] as [String: Any],
            "readStatus/r/cid": ["at": 5],
            "publicRooms/p": "Open",
            "publicRooms/q": ["name": "Open"],
            "rooms/r": ["name": "Tea"],
        ])
        let list = Recorder<Listing<RoomSummary>>()
        let status = Recorder<Listing<ReadStatus>>()
        let room = Recorder<Result<Room, RecordFault>>()
        let observations = [
            rooms.observeRooms { list.record($0) },
            rooms.observeReadStatus(in: "r") { status.record($0) },
            rooms.observeRoom("r") { room.record($0) },
        ]
        let listing = try await list.wait(count: 1)[0]
        #expect(listing.records.map(\.key) == ["good"])
        #expect(listing.faults.count == 3)
        let statuses = try await status.wait(count: 1)[0]
        #expect(statuses.records.map(\.uid) == ["bea"] && statuses.faults.count == 1)
        let looked = try await room.wait(count: 1)[0]
        #expect(throws: RecordFault.self) { try looked.get() }
        let page = try await rooms.publicRooms()
        #expect(page.records.map(\.key) == ["p"] && page.faults.count == 1)
        let failure = await RoomCompany.failure { try await rooms.send(text: "hi", to: "r") }
        guard case .faulty(let fault) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(fault.path == "rooms/r")
        let none = await RoomCompany.failure { try await rooms.send(text: "hi", to: "none") }
        #expect(none == .notFound("room"))
        for observation in observations { observation.remove() }
    }

    @Test(
        "an event that was reported and makes no sense any more is reported as gone, and as there again"
    )
    func changes() async throws {
        let server = try Self.server()
        let writer = try Person(server.url)
        let rooms = RoomService(
            database: writer.database,
            me: UserProfile(uid: "ann", username: "Ann"),
        )
        func event(_ at: Int, _ text: String) -> [String: Any] {
            ["at": at, "by": "ann", "kind": "message", "text": text]
        }
        @Sendable func words(_ change: EventChange) -> String {
            switch change {
            case .added(let event): "+\(event.key) \(text(event))"
            case .changed(let event): "=\(event.key) \(text(event))"
            case .removed(let event): "-\(event.key) \(text(event))"
            case .faulty(let fault): "?\(fault.path.suffix(1))"
            case .caughtUp: "."
            }
        }
        @Sendable func text(_ event: RoomEvent) -> String {
            if case .message(let message) = event.content { message.text ?? "" } else { "note" }
        }
        let place = writer.place("roomEvents/r")
        try await place.setValue(["a": event(1, "one"), "b": event(2, "")])
        let reported = Recorder<EventChange>()
        let observation = rooms.observeEvents(in: "r", newest: 2) { reported.record($0) }
        try await reported.wait { $0.contains(.caughtUp) }
        try await place.child("a").setValue(event(1, ""))
        try await place.child("a").setValue(event(1, "uno"))
        try await place.child("b").setValue(event(2, "two"))
        try await place.child("b").setValue(event(2, "due"))
        // One that is pushed out, and comes back when the newest one goes.
        try await place.child("c").setValue(event(3, "three"))
        try await place.child("c").removeValue()
        try await place.child("a").removeValue()
        try await reported.wait { $0.last.map(words) == "-a uno" }
        let expected = [
            "+a one", "?b", ".", "-a one", "?a", "+a uno", "+b two", "=b due", "+c three",
            "-c three", "-a uno",
        ]
        #expect(reported.values.map(words) == expected)
        observation.remove()
    }

    @Test(
        "rooms and entries that make no sense keep no other room from being mended, and are reported"
    )
    func mending() async throws {
        let server = try Self.server()
        let writer = try Person(server.url)
        let rooms = RoomService(
            database: writer.database,
            me: UserProfile(uid: "ann", username: "Ann"),
        )
        let entry: [String: Any] = [
            "name": "Tea", "lastEventText": "hi", "lastEventAt": 5, "unread": 1,
        ]
        func event(by uid: String) -> [String: Any] {
            ["at": 9, "by": uid, "kind": "addedUser", "target": "cid"]
        }
        func room(by uid: String) -> [String: Any] {
            [
                "name": "Coffee", "createdAt": 1, "createdBy": "bea", "type": "private",
                "members": ["ann": "member"],
                "lastEvent": event(by: uid).merging(["key": "e"]) { $1 },
            ]
        }
        var update: [String: Any] = [
            "userRooms/ann/bare": ["name": "Tea"], "rooms/bare": room(by: "bea"),
            "userRooms/ann/gone": entry,
            "userRooms/ann/odd": entry, "rooms/odd": room(by: "b/ea"),
            "userRooms/ann/half": entry, "rooms/half": ["name": "Tea"],
        ]
        // Among the others by name, before and behind them.
        for good in ["a", "g", "z"] {
            update["userRooms/ann/\(good)"] = entry
            update["rooms/\(good)"] = room(by: "bea")
            update["roomEvents/\(good)/e"] = event(by: "bea")
        }
        try await writer.database.reference().updateChildValues(update)
        let faults = try await rooms.mend()
        #expect(
            Set(faults.map(\.path))
                == ["userRooms/ann/bare", "rooms/gone", "rooms/odd/lastEvent", "rooms/half"]
        )
        #expect(faults.count == 4)
        #expect(faults.first { $0.path == "rooms/gone" }?.reason == "there is no room")
        for good in ["a", "g", "z"] {
            let mended = try #require(
                try await writer.value("userRooms/ann/\(good)") as? [String: Any]
            )
            #expect(mended["name"] as? String == "Coffee" && mended["unread"] as? Int == 2)
            #expect(mended["lastEventText"] as? String == "a former user added a former user")
            #expect(mended["lastEventAt"] as? Int == 9)
        }
        // Nothing is left to mend, but what makes no sense still is reported.
        #expect(try await rooms.mend().count == 4)
    }
}
