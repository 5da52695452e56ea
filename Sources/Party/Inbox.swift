import Foundation
public import HearthDatabase

/// What happened to a message.
public enum InboxEvent: Equatable, Sendable {
    /// A question, which waits for a decision.
    case asked(PartyMessage)
    /// An answer, whose consequences are in the own data now; it is deleted.
    case applied(PartyMessage)
    /// An answer whose consequences the rules do not allow, or whose party makes no sense; it stays.
    case refused(PartyMessage, ServiceError)
    /// No message at all; it is left alone.
    case faulty(RecordFault)
}

/// The messages to one user, and what follows from the answers among them.
///
/// Questions wait for a decision of the services; answers are applied to what this user owns, in the order of
/// the server's time, and deleted in the same update. To apply one twice is harmless.
public struct Inbox: Sendable {
    let tree: PartyTree

    /// The inbox of this signed-in user.
    public init(database: Database, uid: String) {
        tree = PartyTree(database: database, uid: uid)
    }

    /// What is in it, in order; what is no message is in the faults.
    public func messages() async throws -> Listing<PartyMessage> { try await tree.inbox() }

    /// Tells of all that is in it now and whenever that changes, on `callbackQueue`.
    public func observe(
        with block: @escaping @Sendable (Listing<PartyMessage>) -> Void,
        withCancel cancelBlock: (@Sendable (any Error) -> Void)? = nil,
    ) -> Observation {
        let handle = place.observe(
            .value,
            with: { block(PartyTree.inbox($0)) },
            withCancel: cancelBlock,
        )
        return Observation(place, handle)
    }

    private var place: DatabaseReference {
        tree.database.reference(withPath: "messages/\(tree.uid)")
    }

    /// Applies the answers that wait: to be called when a program starts.
    ///
    /// - Returns: What became of each answer, and what is no message; no questions.
    @discardableResult
    public func apply() async throws -> [InboxEvent] {
        let listing = try await tree.inbox()
        var events = listing.faults.map(InboxEvent.faulty)
        for message in listing.records where !message.isQuestion {
            events.append(try await apply(message))
        }
        return events
    }

    /// Applies the answers that wait and those that come, until its task is cancelled.
    ///
    /// It reports each message once, in order: questions too, and what is no message.
    public func follow(_ report: @Sendable (InboxEvent) -> Void) async throws {
        var told: Set<PartyMessage> = []
        // A refused answer is gone from here until the refusal comes, and then back.
        var refused: Set<PartyMessage> = []
        var toldFaults: [RecordFault] = []
        do {
            for try await snapshot in place.snapshots() {
                let listing = PartyTree.inbox(snapshot)
                for fault in listing.faults where !toldFaults.contains(fault) {
                    report(.faulty(fault))
                }
                toldFaults = listing.faults
                for message in listing.records where !told.contains(message) {
                    let event = try await event(of: message)
                    if case .refused = event { refused.insert(message) }
                    report(event)
                }
                told = refused.union(listing.records)
            }
        } catch is CancellationError {
            return
        } catch {
            throw ServiceError(error, purpose: "follow your inbox")
        }
    }

    private func event(of message: PartyMessage) async throws -> InboxEvent {
        message.isQuestion ? .asked(message) : try await applyConnected(message)
    }

    /// Deletes a message that nothing is to follow from.
    public func dismiss(_ message: PartyMessage) async throws {
        var update = PartyUpdate(by: tree.uid)
        update.remove(message)
        try await tree.write(update, to: "delete a message")
    }

    /// Removes what parties that are no more have left: to be called when a program starts.
    ///
    /// A party is taken out of the own list, and questions about it out of the inbox, when it cannot be seen: it
    /// was cancelled while nobody knew of this user's answer, or its owner took this user off.
    ///
    /// - Returns: Keys of those parties, in order.
    @discardableResult
    public func mend() async throws -> [String] {
        let attending = try await tree.user().attendingParties.filter(\.value).keys
        let questions = try await tree.inbox().records.filter(\.isQuestion)
        let parties = Set(attending).union(questions.compactMap(\.subject.party))
        var gone: [String] = []
        for party in parties.sorted() where PartyLimits.isKey(party) {
            if try await !tree.sees(party) { gone.append(party) }
        }
        guard !gone.isEmpty else { return [] }
        var update = PartyUpdate(by: tree.uid)
        for party in gone where attending.contains(party) {
            update.setOwn("attendingParties/\(party)", NSNull())
        }
        for question in questions {
            if let party = question.subject.party, gone.contains(party) { update.remove(question) }
        }
        try await tree.write(update, to: "clear away parties that are no more")
        return gone
    }
}
