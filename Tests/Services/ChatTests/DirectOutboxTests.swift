import Chat
import Foundation
import HearthDatabase
import ServiceSupport
import TestSupport
import Testing

@Suite("the outbox")
struct DirectOutboxTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    /// What was reported of each message, in the order in which they were written.
    private static func states(_ reported: [OutgoingMessage]) -> [String: [OutgoingMessage.State]] {
        Dictionary(grouping: reported, by: \.content).mapValues { $0.map(\.state) }
    }

    @Test("what is written without a connection is sent in its order when there is one")
    func offline() async throws {
        let pair = try await DirectPair(server)
        let reported = Recorder<OutgoingMessage>()
        let outbox = Outbox(pair.ann.chats) { reported.record($0) }
        let events = Recorder<MessageEvent>()
        let observation = pair.ann.chats.observeMessages(forChatKey: pair.chat.key) {
            events.record($0)
        }
        defer { observation.remove() }
        try await events.wait { $0.contains(.caughtUp) }
        pair.ann.person.database.goOffline()
        let texts = (0..<6).map { "text \($0)" }
        let written = try texts.map { try outbox.send($0, for: pair.chat) }
        try await reported.wait(count: 6)
        #expect(reported.values == written && written.allSatisfy { $0.state == .pending })
        #expect(outbox.messages == written)
        // The first one is under way, so the person who looks at the chat sees it.
        try await events.wait {
            $0.contains {
                if case .added(let message) = $0 { message.content == "text 0" } else { false }
            }
        }
        try await pair.bob.chats.sendMessage("meanwhile", for: pair.chat)
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", "meanwhile"])
        pair.ann.person.database.goOnline()
        await outbox.settled()
        #expect(outbox.messages.isEmpty)
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", "meanwhile"] + texts)
        try await reported.wait(count: 12)
        await pair.ann.person.queueIsEmpty()
        #expect(reported.values.dropFirst(6).map(\.content) == texts)
        #expect(
            Self.states(reported.values)
                == Dictionary(uniqueKeysWithValues: texts.map { ($0, [.pending, .sent]) })
        )
        let keys = try await pair.bob.chats.olderMessages(forChatKey: pair.chat.key, before: nil)
        #expect(keys.records.suffix(6).map(\.key) == written.map(\.key))
    }

    @Test(
        "a refusal is reported once and kept, goes from what shows the chat, and can be tried again"
    )
    func refused() async throws {
        let pair = try await DirectPair(server)
        let cid = try await Chatter(server, "cid")
        try await pair.ann.follow(cid)
        let other = try await pair.ann.chats.create(from: "hi", with: cid.profile)
        let block = pair.bob.person.place("blocks/\(pair.bob.uid)/\(pair.ann.uid)")
        try await block.setValue(true)
        let reported = Recorder<OutgoingMessage>()
        let outbox = Outbox(pair.ann.chats) { reported.record($0) }
        let lost = try outbox.send("lost", for: pair.chat)
        try outbox.send("kept", for: other)
        let given = try outbox.send("given up", for: pair.chat)
        await outbox.settled()
        try await reported.wait(count: 6)
        await pair.ann.person.queueIsEmpty()
        let refusal = OutgoingMessage.State.refused(
            .refused("send a message to \(pair.bob.profile.username)")
        )
        #expect(
            Self.states(reported.values) == [
                "lost": [.pending, refusal], "kept": [.pending, .sent],
                "given up": [.pending, refusal],
            ]
        )
        #expect(outbox.messages.map(\.key) == [lost.key, given.key])
        #expect(try await pair.ann.contents(pair.chat.key) == ["hi"])
        #expect(try await pair.ann.copies()[pair.chat.key] == pair.chat)
        #expect(try await cid.contents(other.key) == ["hi", "kept"])

        outbox.discard(given.key)
        outbox.retry("nothing")
        try await block.removeValue()
        outbox.retry(lost.key)
        outbox.retry(lost.key)
        outbox.discard(lost.key)
        await outbox.settled()
        #expect(outbox.messages.isEmpty)
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", "lost"])
        try await reported.wait(count: 8)
        await pair.ann.person.queueIsEmpty()
        #expect(
            reported.values.suffix(2).map(\.state) == [.pending, .sent]
                && reported.values.count == 8
        )
    }

    @Test(
        "messages keep their order while the other deletes their copy and the name changes",
        arguments: TestSeed.seeds(12)
    )
    func order(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let bob = try await Chatter(server, "bob")
        let person = try await server.member("ann")
        let ann = Chatter(person)
        try await ann.follow(bob)
        let chat = try await ann.chats.create(from: "hi", with: bob.profile)
        let users = ann.users
        let outbox = Outbox(ann.chats) { _ in }
        var texts = ["hi"]
        for round in 0..<6 {
            for number in 0..<(1 + random.index(4)) {
                texts.append("\(round)/\(number)")
                try outbox.send("\(round)/\(number)", for: chat)
            }
            switch random.index(3) {
            case 0: try await bob.chats.delete(chat)
            case 1: try await users.changeUsername(to: server.unique("ann"))
            default: try await ann.chats.delete(chat)
            }
        }
        await outbox.settled()
        #expect(outbox.messages.isEmpty, "seed \(seed)")
        #expect(try await bob.contents(chat.key) == texts, "seed \(seed)")
    }

    @Test("what the rules would refuse is refused at once, and nothing is reported of it")
    func invalid() async throws {
        let pair = try await DirectPair(server)
        let eve = try await Chatter(server, "eve")
        let outbox = Outbox(pair.ann.chats) { _ in Issue.record("there is nothing to report") }
        #expect(throws: ServiceError.self) { try outbox.send("", for: pair.chat) }
        let others = Outbox(eve.chats) { _ in Issue.record("there is nothing to report") }
        #expect(throws: ServiceError.invalid(field: "chat", why: "it is not one of yours")) {
            try others.send("hi", for: pair.chat)
        }
        await outbox.settled()
        await pair.ann.person.queueIsEmpty()
        #expect(outbox.messages.isEmpty && others.messages.isEmpty)
    }

    @Test("a write that is given up is reported as what it is, and what waits behind it is sent")
    func givenUp() async throws {
        let pair = try await DirectPair(server)
        let reported = Recorder<OutgoingMessage>()
        let outbox = Outbox(pair.ann.chats) { reported.record($0) }
        let events = Recorder<MessageEvent>()
        let observation = pair.ann.chats.observeMessages(forChatKey: pair.chat.key) {
            events.record($0)
        }
        defer { observation.remove() }
        try await events.wait { $0.contains(.caughtUp) }
        pair.ann.person.database.goOffline()
        let first = try outbox.send("first", for: pair.chat)
        try outbox.send("second", for: pair.chat)
        try await events.wait {
            $0.contains {
                if case .added(let message) = $0 { message.content == "first" } else { false }
            }
        }
        pair.ann.person.database.purgeOutstandingWrites()
        try await reported.wait { $0.contains { $0.state == .refused(.database(.writeCancelled)) } }
        try await events.wait { $0.contains(.removed(key: first.key)) }
        pair.ann.person.database.goOnline()
        await outbox.settled()
        #expect(outbox.messages.map(\.content) == ["first"])
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", "second"])
        outbox.retry(first.key)
        await outbox.settled()
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", "second", "first"])
    }
}
