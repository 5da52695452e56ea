internal import Foundation
internal import HearthDatabase

/// A message on its way into a direct chat, and the updates that take it there.
///
/// `rules/README.md` has them: one update writes the message and what both copies of the chat show of it.
struct MessageDraft {
    /// What an update writes of a copy of the chat.
    enum Copy: Equatable {
        /// What a message touches.
        case touched
        /// All of it, under a title: of a copy that is not there.
        case whole(title: String)
    }

    let chatKey: String
    /// The same in each try: one that has arrived is refused the second time, and found.
    let key: String
    let content: String
    /// The key of the message that it answers.
    let replyTo: String?
    /// By the device's clock, to be shown.
    let sentSeconds: Double
    let sender: String
    let receiver: String
    /// The sender's, as it is at the moment; the rules allow no other.
    var username: String

    var place: String { "messages/\(chatKey)/\(key)" }

    /// The update that says it: what it writes of the sender's copy and of the receiver's, and whether the chat's
    /// key is claimed for the two with it.
    func update(own: Copy, other: Copy, isClaiming: Bool = false) -> [AnyHashable: Any] {
        var message: [String: Any] = [
            "content": content,
            "timestamp": sentSeconds,
            "sentAt": ServerValue.timestamp(),
            "sender": ["uid": sender, "username": username],
        ]
        message["replyTo"] = replyTo
        var update: [AnyHashable: Any] = [place: message]
        if isClaiming { update["pairs/\(chatKey)"] = [sender: receiver, receiver: sender] }
        write(own, of: sender, into: &update)
        write(other, of: receiver, into: &update)
        return update
    }

    private func write(_ copy: Copy, of uid: String, into update: inout [AnyHashable: Any]) {
        var touched: [String: Any] = [
            "lastMessage": "\(username): \(content)",
            "lastMessageSent": sentSeconds,
            "lastMessageAt": ServerValue.timestamp(),
            "lastMessageKey": key,
        ]
        if uid != sender { touched["unread"] = ServerValue.increment(1) }
        let place = "chats/\(uid)/\(chatKey)"
        switch copy {
        case .touched:
            for (field, value) in touched { update["\(place)/\(field)"] = value }
        case .whole(let title):
            let constant: [String: Any] = [
                "title": title,
                "memberHash": MemberHash.of(sender, receiver),
                "members": [sender: true, receiver: true],
                // As it is, where the other has started the chat at the same moment.
                "unread": ServerValue.increment(0),
            ]
            update[place] = constant.merging(touched) { _, touched in touched }
        }
    }
}
