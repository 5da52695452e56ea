import Chat
import Foundation
import HearthDatabase
import ServiceSupport
import Testing

/// What an open server lets anybody write: records that make no sense, beside some that do.
@Suite("half-valid direct chats")
struct DirectFaultTests {
    private let person: Person
    private let chats: ChatService

    init() async throws {
        person = try await ServiceServer.shared("open").guest()
        let me = UserProfile(uid: person.uid, username: "ann")
        chats = ChatService(database: person.database, me: me)
    }

    private static func message(_ time: Any?, _ changes: [String: Any] = [:]) -> [String: Any] {
        var message: [String: Any] = [
            "content": "hi", "timestamp": 1.5, "sender": ["uid": "bob", "username": "bob"],
        ]
        message["sentAt"] = time
        return message.merging(changes) { $1 }
    }

    private func writeMessages(_ key: String) async throws -> Int {
        let null = NSNull()
        let faults: [Any] = [
            "text", 5, true, ["a", "b"], ["content": "hi"], Self.message(nil),
            Self.message(1_000, ["content": null]), Self.message(1_000, ["content": 5]),
            Self.message(1_000, ["content": ""]), Self.message(1_000, ["content": ["a": "b"]]),
            Self.message(1_000, ["timestamp": "now"]), Self.message(1_000, ["timestamp": null]),
            Self.message(1_000, ["sender": null]), Self.message(1_000, ["sender": "bob"]),
            Self.message(1_000, ["sender": ["uid": "bob"]]),
            Self.message(1_000, ["sender": ["uid": 5, "username": "bob"]]),
            Self.message(1_000, ["sender": ["uid": "", "username": "bob"]]),
            Self.message("now"), Self.message(-1), Self.message(1.5), Self.message(1e300),
            Self.message(true), Self.message(["now": true]),
        ]
        var messages: [String: Any] = [:]
        for (number, fault) in faults.enumerated() { messages["f\(100 + number)"] = fault }
        for number in 0..<3 {
            messages["g\(number)"] = Self.message(
                2_000 + number,
                ["content": "good \(number)", "colour": "red"],
            )
        }
        try await person.place("messages/\(key)").setValue(messages)
        return faults.count
    }

    @Test("messages that are none are reported and left out, and the others are reported")
    func messages() async throws {
        let count = try await writeMessages("c1")
        let events = Recorder<MessageEvent>()
        let observation = chats.observeMessages(forChatKey: "c1") { events.record($0) }
        let reported = try await events.wait { $0.contains(.caughtUp) }
        observation.remove()
        var list = MessageList()
        for event in reported { list.apply(event) }
        #expect(list.messages.map(\.content) == ["good 0", "good 1", "good 2"])
        #expect(list.faults.count == count && reported.count == count + 4)
        #expect(list.faults.allSatisfy { $0.path.hasPrefix("messages/c1/f") && !$0.reason.isEmpty })
    }

    @Test(
        "pages of nothing but faults do not end the way back",
        arguments: [1, 2, 5, 50] as [UInt]
    )
    func pages(count: UInt) async throws {
        let faultCount = try await writeMessages("c2")
        var list = MessageList()
        while true {
            let page = try await chats.olderMessages(
                forChatKey: "c2",
                before: list.messages.first,
                count: count,
            )
            list.insert(page)
            if page.records.isEmpty { break }
        }
        #expect(list.messages.map(\.content) == ["good 0", "good 1", "good 2"])
        if count == 50 { #expect(list.faults.count == faultCount) }
        let events = Recorder<MessageEvent>()
        let observation = chats.observeMessages(forChatKey: "c2", newest: count) {
            events.record($0)
        }
        let reported = try await events.wait { $0.contains(.caughtUp) }
        observation.remove()
        var held = MessageList()
        for event in reported { held.apply(event) }
        // Behind the good ones are three whose time is none or too late. Where one that has none is the oldest of the newest,
        // it says nothing about where to begin: all are reported.
        let newest = count == 5 ? ["good 1", "good 2"] : ["good 0", "good 1", "good 2"]
        #expect(held.messages.map(\.content) == newest)
        #expect(held.faults.count == (count == 5 ? 3 : faultCount))
    }

    @Test("a message that becomes none goes, is reported, and comes back with sense")
    func changes() async throws {
        let place = person.place("messages/c3/k")
        try await place.setValue(Self.message(1_000))
        let events = Recorder<MessageEvent>()
        let observation = chats.observeMessages(forChatKey: "c3") { events.record($0) }
        defer { observation.remove() }
        try await events.wait { $0.contains(.caughtUp) }
        try await place.child("content").setValue(5)
        try await place.child("content").setValue("again")
        try await place.removeValue()
        let reported = try await events.wait(count: 6)
        let good = Message(
            key: "k",
            content: "hi",
            timestamp: Date(timeIntervalSince1970: 1.5),
            sentAt: Date(timeIntervalSince1970: 1),
            sender: Message.Sender(uid: "bob", username: "bob"),
        )
        #expect(reported[0] == .added(good) && reported[2] == .removed(key: "k"))
        guard case .faulty(let fault) = reported[3] else {
            return #expect(Bool(false), "\(reported)")
        }
        #expect(fault.path == "messages/c3/k")
        guard case .added(let again) = reported[4] else {
            return #expect(Bool(false), "\(reported)")
        }
        #expect(again.content == "again" && reported[5] == .removed(key: "k"))
    }

    @Test("chats that are none are reported and left out of the list")
    func chatList() async throws {
        let me = person.uid
        let good: [String: Any] = [
            "title": "ann, bob", "memberHash": MemberHash.of(me, "bob"),
            "members": [me: true, "bob": true], "lastMessage": "ann: hi", "lastMessageSent": 1.5,
            "lastMessageAt": 1_000, "lastMessageKey": "k",
        ]
        let changes: [[String: Any]] = [
            ["title": ""], ["title": 5], ["members": [me: true]], ["members": "both"],
            ["members": [me: true, "bob": false]], ["lastMessageAt": "now"],
            ["lastMessageAt": 0.5], ["lastMessageSent": NSNull()], ["lastMessage": NSNull()],
            ["members": [me: true, "bob": true, "eve": true]], ["memberHash": NSNull()],
        ]
        var all: [String: Any] = ["good": good, "text": "text", "empty": ["title": "x"]]
        for (number, change) in changes.enumerated() {
            all["bad\(number)"] = good.merging(change) { $1 }
        }
        try await person.place("chats/\(me)").setValue(all)
        let listings = Recorder<Listing<DirectChat>>()
        let users = UserService(database: person.database, uid: me)
        let observation = users.observeChats { listings.record($0) }
        let listing = try #require(try await listings.wait(count: 1).first)
        observation.remove()
        #expect(listing.records.map(\.key) == ["good"])
        #expect(listing.faults.count == changes.count + 2)
        await #expect(throws: ServiceError.self) { try await chats.show(forChatKey: "bad0") }
        let bob = UserProfile(uid: "bob", username: "bob")
        #expect(try await chats.checkForExistingChat(with: bob)?.key == "good")
        #expect(try await chats.show(forChatKey: "good")?.member(beside: me) == "bob")
        #expect(try await chats.show(forChatKey: "none") == nil)
    }
}
