@testable import Chat
import Foundation
import HearthDatabase
import ServiceSupport
import Testing

@Suite("direct chats")
struct DirectChatTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test("a chat begins with its first message, and both have a copy of it")
    func begins() async throws {
        let bob = try await Chatter(server, "bob")
        let ann = try await Chatter(server, "ann", follows: bob)
        #expect(try await ann.chats.checkForExistingChat(with: bob.profile) == nil)
        let chat = try await ann.chats.create(from: "hi: there", with: bob.profile)
        #expect(chat.key == ann.key(bob))
        #expect(chat.memberHash == ann.key(bob))
        #expect(chat.members == [ann.uid, bob.uid])
        #expect(chat.title == DirectChat.title(ann.profile.username, bob.profile.username))
        #expect(chat.lastMessage == "\(ann.profile.username): hi: there")
        #expect(try await bob.copies() == [chat.key: chat])
        #expect(try await ann.chats.checkForExistingChat(with: bob.profile) == chat)
        #expect(try await bob.chats.checkForExistingChat(with: ann.profile)?.shared == chat)
        let messages = try await bob.chats.olderMessages(forChatKey: chat.key, before: nil)
        let message = try #require(messages.records.first)
        #expect(messages.records.count == 1 && messages.faults.isEmpty)
        #expect(message.key == chat.lastMessageKey && message.sentAt == chat.lastMessageAt)
        #expect(message.content == "hi: there" && message.sender.uid == ann.uid)
        #expect(message.timestamp == chat.lastMessageSent)
    }

    @Test("to start a chat that there is says something in it, from either side")
    func startsOnce() async throws {
        let pair = try await DirectPair(server)
        // Who is followed need not follow to answer.
        let answer = try await pair.bob.chats.create(from: "hello", with: pair.ann.profile)
        let again = try await pair.ann.chats.create(from: "well", with: pair.bob.profile)
        #expect(answer.key == pair.chat.key && again.key == pair.chat.key)
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", "hello", "well"])
        #expect(try await pair.bob.copies().count == 1)
    }

    @Test("a message changes both copies, in one update")
    func sends() async throws {
        let pair = try await DirectPair(server)
        let key = try await pair.bob.chats.sendMessage("yes", for: pair.chat)
        let copies = [try await pair.ann.copies(), try await pair.bob.copies()]
        #expect(copies[0] == copies[1])
        let chat = try #require(copies[0][pair.chat.key])
        #expect(chat.lastMessageKey == key)
        #expect(chat.lastMessage == "\(pair.bob.profile.username): yes")
        #expect(chat.lastMessageAt >= pair.chat.lastMessageAt)
    }

    @Test("chats are listed newest first, and again whenever one changes")
    func lists() async throws {
        let pair = try await DirectPair(server)
        let cid = try await Chatter(server, "cid", follows: pair.ann)
        let listings = Recorder<Listing<DirectChat>>()
        let observation = pair.ann.users.observeChats { listings.record($0) }
        #expect(observation.query == pair.ann.person.place("chats/\(pair.ann.uid)"))
        let second = try await cid.chats.create(from: "me too", with: pair.ann.profile)
        let keys = [second.key, pair.chat.key]
        try await listings.wait { $0.last?.records.map(\.key) == keys }
        try await pair.bob.chats.sendMessage("and I", for: pair.chat)
        try await listings.wait { $0.last?.records.map(\.key) == keys.reversed() }
        await pair.ann.person.onQueue { observation.remove() }
        let count = listings.values.count
        try await pair.bob.chats.sendMessage("still?", for: pair.chat)
        // What this client receives later comes behind what the observer would have received.
        _ = try await pair.ann.person.place("chats/\(pair.ann.uid)").getData()
        await pair.ann.person.queueIsEmpty()
        #expect(listings.values.count == count)
        #expect(listings.values.flatMap(\.faults).isEmpty)
    }

    @Test("no one observes the chats of another, and is notified once")
    func otherChats() async throws {
        let pair = try await DirectPair(server)
        let eve = try await Chatter(server, "eve")
        let errors = Recorder<ServiceError>()
        let observation = eve.users.observeChats(
            for: pair.ann.uid,
            with: { _ in Issue.record("Eve sees chats") },
            withCancel: { errors.record($0) },
        )
        defer { observation.remove() }
        try await errors.wait(count: 1)
        // Whatever else was on its way to Eve has come when this has.
        _ = try await eve.person.place("users/\(eve.uid)").observeSingleEvent(of: .value)
        await eve.person.queueIsEmpty()
        #expect(errors.values == [.refused("see the chats of another")])
    }

    @Test(
        "a chat that its owner deletes is still there for the other, and comes back with a message"
    )
    func deletes() async throws {
        let pair = try await DirectPair(server)
        try await pair.bob.chats.delete(pair.chat)
        try await pair.bob.chats.delete(pair.chat)
        #expect(try await pair.bob.chats.show(forChatKey: pair.chat.key) == nil)
        #expect(try await pair.ann.copies().count == 1)
        try await pair.ann.chats.sendMessage("are you there?", for: pair.chat)
        let copy = try #require(try await pair.bob.chats.show(forChatKey: pair.chat.key))
        #expect(try await pair.ann.copies()[pair.chat.key] == copy.shared)
        #expect(copy.lastMessage == "\(pair.ann.profile.username): are you there?")
        // Bob writes into what he has deleted, and both have; each way ends in the same chat.
        try await pair.bob.chats.delete(pair.chat)
        try await pair.bob.chats.sendMessage("again", for: pair.chat)
        try await pair.bob.chats.delete(pair.chat)
        try await pair.ann.chats.delete(pair.chat)
        let again = try await pair.bob.chats.create(from: "anew", with: pair.ann.profile)
        #expect(again.key == pair.chat.key)
        #expect(try await pair.ann.copies() == [again.key: again])
        #expect(
            try await pair.ann.contents(again.key) == ["hi", "are you there?", "again", "anew"]
        )
    }

    @Test("a copy keeps the title that its owner gave it")
    func keepsTitle() async throws {
        let pair = try await DirectPair(server)
        let place = pair.bob.person.place("chats/\(pair.bob.uid)/\(pair.chat.key)/title")
        try await place.setValue("my dear")
        try await pair.ann.chats.delete(pair.chat)
        try await pair.ann.chats.create(from: "I am back", with: pair.bob.profile)
        #expect(try await pair.bob.copies()[pair.chat.key]?.title == "my dear")
        #expect(try await pair.ann.copies()[pair.chat.key]?.title == pair.chat.title)
    }

    @Test("a key that strangers have claimed is passed over by both")
    func strangersKey() async throws {
        let bob = try await Chatter(server, "bob")
        let ann = try await Chatter(server, "ann", follows: bob)
        let mal = try await Chatter(server, "mal")
        let eve = try await Chatter(server, "eve", follows: mal)
        let keys = MemberHash.keys(of: ann.uid, bob.uid)
        for key in keys.prefix(2) {
            #expect(try await eve.isAllowed(RawDirect.start(eve, mal, key: key)))
        }
        let chat = try await ann.chats.create(from: "hi", with: bob.profile)
        #expect(chat.key == keys[2])
        #expect(try await bob.chats.create(from: "hello", with: ann.profile).key == keys[2])
        try await bob.chats.delete(chat)
        #expect(try await bob.chats.create(from: "back", with: ann.profile).key == keys[2])
        #expect(try await ann.contents(keys[2]) == ["hi", "hello", "back"])
    }

    @Test("a chat with another person that pretends to be the right one is not taken for it")
    func pretends() async throws {
        let bob = try await Chatter(server, "bob")
        let ann = try await Chatter(server, "ann", follows: bob)
        let eve = try await Chatter(server, "eve", follows: ann)
        let key = "pretends-\(ann.uid)"
        let update = RawDirect.start(eve, ann, key: key, hash: ann.key(bob))
        #expect(try await eve.isAllowed(update))
        #expect(try await ann.chats.checkForExistingChat(with: bob.profile) == nil)
        #expect(try await ann.chats.create(from: "hi", with: bob.profile).key == ann.key(bob))
    }

    @Test(
        "a username that has changed elsewhere is found out, and the message is under the new one"
    )
    func renamed() async throws {
        let bob = try await Chatter(server, "bob")
        let first = try await server.member("ann")
        let ann = Chatter(first)
        try await ann.follow(bob)
        let device = try await first.device(server.url)
        let users = UserService(database: device.database, uid: device.uid)
        let name = server.unique("anna")
        try await users.changeUsername(to: name)
        let chat = try await ann.chats.create(from: "hi", with: bob.profile)
        #expect(chat.lastMessage == "\(name): hi")
        let other = server.unique("annie")
        try await users.changeUsername(to: other)
        try await ann.chats.sendMessage("still me", for: chat)
        #expect(try await bob.copies()[chat.key]?.lastMessage == "\(other): still me")
        // And once the other has deleted their copy besides.
        try await bob.chats.delete(chat)
        try await users.changeUsername(to: name)
        try await ann.chats.sendMessage("and again", for: chat)
        #expect(try await bob.copies()[chat.key]?.lastMessage == "\(name): and again")
        #expect(try await bob.contents(chat.key) == ["hi", "still me", "and again"])
    }

    @Test("a person who is blocked says nothing more, and nothing changes")
    func blocked() async throws {
        let pair = try await DirectPair(server)
        let before = try await pair.bob.copies()
        let block = pair.bob.person.place("blocks/\(pair.bob.uid)/\(pair.ann.uid)")
        try await block.setValue(true)
        let refusal = ServiceError.refused("send a message to \(pair.bob.profile.username)")
        await #expect(throws: refusal) {
            try await pair.ann.chats.sendMessage("hello?", for: pair.chat)
        }
        await #expect(throws: refusal) {
            try await pair.ann.chats.create(from: "hello?", with: pair.bob.profile)
        }
        try await pair.bob.chats.delete(pair.chat)
        await #expect(throws: refusal) {
            try await pair.ann.chats.sendMessage("hello?", for: pair.chat)
        }
        #expect(try await pair.ann.copies() == before)
        #expect(try await pair.bob.copies().isEmpty)
        #expect(try await pair.ann.contents(pair.chat.key) == ["hi"])
        try await block.removeValue()
        try await pair.ann.chats.sendMessage("thank you", for: pair.chat)
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", "thank you"])
    }

    @Test("the person who does not follow starts no chat, and nothing is left of it")
    func notFollowing() async throws {
        let ann = try await Chatter(server, "ann")
        let bob = try await Chatter(server, "bob", follows: ann)
        await #expect(throws: ServiceError.refused("start a chat with \(bob.profile.username)")) {
            try await ann.chats.create(from: "hi", with: bob.profile)
        }
        #expect(try await ann.copies().isEmpty)
        #expect(try await bob.copies().isEmpty)
        #expect(try await ann.person.value("pairs/\(ann.key(bob))") is NSNull)
        #expect(try await bob.chats.create(from: "hi", with: ann.profile).key == ann.key(bob))
    }

    @Test(
        "what the rules would refuse for its length is refused before it is sent",
        arguments: [0, 4001]
    )
    func lengths(count: Int) async throws {
        let pair = try await DirectPair(server)
        // Two units each, and one of one.
        let text = String(repeating: "\u{1F600}", count: count / 2) + (count % 2 == 1 ? "a" : "")
        pair.ann.person.database.goOffline()
        await #expect(throws: ServiceError.self) {
            try await pair.ann.chats.sendMessage(text, for: pair.chat)
        }
        await #expect(throws: ServiceError.self) {
            try await pair.ann.chats.create(from: text, with: pair.bob.profile)
        }
        pair.ann.person.database.goOnline()
        let longest = String(repeating: "\u{1F600}", count: 2000)
        try await pair.ann.chats.sendMessage(longest, for: pair.chat)
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", longest])
    }

    @Test("no one has a chat with themselves, nor speaks in one of others")
    func senseless() async throws {
        let pair = try await DirectPair(server)
        let eve = try await Chatter(server, "eve")
        await #expect(
            throws: ServiceError.invalid(field: "uid", why: "a chat needs another person")
        ) {
            try await eve.chats.create(from: "hi", with: eve.profile)
        }
        await #expect(throws: ServiceError.invalid(field: "chat", why: "it is not one of yours")) {
            try await eve.chats.sendMessage("hi", for: pair.chat)
        }
    }

    @Test("a message that has arrived is not sent a second time, though its answer was lost")
    func arrivedAlready() async throws {
        let pair = try await DirectPair(server)
        let draft = try pair.ann.chats.draft("once", for: pair.chat)
        try await pair.ann.chats.deliver(draft, own: .touched)
        try await pair.bob.chats.sendMessage("between", for: pair.chat)
        let before = try await pair.bob.copies()
        // As after a cut between the write and its acknowledgement: the rules refuse what is there.
        try await pair.ann.chats.deliver(draft, own: .touched)
        #expect(try await pair.bob.copies() == before)
        #expect(try await pair.bob.contents(pair.chat.key) == ["hi", "once", "between"])
    }
}
