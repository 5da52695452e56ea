import Chat
import Foundation
import Social
import TestSupport
import Testing

@Suite("messages that a program holds")
struct PresentationListTests {
    private static func message(_ key: String, at seconds: Double, by uid: String = "bob")
        -> Message
    {
        Message(
            key: key,
            content: "\(key) at \(seconds)",
            timestamp: Date(timeIntervalSince1970: 0),
            sentAt: Date(timeIntervalSince1970: seconds),
            sender: Message.Sender(uid: uid, username: uid),
        )
    }

    @Test(
        "are as if they had been sorted, whichever way they came",
        arguments: TestSeed.seeds(20)
    )
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var list = MessageList()
        var model: [String: Message] = [:]
        for step in 0..<200 {
            let key = "k\(random.index(30))"
            let message = Self.message(key, at: Double(random.index(10)))
            switch random.index(5) {
            case 0:
                list.apply(.removed(key: key))
                model[key] = nil
            case 1:
                list.apply(.changed(message))
                model[key] = message
            case 2:
                let other = Self.message("p\(random.index(5))", at: Double(step))
                list.insert(Listing(records: [message, other]))
                model[key] = message
                model[other.key] = other
            default:
                list.apply(.added(message))
                model[key] = message
            }
        }
        let sorted = model.values.sorted { ($0.sentAt, $0.key) < ($1.sentAt, $1.key) }
        #expect(list.messages == sorted, "seed \(seed)")
        #expect(!list.isCaughtUp)
        list.apply(.caughtUp)
        #expect(list.isCaughtUp)
    }

    @Test("an unread message is one by others behind the last that was read")
    func unread() {
        let messages = [
            Self.message("a", at: 1), Self.message("b", at: 2, by: "ann"),
            Self.message("c", at: 2), Self.message("d", at: 3, by: "ann"), Self.message("e", at: 4),
        ]
        #expect(UnreadCount.of(messages, after: nil, for: "ann") == 3)
        #expect(UnreadCount.of(messages.reversed(), after: messages[0], for: "ann") == 2)
        #expect(UnreadCount.of(messages, after: messages[1], for: "ann") == 2)
        #expect(UnreadCount.of(messages, after: messages[2], for: "ann") == 1)
        #expect(UnreadCount.of(messages, after: messages[4], for: "ann") == 0)
        #expect(UnreadCount.of([], after: nil, for: "ann") == 0)
    }
}
