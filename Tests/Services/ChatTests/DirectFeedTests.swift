import Chat
import Foundation
import HearthDatabase
import ServiceSupport
import Testing

@Suite("observing a direct chat")
struct DirectFeedTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    /// What a program holds after these events.
    private static func held(_ events: [MessageEvent]) -> MessageList {
        var list = MessageList()
        for event in events { list.apply(event) }
        return list
    }

    private static func contents(_ events: [MessageEvent]) -> [String] {
        held(events).messages.map(\.content)
    }

    @Test("each message is reported once, oldest first, then each new one as it comes")
    func tellsOnce() async throws {
        let pair = try await DirectPair(server)
        try await pair.bob.chats.sendMessage("one", for: pair.chat)
        let events = Recorder<MessageEvent>()
        let observation = pair.ann.chats.observeMessages(forChatKey: pair.chat.key) {
            events.record($0)
        }
        try await events.wait { $0.contains(.caughtUp) }
        for number in 0..<5 {
            try await pair.bob.chats.sendMessage("new \(number)", for: pair.chat)
        }
        let all = ["hi", "one"] + (0..<5).map { "new \($0)" }
        let reported = try await events.wait(count: 8)
        let added = reported.compactMap { event -> String? in
            if case .added(let message) = event { message.content } else { nil }
        }
        #expect(added == all)
        #expect(reported.firstIndex(of: .caughtUp) == 2 && reported.count == 8)
        observation.remove()
    }

    @Test("a program begins with the newest, goes back page by page, and misses nothing")
    func pages() async throws {
        let pair = try await DirectPair(server)
        for number in 1...9 {
            let sender = number % 2 == 0 ? pair.ann : pair.bob
            try await sender.chats.sendMessage("\(number)", for: pair.chat)
        }
        let events = Recorder<MessageEvent>()
        let observation = pair.ann.chats.observeMessages(forChatKey: pair.chat.key, newest: 3) {
            events.record($0)
        }
        defer { observation.remove() }
        var list = Self.held(try await events.wait { $0.contains(.caughtUp) })
        #expect(list.messages.map(\.content) == ["7", "8", "9"])
        var sizes: [Int] = []
        while true {
            let page = try await pair.ann.chats.olderMessages(
                forChatKey: pair.chat.key,
                before: list.messages.first,
                count: 3,
            )
            if page.records.isEmpty { break }
            sizes.append(page.records.count)
            list.insert(page)
        }
        #expect(sizes == [3, 3, 1])
        #expect(list.messages.map(\.content) == ["hi"] + (1...9).map { "\($0)" })
        // What was not asked for does not come later, whatever comes.
        for number in 10...13 {
            try await pair.bob.chats.sendMessage("\(number)", for: pair.chat)
        }
        let reported = try await events.wait { Self.contents($0).last == "13" }
        #expect(Self.contents(reported) == (7...13).map { "\($0)" })
    }

    @Test("fewer messages than the newest that are asked for are all of them")
    func fewer() async throws {
        let pair = try await DirectPair(server)
        let events = Recorder<MessageEvent>()
        let observation = pair.ann.chats.observeMessages(forChatKey: pair.chat.key, newest: 50) {
            events.record($0)
        }
        defer { observation.remove() }
        try await pair.bob.chats.sendMessage("one", for: pair.chat)
        #expect(Self.contents(try await events.wait { $0.count >= 3 }) == ["hi", "one"])
    }

    @Test("only messages newer than the newest that is held are listened for")
    func newer() async throws {
        let pair = try await DirectPair(server)
        try await pair.bob.chats.sendMessage("held", for: pair.chat)
        let page = try await pair.ann.chats.olderMessages(forChatKey: pair.chat.key, before: nil)
        try await pair.bob.chats.sendMessage("missed", for: pair.chat)
        let events = Recorder<MessageEvent>()
        let observation = pair.ann.chats.observeMessages(
            forChatKey: pair.chat.key,
            after: page.records.last,
        ) { events.record($0) }
        defer { observation.remove() }
        try await pair.bob.chats.sendMessage("new", for: pair.chat)
        let reported = try await events.wait { Self.contents($0).last == "new" }
        // Of the very millisecond of the newest one, others may be reported again, but not that one.
        #expect(!Self.contents(reported).contains("held"))
        var list = MessageList()
        list.insert(page)
        for event in reported { list.apply(event) }
        #expect(list.messages.map(\.content) == ["hi", "held", "missed", "new"])
    }

    @Test(
        "an own message is seen at once, without a connection too, and ends with the server's time"
    )
    func ownMessage() async throws {
        let pair = try await DirectPair(server)
        let events = Recorder<MessageEvent>()
        let observation = pair.ann.chats.observeMessages(forChatKey: pair.chat.key) {
            events.record($0)
        }
        defer { observation.remove() }
        try await events.wait { $0.contains(.caughtUp) }
        pair.ann.person.database.goOffline()
        async let sending = pair.ann.chats.sendMessage("offline", for: pair.chat)
        try await events.wait { Self.contents($0) == ["hi", "offline"] }
        try await pair.bob.chats.sendMessage("meanwhile", for: pair.chat)
        pair.ann.person.database.goOnline()
        let key = try await sending
        let server = try await pair.bob.chats.olderMessages(
            forChatKey: pair.chat.key,
            before: nil,
        )
        // The server had it last, whenever it was written.
        #expect(server.records.map(\.content) == ["hi", "meanwhile", "offline"])
        #expect(server.records.last?.key == key)
        try await events.wait { Self.held($0).messages == server.records }
    }

    @Test("a refused message goes again from whatever shows it, and is reported once")
    func rollsBack() async throws {
        let pair = try await DirectPair(server)
        try await pair.bob.person.place("blocks/\(pair.bob.uid)/\(pair.ann.uid)").setValue(true)
        let events = Recorder<MessageEvent>()
        let listings = Recorder<Listing<DirectChat>>()
        let observations = [
            pair.ann.chats.observeMessages(forChatKey: pair.chat.key) { events.record($0) },
            pair.ann.users.observeChats { listings.record($0) },
        ]
        defer { for observation in observations { observation.remove() } }
        try await events.wait { $0.contains(.caughtUp) }
        try await listings.wait(count: 1)
        let errors = Recorder<String>()
        do {
            try await pair.ann.chats.sendMessage("hello?", for: pair.chat)
        } catch {
            errors.record("\(error)")
        }
        let name = pair.bob.profile.username
        #expect(errors.values == ["the rules do not allow to send a message to \(name)"])
        let reported = try await events.wait { events in
            events.contains { if case .removed = $0 { true } else { false } }
                && Self.contents(events) == ["hi"]
        }
        #expect(Self.held(reported).messages.first?.key == pair.chat.lastMessageKey)
        #expect(
            reported.contains { event in
                if case .added(let message) = event { message.content == "hello?" } else { false }
            }
        )
        let last = try await listings.wait { $0.last?.records == [pair.chat] && $0.count > 1 }
        #expect(last.contains { $0.records.first?.lastMessage.hasSuffix("hello?") ?? false })
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi"])
    }

    @Test("nothing arrives after an observer was removed", arguments: [nil, 1, 50] as [UInt?])
    func removed(newest: UInt?) async throws {
        let pair = try await DirectPair(server)
        let events = Recorder<MessageEvent>()
        // At once, and once it is at work.
        let early = Recorder<MessageEvent>()
        let atOnce = pair.ann.chats.observeMessages(
            forChatKey: pair.chat.key,
            newest: newest,
            with: { early.record($0) },
            withCancel: { _ in Issue.record("a removed observer was cancelled") },
        )
        await pair.ann.person.onQueue { atOnce.remove() }
        let earlyCount = early.values.count
        let observation = pair.ann.chats.observeMessages(
            forChatKey: pair.chat.key,
            newest: newest,
        ) { events.record($0) }
        try await events.wait { $0.contains(.caughtUp) }
        await pair.ann.person.onQueue {
            observation.remove()
            observation.remove()
        }
        let after = Recorder<MessageEvent>()
        let other = pair.ann.chats.observeMessages(forChatKey: pair.chat.key) { after.record($0) }
        try await pair.bob.chats.sendMessage("new", for: pair.chat)
        // Of one queue: the removed ones would have been reported before this one.
        try await after.wait { Self.contents($0).last == "new" }
        other.remove()
        #expect(Self.contents(events.values) == ["hi"])
        #expect(early.values.count == earlyCount)
    }

    @Test("the person who may not read is notified once", arguments: [nil, 5] as [UInt?])
    func cancelled(newest: UInt?) async throws {
        let pair = try await DirectPair(server)
        let eve = try await Chatter(server, "eve")
        let errors = Recorder<ServiceError>()
        let observation = eve.chats.observeMessages(
            forChatKey: pair.chat.key,
            newest: newest,
            with: { _ in Issue.record("Eve sees a message") },
            withCancel: { errors.record($0) },
        )
        try await errors.wait(count: 1)
        observation.remove()
        // Whatever else was on its way to Eve has come when this has.
        _ = try await eve.person.place("users/\(eve.uid)").observeSingleEvent(of: .value)
        await eve.person.queueIsEmpty()
        #expect(errors.values == [.refused("read the messages of a chat")])
    }

    @Test("device clocks that are wrong by a day change no order")
    func wrongClocks() async throws {
        let pair = try await DirectPair(server)
        let now = Date().timeIntervalSince1970
        for (number, seconds) in [now + 86_400, now - 86_400, now + 172_800].enumerated() {
            var update = RawDirect.send(
                pair.bob,
                pair.ann,
                key: pair.chat.key,
                // A key of a clock that is wrong sorts wrong too.
                message: "\(9 - number)",
                content: "raw \(number)",
            )
            var message = RawDirect.message(pair.bob, "raw \(number)")
            message["timestamp"] = seconds
            update["messages/\(pair.chat.key)/\(9 - number)"] = message
            #expect(try await pair.bob.isAllowed(update))
            try await pair.ann.chats.sendMessage("ann \(number)", for: pair.chat)
        }
        let events = Recorder<MessageEvent>()
        let observation = pair.ann.chats.observeMessages(forChatKey: pair.chat.key) {
            events.record($0)
        }
        defer { observation.remove() }
        let reported = try await events.wait { $0.contains(.caughtUp) }
        let sent = ["hi"] + (0..<3).flatMap { ["raw \($0)", "ann \($0)"] }
        let messages = Self.held(reported).messages
        #expect(messages.map(\.content).sorted() == sent.sorted())
        // Of one millisecond two messages may be; none is before one that was sent earlier.
        let times = sent.compactMap { text in messages.first { $0.content == text }?.sentAt }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(Self.contents(reported).first == "hi" && Self.contents(reported).last == "ann 2")
        #expect(try await pair.ann.copies()[pair.chat.key]?.lastMessage.hasSuffix("ann 2") == true)
    }
}
