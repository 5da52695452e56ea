import Chat
import HearthDatabase
import ServiceSupport
import TestSupport
import Testing

@Suite("What the rules refuse")
struct RefusalTests {
    @Test("each operation in a room of others is refused, and the own list is as it was")
    func strangers() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let cid = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let before = try await ann.contents(room)
        let event = try #require(
            try await ann.rooms.olderEvents(in: room, before: nil).records.first
        )
        let list = cid.person.place("userRooms/\(cid.uid)")
        let seen = Recorder<UInt>()
        let handle = list.observe(.value) { seen.record($0.childrenCount) }
        defer { list.removeObserver(withHandle: handle) }
        try await seen.wait(count: 1)
        let operations: [(String, () async throws -> Void)] = [
            ("send", { try await cid.rooms.send(text: "hi", to: room) }),
            ("rename", { try await cid.rooms.rename(room, to: "Mine") }),
            ("invite", { try await cid.rooms.invite(cid.uid, to: room) }),
            ("join", { try await cid.rooms.join(room) }),
            ("ban", { try await cid.rooms.ban(bea.uid, from: room) }),
            ("remove", { try await cid.rooms.remove(bea.uid, from: room) }),
            ("role", { try await cid.rooms.setRole(.member, of: bea.uid, in: room) }),
            ("flag", { try await cid.rooms.flag(event.key, in: room) }),
            ("read", { try await cid.rooms.markRead(room, upTo: event.key) }),
            ("typing", { try await cid.rooms.startTyping(in: room) }),
        ]
        for (name, operation) in operations {
            let failure = await RoomCompany.failure(operation)
            #expect(failure?.isRefusal == true, "\(name): \(String(describing: failure))")
        }
        await cid.person.queueIsEmpty()
        #expect(seen.values.first == 0 && seen.values.last == 0)
        #expect(try await cid.value("userRooms/\(cid.uid)") as? [String: Any] == nil)
        #expect(try await ann.contents(room) == before)
    }

    @Test("a refused room and a refused message are shown at once, and then taken back")
    func takenBack() async throws {
        let pair = try await DirectPair(RoomCompany.server())
        let (ann, bob) = (pair.ann, pair.bob)
        try await bob.person.place("blocks/\(bob.uid)/\(ann.uid)").setValue(true)
        let rooms = RoomCompany.guest(ann.person).rooms
        let seenRooms = Recorder<UInt>()
        let list = ann.person.place("userRooms/\(ann.uid)")
        let roomHandle = list.observe(.value) { seenRooms.record($0.childrenCount) }
        defer { list.removeObserver(withHandle: roomHandle) }
        let seenTexts = Recorder<String>()
        let text = ann.person.place("chats/\(ann.uid)/\(pair.chat.key)/lastMessage")
        let textHandle = text.observe(.value) { seenTexts.record($0.value as? String ?? "none") }
        defer { text.removeObserver(withHandle: textHandle) }
        try await seenRooms.wait(count: 1)
        try await seenTexts.wait(count: 1)

        let made = await RoomCompany.failure {
            _ = try await rooms.create(name: "Tea", inviting: [bob.uid])
        }
        #expect(made?.isRefusal == true)
        let sent = await RoomCompany.failure {
            _ = try await ann.chats.sendMessage("lost", for: pair.chat)
        }
        #expect(sent?.isRefusal == true)
        await ann.person.queueIsEmpty()
        #expect(seenRooms.values.last == 0)
        // Once for each time that it was tried.
        let texts = seenTexts.values
        #expect(texts.count > 2 && texts.first == texts.last && Set(texts).count == 2)
        #expect(try await ann.contents(pair.chat.key) == ["hi"])
    }
}
