public import Foundation
public import HearthDatabase
public import Records
import Locks

/// Whether a person is there.
public enum PresenceState: Hashable, Sendable {
    /// They have a connection at least.
    case online
    /// They have none; when they were last seen, by the server's clock.
    case lastOnline(Date)
    /// They have never said that they were there.
    case unknown
}

/// Who is there, as the signed-in user `uid`.
public struct PresenceService: Sendable {
    /// Where the people are.
    public let database: Database
    /// Who acts.
    public let uid: String

    /// The presence in a database; `uid` is the account that its app is signed in with.
    public init(database: Database, uid: String) {
        self.database = database
        self.uid = uid
    }

    /// Says that the user is there, on this connection and on each one after it.
    ///
    /// When a connection ends, however that comes about, the server takes the entry away and notes the time. `report` is
    /// told of an entry that was refused.
    public func appear(
        report: (@Sendable (ServiceError) -> Void)? = nil
    ) -> Presence {
        let presence = Presence(database, uid, report)
        presence.watch()
        return presence
    }

    /// Tells whether a person is there, once both are known who is there and who was, and after each change.
    ///
    /// `cancel` is told once if the rules do not allow it, or no longer.
    public func observe(
        _ other: String,
        with block: @escaping @Sendable (PresenceState) -> Void,
        withCancel cancel: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        let view = PresenceView(block, cancel, purpose: "see whether \(other) is there")
        let sessions = database.reference(withPath: PersonTree.presence(other))
        let last = database.reference(withPath: PersonTree.lastOnline(other))
        let sessionsHandle = sessions.observe(.value) { snapshot in
            view.change { $0.isOnline = snapshot.hasChildren() }
        } withCancel: { error in
            view.end(error)
        }
        let lastHandle = last.observe(.value) { snapshot in
            let milliseconds = (snapshot.value as? NSNumber)?.doubleValue
            let time = milliseconds.map { Date(timeIntervalSince1970: $0 / 1000) }
            view.change { $0.last = .some(time) }
        } withCancel: { error in
            view.end(error)
        }
        return Observation(sessions, sessionsHandle, and: [Observation(last, lastHandle)])
    }
}

/// What is known of a person's presence, out of two places.
private final class PresenceView: Sendable {
    struct Known {
        var isOnline: Bool?
        /// Nil before it is known; nil inside of that when they were never seen.
        var last: Date??
        var told: PresenceState?
        var isOver = false

        var state: PresenceState? {
            guard let isOnline, let last else { return nil }
            if isOnline { return .online }
            return last.map { .lastOnline($0) } ?? .unknown
        }
    }

    private let known = Mutex(Known())
    private let block: @Sendable (PresenceState) -> Void
    private let cancel: (@Sendable (ServiceError) -> Void)?
    private let purpose: String

    init(
        _ block: @escaping @Sendable (PresenceState) -> Void,
        _ cancel: (@Sendable (ServiceError) -> Void)?,
        purpose: String,
    ) {
        self.block = block
        self.cancel = cancel
        self.purpose = purpose
    }

    func change(_ change: (inout Known) -> Void) {
        let news: PresenceState? = known.withLock { known in
            change(&known)
            guard !known.isOver, let state = known.state, state != known.told else { return nil }
            known.told = state
            return state
        }
        if let news { block(news) }
    }

    func end(_ error: any Error) {
        let isFirst = known.withLock { known in
            defer { known.isOver = true }
            return !known.isOver
        }
        if isFirst { cancel?(ServiceError(error, purpose: purpose)) }
    }
}
