import Chat
import HearthDatabase
import ServiceSupport
import Testing

@Suite("what becomes of what was said in a direct chat")
struct DirectRevisionTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    private func message(_ key: String, _ pair: DirectPair) async throws -> Message? {
        try await pair.bob.chats.olderMessages(forChatKey: pair.chat.key, before: nil)
            .records.first { $0.key == key }
    }

    @Test("each message counts as unread for the other, until they mark it as read")
    func counts() async throws {
        let pair = try await DirectPair(server)
        let (ann, bob, key) = (pair.ann, pair.bob, pair.chat.key)
        #expect(try await ann.unread(key) == 0)
        #expect(try await bob.unread(key) == 1)
        let second = try await ann.chats.sendMessage("are you there?", for: pair.chat)
        let third = try await ann.chats.sendMessage("hello?", for: pair.chat)
        #expect(try await bob.unread(key) == 3)
        #expect(try await ann.unread(key) == 0)

        let statuses = Recorder<Listing<ReadStatus>>()
        let rooms = RoomService(database: ann.person.database, me: ann.profile)
        let observation = rooms.observeReadStatus(in: key) { statuses.record($0) }
        try await bob.chats.markRead(key, upTo: second)
        #expect(try await bob.unread(key) == 1)
        try await statuses.wait { $0.last?.records.map(\.upTo) == [second] }
        #expect(statuses.values.last?.records.first?.uid == bob.uid)
        // Reading never goes back.
        try await bob.chats.markRead(key, upTo: pair.chat.lastMessageKey)
        #expect(try await bob.unread(key) == 1)
        try await bob.chats.markRead(key, upTo: third)
        try await statuses.wait { $0.last?.records.map(\.upTo) == [third] }
        #expect(try await bob.unread(key) == 0)
        try await bob.chats.markRead(key, upTo: second)
        #expect(try await bob.unread(key) == 0)
        observation.remove()
        #expect(statuses.values.compactMap { $0.records.first?.upTo } == [second, third])

        let answer = try await bob.chats.sendMessage("yes", for: pair.chat)
        #expect(try await ann.unread(key) == 1)
        try await ann.chats.markRead(key, upTo: answer)
        #expect(try await ann.unread(key) == 0)
        // A copy that comes back whole counts from one.
        try await bob.chats.delete(pair.chat)
        try await ann.chats.sendMessage("well", for: pair.chat)
        #expect(try await bob.unread(key) == 1)
    }

    @Test("what comes while a chat is marked as read stays unread")
    func races() async throws {
        let pair = try await DirectPair(server)
        let (ann, bob, key) = (pair.ann, pair.bob, pair.chat.key)
        async let sent: Void = {
            for number in 1...10 { try await ann.chats.sendMessage("\(number)", for: pair.chat) }
        }()
        for _ in 1...5 {
            let newest = try await bob.chats.olderMessages(forChatKey: key, before: nil, count: 1)
            try await bob.chats.markRead(key, upTo: try #require(newest.records.last).key)
        }
        try await sent
        let all = try await bob.chats.olderMessages(forChatKey: key, before: nil).records
        let upTo = try await bob.person.value("readStatus/\(key)/\(bob.uid)/upTo") as? String
        let index = try #require(all.firstIndex { $0.key == upTo })
        #expect(try await bob.unread(key) == all.count - 1 - index)
        try await bob.chats.markRead(key, upTo: try #require(all.last).key)
        #expect(try await bob.unread(key) == 0)
    }

    @Test("a room under the key of a chat keeps no one from counting it as read")
    func collides() async throws {
        let bob = try await Chatter(server, "bob")
        let ann = try await Chatter(server, "ann", follows: bob)
        let eve = try await Chatter(server, "eve")
        let (key, time) = (ann.key(bob), ServerValue.timestamp())
        let event: [String: Any] = ["kind": "createdChat", "at": time, "by": eve.uid]
        let room: [String: Any] = [
            "name": "x", "createdAt": time, "createdBy": eve.uid, "type": "private",
            "members": [eve.uid: "owner"], "lastEvent": event.merging(["key": "e"]) { $1 },
        ]
        let entry: [String: Any] = [
            "name": "x", "lastEventText": "", "lastEventAt": time, "unread": 0,
        ]
        #expect(
            try await eve.isAllowed([
                "rooms/\(key)": room, "roomEvents/\(key)/e": event,
                "userRooms/\(eve.uid)/\(key)": entry,
            ])
        )
        let chat = try await ann.chats.create(from: "hi", with: bob.profile)
        #expect(chat.key == key)
        try await bob.chats.markRead(key, upTo: chat.lastMessageKey)
        #expect(try await bob.unread(key) == 0)
    }

    @Test("words are changed by the person who said them, in the copies too, and are marked")
    func edits() async throws {
        let pair = try await DirectPair(server)
        let (ann, bob, chat) = (pair.ann, pair.bob, pair.chat)
        let reported = Recorder<MessageEvent>()
        let observation = bob.chats.observeMessages(forChatKey: chat.key) { reported.record($0) }
        try await reported.wait { $0.contains(.caughtUp) }
        try await ann.chats.edit(chat.lastMessageKey, to: "hi, Bob", in: chat)
        try await reported.wait { if case .changed = $0.last { true } else { false } }
        let changed = try #require(try await message(chat.lastMessageKey, pair))
        #expect(changed.content == "hi, Bob" && changed.editedAt != nil && !changed.isDeleted)
        #expect(reported.values.last == .changed(changed))
        for person in [ann, bob] {
            #expect(try await person.last(chat.key) == "\(ann.profile.username): hi, Bob")
        }
        #expect(try await bob.unread(chat.key) == 1)

        // An older one changes no list.
        let later = try await bob.chats.sendMessage("yes?", for: chat)
        try await ann.chats.edit(chat.lastMessageKey, to: "hello, Bob", in: chat)
        #expect(try await ann.last(chat.key) == "\(bob.profile.username): yes?")
        #expect(try await bob.contents(chat.key) == ["hello, Bob", "yes?"])

        await #expect(throws: ServiceError.refused("change this message")) {
            try await ann.chats.edit(later, to: "no", in: chat)
        }
        await #expect(throws: ServiceError.invalid(field: "content", why: "it is empty")) {
            try await ann.chats.edit(chat.lastMessageKey, to: "", in: chat)
        }
        await #expect(throws: ServiceError.notFound("message with this key")) {
            try await ann.chats.edit("-none", to: "x", in: chat)
        }
        // Of those who have deleted their copy, and not.
        try await ann.chats.delete(chat)
        try await bob.chats.edit(later, to: "what?", in: chat)
        #expect(try await bob.last(chat.key) == "\(bob.profile.username): what?")
        try await bob.chats.delete(chat)
        try await bob.chats.edit(later, to: "what is it?", in: chat)
        #expect(try await ann.contents(chat.key) == ["hello, Bob", "what is it?"])
        let blocks = BlockService(database: bob.person.database, uid: bob.uid)
        try await blocks.block(ann.uid)
        await #expect(throws: ServiceError.refused("change this message")) {
            try await ann.chats.edit(chat.lastMessageKey, to: "you", in: chat)
        }
        observation.remove()
    }

    @Test("a message is deleted by the person who said it, and leaves who and when")
    func deletions() async throws {
        let pair = try await DirectPair(server)
        let (ann, bob, chat) = (pair.ann, pair.bob, pair.chat)
        let second = try await ann.chats.sendMessage("secret", for: chat)
        // An own field of an app goes too.
        let own = "messages/\(chat.key)/\(second)"
        let before = try #require(try await message(second, pair))
        try await ann.chats.delete(second, in: chat)
        let deleted = try #require(try await message(second, pair))
        #expect(deleted.isDeleted && deleted.content.isEmpty)
        #expect(deleted.sentAt == before.sentAt && deleted.sender == before.sender)
        #expect(deleted.timestamp == before.timestamp)
        let left = try await bob.person.value(own) as? [String: Any]
        #expect(left?.keys.sorted() == ["deletedAt", "sender", "sentAt", "timestamp"])
        for person in [ann, bob] {
            #expect(try await person.last(chat.key) == "\(ann.profile.username): message deleted")
        }
        // Twice is harmless, and nothing is said in its place.
        try await ann.chats.delete(second, in: chat)
        await #expect(throws: ServiceError.notFound("message any more")) {
            try await ann.chats.edit(second, to: "back", in: chat)
        }
        await #expect(throws: ServiceError.refused("delete this message")) {
            try await bob.chats.delete(chat.lastMessageKey, in: chat)
        }
        try await ann.chats.delete(chat.lastMessageKey, in: chat)
        try await bob.chats.markRead(chat.key, upTo: second)
        #expect(try await bob.unread(chat.key) == 0)
        try await bob.chats.sendMessage("what was it?", for: chat, replyingTo: second)
        #expect(try await ann.contents(chat.key) == ["", "", "what was it?"])
    }

    @Test("a message answers another of its chat")
    func replies() async throws {
        let pair = try await DirectPair(server)
        let (bob, chat) = (pair.bob, pair.chat)
        let key = try await bob.chats.sendMessage(
            "hi yourself",
            for: chat,
            replyingTo: chat.lastMessageKey
        )
        #expect(try await message(key, pair)?.replyTo == chat.lastMessageKey)
        let states = Recorder<OutgoingMessage>()
        let outbox = Outbox(pair.ann.chats) { states.record($0) }
        let sent = try outbox.send("oh", for: chat, replyingTo: key)
        await outbox.settled()
        #expect(try await message(sent.key, pair)?.replyTo == key)
        // Changed words answer the same message.
        try await pair.ann.chats.edit(sent.key, to: "oh?", in: chat)
        #expect(try await message(sent.key, pair)?.replyTo == key)
        await #expect(throws: ServiceError.self) {
            try await bob.chats.sendMessage("to nothing", for: chat, replyingTo: "-none")
        }
        #expect(try await bob.contents(chat.key) == ["hi", "hi yourself", "oh?"])
    }

    @Test("a message of a direct chat is flagged")
    func flags() async throws {
        let pair = try await DirectPair(server)
        let rooms = RoomService(database: pair.bob.person.database, me: pair.bob.profile)
        let place = "flags/\(pair.chat.key)/\(pair.chat.lastMessageKey)/\(pair.bob.uid)"
        try await rooms.flag(pair.chat.lastMessageKey, in: pair.chat.key)
        #expect(try await pair.bob.person.value(place) as? Bool == true)
        try await rooms.unflag(pair.chat.lastMessageKey, in: pair.chat.key)
        #expect(try await pair.bob.person.value(place) as? Bool == nil)
    }

    @Test(
        "an own field of an app is written with a message, and read by services as if it were not there"
    )
    func ownField() async throws {
        let pair = try await DirectPair(server)
        var update = RawDirect.send(pair.ann, pair.bob, key: pair.chat.key, message: "own")
        var message = RawDirect.message(pair.ann, "more")
        message["mood"] = "happy"
        update["messages/\(pair.chat.key)/own"] = message
        #expect(try await pair.ann.isAllowed(update))
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", "more"])
        let place = "messages/\(pair.chat.key)/own/mood"
        #expect(try await pair.bob.person.value(place) as? String == "happy")
        try await pair.ann.chats.delete("own", in: pair.chat)
        #expect(try await pair.bob.person.value(place) as? String == nil)
    }
}
