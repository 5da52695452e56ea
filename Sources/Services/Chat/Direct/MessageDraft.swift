internal import Attachments
internal import Foundation
internal import HearthDatabase

/// A message on its way into a direct chat, and the updates that take it there. `rules/README.md` describes them: one
/// update writes the message and its summary in both copies of the chat.
struct MessageDraft {
    /// An update's changes of a copy of the chat.
    enum Copy: Equatable {
        /// The paths of a message.
        case touched
        /// All of it, under a title: of a copy that is not there.
        case whole(title: String)
    }

    let chatKey: String
    /// The same in each try: one that has arrived is refused the second time, and found.
    let key: String
    let content: String
    let replyTo: String?
    /// By the device's clock, to be shown.
    let sentSeconds: Double
    let sender: String
    let receiver: String
    /// The sender's, as it is at the moment; the rules allow no other.
    var username: String
    /// Files that are uploaded already.
    var attachments: [Attachment] = []

    var folder: AttachmentFolder { .direct(chatKey, key) }
    var location: String { "messages/\(chatKey)/\(key)" }

    /// The update that sends it: the message, the changes of both copies, and, if `isClaiming`, the claim of the
    /// chat's key.
    func update(own: Copy, other: Copy, isClaiming: Bool = false) -> [String: Any] {
        var message: [String: Any] = [
            "content": content,
            "timestamp": sentSeconds,
            "sentAt": ServerValue.timestamp(),
            "sender": ["uid": sender, "username": username],
        ]
        message["replyTo"] = replyTo
        message["attachments"] = Attachment.stored(attachments)
        var update: [String: Any] = [location: message]
        if !attachments.isEmpty { update["uploads/\(sender)/\(folder.key)"] = NSNull() }
        if isClaiming { update["pairs/\(chatKey)"] = [sender: receiver, receiver: sender] }
        write(own, of: sender, into: &update)
        write(other, of: receiver, into: &update)
        return update
    }

    private func write(_ copy: Copy, of uid: String, into update: inout [String: Any]) {
        var touched: [String: Any] = [
            "lastMessage": "\(username): \(content)",
            "lastMessageSent": sentSeconds,
            "lastMessageAt": ServerValue.timestamp(),
            "lastMessageKey": key,
        ]
        if uid != sender { touched["unread"] = ServerValue.increment(1) }
        let location = "chats/\(uid)/\(chatKey)"
        switch copy {
        case .touched: for (field, value) in touched { update["\(location)/\(field)"] = value }
        case .whole(let title):
            let constant: [String: Any] = [
                "title": title,
                "memberHash": MemberHash.of(sender, receiver),
                "members": [sender: true, receiver: true],
                // As it is, where the other has started the chat at the same moment.
                "unread": ServerValue.increment(0),
            ]
            update[location] = constant.merging(touched) { _, touched in touched }
        }
    }
}
