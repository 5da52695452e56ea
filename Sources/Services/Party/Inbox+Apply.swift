import Foundation
import HearthDatabase

extension Inbox {
    /// Applies an answer, and deletes it, in one update.
    ///
    /// - Throws: `ServiceError.database` when the database could not be asked; all else is an event.
    func apply(_ answer: PartyMessage) async throws(ServiceError) -> InboxEvent {
        do {
            let update = try await update(applying: answer)
            try await tree.write(update, to: "apply an answer of \(answer.from)") {
                try await !tree.has(answer)
            }
            return .applied(answer)
        } catch {
            switch error {
            case .database, .files: throw error
            case .invalid, .notFound, .taken, .refused, .faulty: return .refused(answer, error)
            }
        }
    }

    /// Runs an operation, and once there is a connection again if there was none for it.
    ///
    /// - Throws: Errors of the operation for other reasons.
    public func connected<Value: Sendable>(
        _ operation: () async throws -> Value
    ) async throws -> Value {
        try await tree.database.connected(operation)
    }

    private func update(applying answer: PartyMessage) async throws(ServiceError) -> PartyUpdate {
        var update = PartyUpdate(by: tree.uid)
        update.removeMessage(answer)
        switch answer.subject {
        case .friendship: update.setOwn("friends/\(answer.from)", answer.content == .accept)
        case .suggestion: break
        case .party(let key):
            if try await tree.user().ownedParties.contains(key) {
                try await note(answer, on: key, in: &update)
            } else if answer.content == .refuse {
                try await leave(key, answer, in: &update)
            }
        case .photo(let photo, let key):
            let isOwn = try await tree.user().ownedParties.contains(key)
            if isOwn, answer.content == .refuse {
                try await takeOff(photo, of: answer.from, from: key, in: &update)
            }
        }
        return update
    }

    /// A guest answered: their own entry of the list changes and no other. Who is not on the list stays off.
    private func note(
        _ answer: PartyMessage,
        on key: String,
        in update: inout PartyUpdate,
    ) async throws(ServiceError) {
        guard let party = try await tree.visibleParty(key), party.guests[answer.from] != nil else {
            return
        }
        update.set("parties/\(key)/guests/\(answer.from)", answer.content == .accept)
    }

    /// The owner cancelled: the party leaves the own list, and so do invitations from before.
    private func leave(
        _ key: String,
        _ cancellation: PartyMessage,
        in update: inout PartyUpdate,
    ) async throws(ServiceError) {
        update.setOwn("attendingParties/\(key)", NSNull())
        for message in try await tree.inbox().records
        where message.from == cancellation.from && message.subject == .party(key)
            && message.isQuestion
            && (message.sentAt == nil || PartyMessage.isBefore(message, cancellation))
        {
            update.removeMessage(message)
        }
    }

    /// A guest deleted a photo: it leaves the party, unless it is another's.
    private func takeOff(
        _ photo: String,
        of guest: String,
        from key: String,
        in update: inout PartyUpdate,
    ) async throws(ServiceError) {
        guard let party = try await tree.visibleParty(key), party.photos.contains(photo) else {
            return
        }
        let facts = try await PhotoFacts.read(photo, tree)
        guard facts == nil || facts?.owner == guest else { return }
        update.remove("parties/\(key)/photos/\(photo)")
    }
}
