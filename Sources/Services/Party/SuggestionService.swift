public import HearthDatabase

/// Guests who suggest their friends to the host of a party.
public struct SuggestionService: Sendable {
    let tree: PartyTree

    /// The service as this signed-in user has it.
    public init(database: Database, uid: String) { tree = PartyTree(database: database, uid: uid) }

    /// Suggests a friend to the host of a party that one is a guest of.
    ///
    /// - Throws: `ServiceError.invalid` for a person who is not a friend, or is a guest already.
    public func suggest(_ friend: String, for key: String) async throws {
        try PartyLimits.check(user: friend)
        let party = try await tree.party(key)
        guard party.owner != tree.uid else {
            throw ServiceError.invalid(field: "party", why: "it is your own: invite them")
        }
        guard friend != party.owner, !party.isVisible(to: friend) else {
            throw ServiceError.invalid(field: "guest", why: "they know of this party already")
        }
        guard try await tree.user().friendships[friend] == true else {
            throw ServiceError.invalid(field: "guest", why: "they are no friend of yours")
        }
        var update = PartyUpdate(by: tree.uid)
        let subject = PartyMessage.Subject.suggestion(guest: friend, party: key)
        update.send(subject, .invite, to: party.owner, key: try tree.newKey())
        try await tree.write(update, to: "suggest a guest for the party \(key)")
    }

    /// The host says yes, in one update: a friend request unless they are friends, the invitation, an answer
    /// to who suggested it; the suggestion goes.
    public func accept(_ suggestion: PartyMessage) async throws {
        let (guest, key) = try parts(suggestion)
        let party = try await tree.ownParty(key)
        let user = try await tree.user()
        var update = PartyUpdate(by: tree.uid)
        if user.friendships[guest] != true {
            update.send(.friendship, .invite, to: guest, key: try tree.newKey())
        }
        if !party.isVisible(to: guest) {
            try update.invite(guest, to: key, messageKey: tree.newKey())
            update.removeAnswers(of: guest, to: key, from: try await tree.inbox())
        }
        update.answer(suggestion, .accept)
        try await tree.write(update, deciding: suggestion, to: "invite who was suggested")
    }

    /// Refuses: notifies the person who suggested it, removes the suggestion.
    public func refuse(_ suggestion: PartyMessage) async throws {
        _ = try parts(suggestion)
        var update = PartyUpdate(by: tree.uid)
        update.answer(suggestion, .refuse)
        try await tree.write(update, deciding: suggestion, to: "refuse who was suggested")
    }

    private func parts(
        _ message: PartyMessage
    ) throws(ServiceError) -> (guest: String, party: String) {
        guard case .suggestion(let guest, let party) = message.subject, message.isQuestion,
            message.to == tree.uid
        else { throw .invalid(field: "message", why: "it suggests no guest to you") }
        guard guest != tree.uid else {
            throw .invalid(field: "guest", why: "that is yourself: refuse it")
        }
        return (guest, party)
    }
}
