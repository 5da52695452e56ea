import Foundation
public import HearthDatabase

/// Friendship, of which each changes their own side alone.
///
/// The other side follows when its own client applies the answer: see `Inbox`.
public struct FriendService: Sendable {
    /// What asking somebody led to.
    public enum Request: Sendable {
        /// They are asked.
        case sent
        /// They had asked already, and that was accepted.
        case accepted
    }

    let tree: PartyTree

    /// The service as this signed-in user has it.
    public init(database: Database, uid: String) {
        tree = PartyTree(database: database, uid: uid)
    }

    /// Profiles of the friends, in order of their ids; whoever has none is left out.
    public func friends() async throws -> [PartyProfile] {
        let friends = try await tree.user().friends
        let tree = tree
        return try await friends.mapInParallel { try await tree.profile(of: $0) }
            .compactMap { $0 }
    }

    /// Asks somebody, or accepts what they asked already.
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

    /// Says yes: the own side is set, the asker is told, the request goes.
    public func accept(_ request: PartyMessage) async throws {
        var update = try await answered(request, .accept)
        update.setOwn("friends/\(request.from)", true)
        try await tree.write(update, deciding: request, to: "accept this friendship") {
            // Another device of this user may have refused it.
            try await tree.user().friendships[request.from] == true
        }
    }

    /// Says no: the asker is told, the request goes.
    public func refuse(_ request: PartyMessage) async throws {
        let update = try await answered(request, .refuse)
        try await tree.write(update, to: "refuse this friendship")
    }

    /// Ends a friendship: the own side is false, the other's client follows.
    ///
    /// - Throws: `ServiceError.invalid` when they are no friend.
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
            update.remove(message)
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
            update.remove(message)
        }
        update.answer(request, content)
        return update
    }
}
