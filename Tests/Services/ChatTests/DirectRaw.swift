@testable import Chat
import HearthDatabase

/// Updates as a client makes them that does not use the service: the tests change them, and see them refused.
enum RawDirect {
    static var time: Any { ServerValue.timestamp() }

    static func message(_ sender: Chatter, _ content: String) -> [String: Any] {
        [
            "content": content, "timestamp": 1_700_000_000.25, "sentAt": time,
            "sender": ["uid": sender.uid, "username": sender.profile.username],
        ]
    }

    static func copy(
        _ sender: Chatter,
        _ other: Chatter,
        _ content: String,
        message: String,
        hash: String? = nil,
    ) -> [String: Any] {
        [
            "title": DirectChat.title(sender.profile.username, other.profile.username),
            "memberHash": hash ?? MemberHash.of(sender.uid, other.uid),
            "members": [sender.uid: true, other.uid: true],
            "lastMessage": "\(sender.profile.username): \(content)",
            "lastMessageSent": 1_700_000_000.25, "lastMessageAt": time, "lastMessageKey": message,
        ]
    }

    /// Starts a chat, under any key.
    static func start(
        _ sender: Chatter,
        _ other: Chatter,
        key: String,
        message: String = "first",
        hash: String? = nil,
    ) -> [String: Any] {
        let copy = copy(sender, other, "hi", message: message, hash: hash)
        return [
            "pairs/\(key)": [sender.uid: other.uid, other.uid: sender.uid],
            "chats/\(sender.uid)/\(key)": copy,
            "chats/\(other.uid)/\(key)": copy,
            "messages/\(key)/\(message)": self.message(sender, "hi"),
        ]
    }

    /// Sends into one.
    static func send(
        _ sender: Chatter,
        _ other: Chatter,
        key: String,
        message: String,
        content: String = "more",
    ) -> [String: Any] {
        var update: [String: Any] = [
            "messages/\(key)/\(message)": self.message(sender, content)
        ]
        for uid in [sender.uid, other.uid] {
            update["chats/\(uid)/\(key)/lastMessage"] = "\(sender.profile.username): \(content)"
            update["chats/\(uid)/\(key)/lastMessageSent"] = 1_700_000_000.25
            update["chats/\(uid)/\(key)/lastMessageAt"] = time
            update["chats/\(uid)/\(key)/lastMessageKey"] = message
        }
        return update
    }
}
