public import Foundation
import Records

/// A chat of exactly two people, as the copy of one of them has it: `chats/{uid}/{key}`.
public struct DirectChat: Hashable, Identifiable, Sendable {
    /// The key, the same in both copies; that of its messages too.
    public let key: String
    /// What its owner calls it; at first both usernames, sorted. 1 to 200 UTF-16 units.
    public let title: String
    /// What identifies the two: `MemberHash`.
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

    /// The member beside `uid`; nil when `uid` is none of the two.
    public func member(beside uid: String) -> String? {
        guard members.count == 2, members.contains(uid) else { return nil }
        return members.first { $0 != uid }
    }

    /// Whether it stands above the other one in a list: the newest first.
    public func isNewer(than other: DirectChat) -> Bool {
        lastMessageAt == other.lastMessageAt
            ? other.key.utf8.lexicographicallyPrecedes(key.utf8)
            : lastMessageAt > other.lastMessageAt
    }

    /// What both members call a chat at first, so that of two who start it at one moment the later one writes
    /// what is there already.
    static func title(_ first: String, _ second: String) -> String {
        let isSorted = !second.utf8.lexicographicallyPrecedes(first.utf8)
        return isSorted ? "\(first), \(second)" : "\(second), \(first)"
    }
}

extension DirectChat: Record {
    package struct Stored: Decodable {
        let title: String
        let memberHash: String
        let members: [String: Bool]
        let lastMessage: String
        let lastMessageSent: Double
        let lastMessageAt: Double
        let lastMessageKey: String
        let unread: Int?
    }

    package init(key: String, stored: Stored) throws {
        guard !stored.title.isEmpty else { throw Nonsense("title: it is empty") }
        guard stored.members.count == 2, stored.members.values.allSatisfy({ $0 }) else {
            throw Nonsense("members: they are not two")
        }
        guard stored.lastMessageSent.isFinite else {
            throw Nonsense("lastMessageSent: it is no time")
        }
        guard stored.unread ?? 0 >= 0 else { throw Nonsense("unread: it is below 0") }
        self.init(
            key: key,
            title: stored.title,
            memberHash: stored.memberHash,
            members: Set(stored.members.keys),
            lastMessage: stored.lastMessage,
            lastMessageSent: Date(timeIntervalSince1970: stored.lastMessageSent),
            lastMessageAt: try ServerTime.date(stored.lastMessageAt, field: "lastMessageAt"),
            lastMessageKey: stored.lastMessageKey,
            unread: stored.unread ?? 0,
        )
    }
}
