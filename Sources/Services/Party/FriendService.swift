import Foundation
public import HearthDatabase

/// Friendship: each person changes only their own side.
///
/// The other side follows when its own client applies the answer: see `Inbox`.
public struct FriendService: Sendable {
    /// The result of a friend request.
    public enum Request: Sendable {
        /// They are asked.
        case sent
        /// They had asked already, and that was accepted.
        case accepted
    }

    let tree: PartyTree

    /// The service as this signed-in user has it.
    public init(database: Database, uid: String) { tree = PartyTree(database: database, uid: uid) }

    /// Profiles of the friends, in order of their ids; friends without a profile are left out.
    public func friends() async throws -> [PartyProfile] {
        let friends = try await tree.user().friends
        let tree = tree
        return try await friends.mapInParallel { try await tree.profile(of: $0) }.compactMap { $0 }
    }

    /// Sends a friend request, or accepts the other's.
    ///
    /// - Throws: `ServiceError.invalid` when they are a friend, or oneself.
    @discardableResult
    public func request(_ other: String) async throws -> Request {
        try PartyLimits.check(user: other)
        guard other != tree.uid else {
            throw ServiceError.invalid(field: "friend", why: "that is yourself")
        }
        guard try await tree.user().friendships[other] != true else {
            throw ServiceError.invalid(field: "friend", why: "you are friends already")
        }
        let theirs = try await tree.inbox().records.last {
            $0.from == other && $0.subject == .friendship && $0.isQuestion
        }
        if let theirs {
            try await accept(theirs)
            return .accepted
        }
        var update = PartyUpdate(by: tree.uid)
        update.send(.friendship, .invite, to: other, key: try tree.newKey())
        try await tree.write(update, to: "ask for friendship")
        return .sent
    }

    /// Accepts: sets this user's side, notifies the sender, removes the request.
    public func accept(_ request: PartyMessage) async throws {
        var update = try await answered(request, .accept)
        update.setOwn("friends/\(request.from)", true)
        try await tree.write(update, deciding: request, to: "accept this friendship") {
            // Another device of this user may have refused it.
            try await tree.user().friendships[request.from] == true
        }
    }

    /// Refuses: notifies the sender, removes the request.
    public func refuse(_ request: PartyMessage) async throws {
        let update = try await answered(request, .refuse)
        try await tree.write(update, to: "refuse this friendship")
    }

    /// Ends a friendship: the own side is false, the other's client follows.
    ///
    /// - Throws: `ServiceError.invalid` when they are not a friend.
    public func unfriend(_ other: String) async throws {
        try PartyLimits.check(user: other)
        guard try await tree.user().friendships[other] == true else {
            throw ServiceError.invalid(field: "friend", why: "you are no friends")
        }
        var update = PartyUpdate(by: tree.uid)
        update.setOwn("friends/\(other)", false)
        update.send(.friendship, .refuse, to: other, key: try tree.newKey())
        // An answer that is older than this decision does not undo it.
        for message in try await tree.inbox().records
        where message.from == other && message.subject == .friendship && !message.isQuestion {
            update.removeMessage(message)
        }
        try await tree.write(update, to: "end this friendship")
    }

    /// The answer to a request; others of the same person go with it.
    private func answered(
        _ request: PartyMessage,
        _ content: PartyMessage.Content,
    ) async throws(ServiceError) -> PartyUpdate {
        guard request.subject == .friendship, request.isQuestion, request.to == tree.uid else {
            throw .invalid(field: "message", why: "it does not ask you for friendship")
        }
        var update = PartyUpdate(by: tree.uid)
        for message in try await tree.inbox().records
        where message.from == request.from && message.subject == .friendship {
            update.removeMessage(message)
        }
        update.answer(request, content)
        return update
    }
}
