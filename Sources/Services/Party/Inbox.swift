import Foundation
public import HearthDatabase

/// The result for a message.
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

/// The messages to one user, and the application of answers among them.
///
/// Questions wait for a decision of the services. Answers are applied to this user's data, in the order of the
/// server's time, and deleted in the same update. Applying one twice is harmless.
public struct Inbox: Sendable {
    let tree: PartyTree

    /// The inbox of this signed-in user.
    public init(database: Database, uid: String) { tree = PartyTree(database: database, uid: uid) }

    /// Its messages, in order; invalid ones are in the faults.
    public func messages() async throws -> Listing<PartyMessage> { try await tree.inbox() }

    /// Reports all its messages, now and after each change, on `callbackQueue`.
    public func observe(
        with block: @escaping @Sendable (Listing<PartyMessage>) -> Void,
        withCancel cancelBlock: (@Sendable (any Error) -> Void)? = nil,
    ) -> Observation {
        let handle = location.observe(
            .value,
            with: { block(PartyTree.inbox($0)) },
            withCancel: cancelBlock,
        )
        return Observation(location, handle)
    }

    private var location: DatabaseReference {
        tree.database.reference(withPath: "messages/\(tree.uid)")
    }

    /// Applies the answers that wait: to be called when a program starts.
    ///
    /// - Returns: The result for each answer, and the faults; no questions.
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
    /// It reports each message once, in order, with questions and faults.
    public func follow(_ report: @Sendable (InboxEvent) -> Void) async throws {
        var sent: Set<PartyMessage> = []
        // A refused answer is gone from here until the refusal comes, and then back.
        var refused: Set<PartyMessage> = []
        var sentFaults: [RecordFault] = []
        do {
            for try await snapshot in location.snapshots() {
                let listing = PartyTree.inbox(snapshot)
                for fault in listing.faults where !sentFaults.contains(fault) {
                    report(.faulty(fault))
                }
                sentFaults = listing.faults
                for message in listing.records where !sent.contains(message) {
                    let event = try await event(of: message)
                    if case .refused = event { refused.insert(message) }
                    report(event)
                }
                sent = refused.union(listing.records)
            }
        } catch is CancellationError {
            return
        } catch {
            throw ServiceError(error, purpose: "follow your inbox")
        }
    }

    private func event(of message: PartyMessage) async throws -> InboxEvent {
        if message.isQuestion { return .asked(message) }
        return try await connected { try await apply(message) }
    }

    /// Deletes a message that nothing is to follow from.
    public func dismiss(_ message: PartyMessage) async throws {
        var update = PartyUpdate(by: tree.uid)
        update.removeMessage(message)
        try await tree.write(update, to: "delete a message")
    }

    /// Removes leftovers of ended parties. Call it when a program starts.
    ///
    /// Removes a party from the user's list, and questions about it from the inbox, when the user cannot see it: it
    /// was cancelled before this user's answer arrived, or its owner removed this user.
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
            if let party = question.subject.party, gone.contains(party) {
                update.removeMessage(question)
            }
        }
        try await tree.write(update, to: "clear away parties that are no more")
        return gone
    }
}
