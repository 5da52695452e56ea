import Chat
import Foundation
import HearthDatabase
import ServiceSupport

/// A person with a profile and direct chats, in a test.
struct Chatter: Sendable {
    let person: Person
    let profile: UserProfile
    let chats: ChatService

    var uid: String { person.uid }
    var users: UserService { UserService(database: person.database, uid: person.uid) }

    /// A client of a member.
    init(_ person: Person) {
        self.person = person
        profile = UserProfile(uid: person.uid, username: person.username)
        chats = ChatService(database: person.database, me: profile)
    }

    /// A new person; follows each of `others`.
    init(_ server: ServiceServer, _ name: String, follows others: Chatter...) async throws {
        self.init(try await server.quickMember(name))
        for other in others { try await follow(other) }
    }

    func follow(_ other: Chatter) async throws {
        try await FollowGraph(database: person.database, uid: uid).follow(other.uid)
    }

    /// The key that a chat with a person has.
    func key(_ other: Chatter) -> String { MemberHash.of(uid, other.uid) }

    /// What a chat says, oldest first.
    func contents(_ key: String) async throws -> [String] {
        try await chats.olderMessages(forChatKey: key, before: nil, count: 1000)
            .records.map(\.content)
    }

    /// The user's chats, by key, without what both copies do not share: how much of each is unread.
    func copies() async throws -> [String: DirectChat] {
        let listing = try await person.place("chats/\(uid)").getData().records(as: DirectChat.self)
        return Dictionary(uniqueKeysWithValues: listing.records.map { ($0.key, $0.shared) })
    }

    /// What the user's copy of a chat says is unread; nil when it says nothing.
    func unread(_ key: String) async throws -> Int? {
        try await person.value("chats/\(uid)/\(key)/unread") as? Int
    }

    /// What a list shows of a chat.
    func last(_ key: String) async throws -> String? {
        try await person.value("chats/\(uid)/\(key)/lastMessage") as? String
    }

    /// Writes as any client could; false when the rules refuse it.
    func isAllowed(_ update: [String: Any]) async throws -> Bool {
        do {
            try await person.database.reference().updateChildValues(update)
            return true
        } catch DatabaseError.permissionDenied {
            return false
        }
    }

    /// Reads as any client could; false when the rules refuse it.
    func mayRead(_ path: String) async throws -> Bool {
        do {
            try await person.place(path).getData()
            return true
        } catch DatabaseError.permissionDenied {
            return false
        }
    }
}

extension DirectChat {
    /// What the copies of both say.
    var shared: DirectChat {
        DirectChat(
            key: key,
            title: title,
            memberHash: memberHash,
            members: members,
            lastMessage: lastMessage,
            lastMessageSent: lastMessageSent,
            lastMessageAt: lastMessageAt,
            lastMessageKey: lastMessageKey,
        )
    }
}

/// A chat of two that has begun.
struct DirectPair: Sendable {
    let ann: Chatter
    let bob: Chatter
    let chat: DirectChat

    /// Ann follows Bob and says `hi`.
    init(_ server: ServiceServer) async throws {
        bob = try await Chatter(server, "bob")
        ann = try await Chatter(server, "ann", follows: bob)
        chat = try await ann.chats.create(from: "hi", with: bob.profile)
    }
}

extension Person {
    /// Returns when all that waited on the callback queue was called.
    func queueIsEmpty() async { await onQueue {} }

    /// Does something on the callback queue, behind all that waits on it.
    func onQueue(_ block: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            database.callbackQueue.async {
                block()
                continuation.resume()
            }
        }
    }
}
