import Chat
import Foundation
import HearthDatabase
import ServiceSupport
import Testing

/// Each sentence of what the rules are to enforce, with what is allowed and what is refused.
@Suite("what the rules enforce of direct chats")
struct DirectRulesTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test("only members read a chat's messages, and only its owner a copy")
    func readers() async throws {
        let pair = try await DirectPair(server)
        let eve = try await Chatter(server, "eve", follows: pair.ann, pair.bob)
        let stranger = Chatter(try server.stranger())
        for reader in [pair.ann, pair.bob] {
            #expect(try await reader.mayRead("messages/\(pair.chat.key)"))
            #expect(try await reader.mayRead("chats/\(reader.uid)"))
            #expect(try await reader.mayRead("pairs/\(pair.chat.key)"))
        }
        let message = "messages/\(pair.chat.key)/\(pair.chat.lastMessageKey)"
        for reader in [eve, stranger] {
            for path in ["messages", "messages/\(pair.chat.key)", message, "chats", "pairs"] {
                #expect(try await !reader.mayRead(path), "\(path)")
            }
            #expect(try await !reader.mayRead("chats/\(pair.ann.uid)"))
            #expect(try await !reader.mayRead("pairs/\(pair.chat.key)"))
        }
        #expect(try await !pair.bob.mayRead("chats/\(pair.ann.uid)/\(pair.chat.key)"))
        await #expect(throws: ServiceError.refused("read the messages of a chat")) {
            try await eve.chats.olderMessages(forChatKey: pair.chat.key, before: nil)
        }
    }

    @Test("a message's sender is its writer, under their name")
    func sender() async throws {
        let pair = try await DirectPair(server)
        let key = pair.chat.key
        let eve = try await Chatter(server, "eve", follows: pair.ann, pair.bob)
        var update = RawDirect.send(pair.bob, pair.ann, key: key, message: "k1")
        #expect(try await !pair.ann.isAllowed(update))
        #expect(try await !eve.isAllowed(update))
        let names = [
            ["uid": pair.ann.uid, "username": pair.bob.profile.username],
            ["uid": pair.bob.uid, "username": pair.ann.profile.username],
            ["uid": pair.bob.uid],
            ["uid": pair.bob.uid, "username": pair.bob.profile.username, "role": "admin"],
        ]
        for sender in names {
            var forged = RawDirect.message(pair.bob, "more")
            forged["sender"] = sender
            update["messages/\(key)/k1"] = forged
            #expect(try await !pair.bob.isAllowed(update), "\(sender)")
        }
        update["messages/\(key)/k1"] = RawDirect.message(pair.bob, "more")
        #expect(try await pair.bob.isAllowed(update))
        #expect(try await !eve.isAllowed(RawDirect.send(eve, pair.bob, key: key, message: "k2")))
        // What was said stays as it was said.
        let message = "messages/\(key)/k1"
        #expect(try await !pair.bob.isAllowed(["\(message)/content": "less"]))
        #expect(try await !pair.bob.isAllowed([message: NSNull()]))
        #expect(try await !pair.bob.isAllowed(["messages/\(key)": NSNull()]))
    }

    @Test("a chat has exactly its two members")
    func members() async throws {
        let bob = try await Chatter(server, "bob")
        let eve = try await Chatter(server, "eve")
        let ann = try await Chatter(server, "ann", follows: bob, eve)
        let key = ann.key(bob)
        let sets: [[String: Any]] = [
            [ann.uid: true], [bob.uid: true], [ann.uid: true, bob.uid: true, eve.uid: true],
            [ann.uid: true, eve.uid: true], [ann.uid: true, bob.uid: false], [:],
        ]
        for members in sets {
            for owner in [ann, bob] {
                var update = RawDirect.start(ann, bob, key: key)
                var copy = RawDirect.copy(ann, bob, "hi", message: "first")
                copy["members"] = members
                update["chats/\(owner.uid)/\(key)"] = copy
                #expect(try await !ann.isAllowed(update), "\(members)")
            }
        }
        let pairs: [[String: Any]] = [
            [ann.uid: bob.uid], [ann.uid: ann.uid], [bob.uid: eve.uid, eve.uid: bob.uid],
            [ann.uid: bob.uid, bob.uid: ann.uid, eve.uid: ann.uid],
            [ann.uid: eve.uid, eve.uid: ann.uid],
        ]
        for members in pairs {
            var update = RawDirect.start(ann, bob, key: key)
            update["pairs/\(key)"] = members
            #expect(try await !ann.isAllowed(update), "\(members)")
        }
        #expect(try await ann.isAllowed(RawDirect.start(ann, bob, key: key)))
        // And no one joins, is put out, or leaves later.
        #expect(try await !ann.isAllowed(["chats/\(ann.uid)/\(key)/members/\(eve.uid)": true]))
        #expect(try await !ann.isAllowed(["chats/\(ann.uid)/\(key)/members/\(bob.uid)": NSNull()]))
        #expect(try await !ann.isAllowed(["pairs/\(key)/\(eve.uid)": ann.uid]))
        #expect(try await !eve.isAllowed(["pairs/\(key)/\(eve.uid)": ann.uid]))
        #expect(try await !ann.isAllowed(["pairs/\(key)": NSNull()]))
        #expect(try await !eve.isAllowed(RawDirect.start(eve, ann, key: key)))
    }

    @Test("only a person who follows the other starts a chat, and with all of it")
    func starting() async throws {
        let bob = try await Chatter(server, "bob")
        let ann = try await Chatter(server, "ann")
        let key = ann.key(bob)
        #expect(try await !ann.isAllowed(RawDirect.start(ann, bob, key: key)))
        try await bob.follow(ann)
        #expect(try await !ann.isAllowed(RawDirect.start(ann, bob, key: key)))
        try await ann.follow(bob)
        for path in RawDirect.start(ann, bob, key: key).keys {
            var update = RawDirect.start(ann, bob, key: key)
            update[path] = nil
            #expect(try await !ann.isAllowed(update), "without \(path)")
        }
        #expect(try await !bob.isAllowed(RawDirect.start(ann, bob, key: key)))
        #expect(try await ann.isAllowed(RawDirect.start(ann, bob, key: key)))
    }

    @Test("no one writes into the copy of another, but what a message touches")
    func copies() async throws {
        let pair = try await DirectPair(server)
        let key = pair.chat.key
        let place = "chats/\(pair.ann.uid)/\(key)"
        let fields: [(String, Any)] = [
            ("title", "Bob's"), ("memberHash", "x"), ("lastMessage", "ann: I owe Bob money"),
            ("lastMessageSent", 1.5), ("lastMessageAt", RawDirect.time),
            ("lastMessageKey", "none"), ("colour", "red"), ("members", [pair.bob.uid: true]),
        ]
        for (field, value) in fields {
            #expect(try await !pair.bob.isAllowed(["\(place)/\(field)": value]), "\(field)")
            var update = RawDirect.send(pair.bob, pair.ann, key: key, message: "k1")
            // With a message too: what it does not touch stays, and what it touches is what was said.
            if ["lastMessageSent", "lastMessageAt"].contains(field) { continue }
            update["\(place)/\(field)"] = value
            #expect(try await !pair.bob.isAllowed(update), "\(field)")
        }
        #expect(try await !pair.bob.isAllowed([place: NSNull()]))
        #expect(try await !pair.bob.isAllowed(["chats/\(pair.ann.uid)": NSNull()]))
        var update = RawDirect.send(pair.bob, pair.ann, key: key, message: "k2")
        for path in update.keys where path.hasPrefix(place) { update[path] = nil }
        #expect(try await !pair.bob.isAllowed(update), "into the own copy alone")
        #expect(
            try await pair.bob.isAllowed(
                RawDirect.send(pair.bob, pair.ann, key: key, message: "k3")
            )
        )
        // The own copy is the owner's to name, and to take away.
        #expect(try await pair.ann.isAllowed(["\(place)/title": "Bob's"]))
        #expect(try await pair.ann.isAllowed([place: NSNull()]))
    }

    @Test("types and sizes of a message are checked")
    func messages() async throws {
        let pair = try await DirectPair(server)
        let key = pair.chat.key
        let faults: [(field: String, value: Any)] = [
            ("content", 5), ("content", ""), ("content", NSNull()), ("content", ["a": "b"]),
            ("timestamp", "now"), ("timestamp", NSNull()), ("timestamp", true),
            ("sentAt", 1_700_000_000_000), ("sentAt", NSNull()), ("sentAt", "now"),
            ("sender", "bob"), ("sender", NSNull()), ("colour", ["red": true]), (".priority", 5),
        ]
        for (field, value) in faults {
            var update = RawDirect.send(pair.bob, pair.ann, key: key, message: "k1")
            var message = RawDirect.message(pair.bob, "more")
            message[field] = value
            update["messages/\(key)/k1"] = message
            #expect(try await !pair.bob.isAllowed(update), "\(field): \(value)")
        }
        for (count, isAllowed) in [(4000, true), (4001, false)] {
            let content = String(repeating: "x", count: count)
            let update = RawDirect.send(
                pair.bob,
                pair.ann,
                key: key,
                message: "k\(count)",
                content: content,
            )
            #expect(try await pair.bob.isAllowed(update) == isAllowed, "\(count)")
        }
        for (count, isAllowed) in [(64, true), (65, false)] {
            let message = String(repeating: "k", count: count)
            let update = RawDirect.send(pair.bob, pair.ann, key: key, message: message)
            #expect(try await pair.bob.isAllowed(update) == isAllowed, "\(count)")
        }
    }

    @Test("types and sizes of a copy are checked")
    func chats() async throws {
        let bob = try await Chatter(server, "bob")
        let ann = try await Chatter(server, "ann", follows: bob)
        let key = ann.key(bob)
        let faults: [(field: String, value: Any)] = [
            ("title", ""), ("title", 5), ("title", String(repeating: "x", count: 201)),
            ("title", NSNull()), ("memberHash", ""), ("memberHash", 5), ("memberHash", NSNull()),
            ("memberHash", String(repeating: "x", count: 129)), ("members", true),
            ("lastMessage", 5), ("lastMessage", NSNull()), ("lastMessage", "ann: bye"),
            ("lastMessageSent", "now"), ("lastMessageSent", NSNull()),
            ("lastMessageAt", 1_700_000_000_000), ("lastMessageAt", NSNull()),
            ("lastMessageKey", 5), ("lastMessageKey", "second"), ("lastMessageKey", NSNull()),
            ("colour", "red"), (".priority", 5),
        ]
        for owner in [ann, bob] {
            for (field, value) in faults {
                var update = RawDirect.start(ann, bob, key: key)
                var copy = RawDirect.copy(ann, bob, "hi", message: "first")
                copy[field] = value
                update["chats/\(owner.uid)/\(key)"] = copy
                #expect(try await !ann.isAllowed(update), "\(field): \(value)")
            }
        }
        let long = String(repeating: "k", count: 129)
        #expect(try await !ann.isAllowed(RawDirect.start(ann, bob, key: long)))
        var update = RawDirect.start(ann, bob, key: key)
        var copy = RawDirect.copy(ann, bob, "hi", message: "first")
        copy["title"] = String(repeating: "x", count: 200)
        update["chats/\(ann.uid)/\(key)"] = copy
        #expect(try await ann.isAllowed(update))
    }
}
