public import Foundation
import Social

/// A chat of exactly two people, as the copy of one of them has it: `chats/{uid}/{key}`.
public struct DirectChat: Hashable, Identifiable, Sendable {
    /// The key, the same in both copies; that of its messages too.
    public let key: String
    /// Its owner's title; at first both usernames, sorted. 1 to 200 UTF-16 units.
    public let title: String
    /// Identifies the two members: `MemberHash`.
    public let memberHash: String
    /// The two uids.
    public let members: Set<String>
    /// The latest message behind its sender: `ann: hello`.
    public let lastMessage: String
    /// When the sender's device thinks that it was sent; to be shown, and to decide nothing.
    public let lastMessageSent: Date
    /// When the server had it: decides the order of chats, and of equal ones the key does.
    public let lastMessageAt: Date
    /// Its key.
    public let lastMessageKey: String
    /// Messages of the other that its owner has not read; 0 where no client has counted yet.
    public let unread: Int

    /// The key.
    public var id: String { key }

    /// A chat; only `ChatService` writes one.
    public init(
        key: String,
        title: String,
        memberHash: String,
        members: Set<String>,
        lastMessage: String,
        lastMessageSent: Date,
        lastMessageAt: Date,
        lastMessageKey: String,
        unread: Int = 0,
    ) {
        self.key = key
        self.title = title
        self.memberHash = memberHash
        self.members = members
        self.lastMessage = lastMessage
        self.lastMessageSent = lastMessageSent
        self.lastMessageAt = lastMessageAt
        self.lastMessageKey = lastMessageKey
        self.unread = unread
    }

    /// The member other than `uid`; nil when `uid` is not a member.
    public func member(beside uid: String) -> String? {
        guard members.count == 2, members.contains(uid) else { return nil }
        return members.first { $0 != uid }
    }

    /// Whether it comes before the other one in a list: newest first.
    public func isNewer(than other: DirectChat) -> Bool {
        lastMessageAt == other.lastMessageAt
            ? other.key.utf8.lexicographicallyPrecedes(key.utf8)
            : lastMessageAt > other.lastMessageAt
    }

    /// The first title of a chat, equal for both members, so that of two who start it at the same time the second
    /// writes what exists already.
    static func title(_ first: String, _ second: String) -> String {
        let isSorted = !second.utf8.lexicographicallyPrecedes(first.utf8)
        return isSorted ? "\(first), \(second)" : "\(second), \(first)"
    }
}

extension DirectChat: Record {
    package init(key: String, stored: Fields) throws {
        let members: [String: Bool] = try stored.value("members")
        guard members.count == 2, members.values.allSatisfy({ $0 }) else {
            throw Nonsense("members: they are not two")
        }
        self.key = key
        title = try stored.text("title")
        memberHash = try stored.value("memberHash")
        self.members = Set(members.keys)
        lastMessage = try stored.value("lastMessage")
        lastMessageSent = Date(timeIntervalSince1970: try stored.time("lastMessageSent"))
        lastMessageAt = try stored.serverTime("lastMessageAt")
        lastMessageKey = try stored.value("lastMessageKey")
        unread = try stored.count("unread", ifMissing: 0)
    }
}
