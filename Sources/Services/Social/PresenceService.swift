public import Foundation
public import HearthDatabase
import HearthCore

/// Whether a person is there.
public enum PresenceState: Hashable, Sendable {
    /// They have a connection at least.
    case online
    /// They have none; when they were last seen, by the server's clock.
    case lastOnline(Date)
    /// They have never appeared.
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
    /// When a connection ends for any reason, the server removes the entry and notes the time. `report` receives an
    /// error when an entry was refused.
    public func appear(report: (@Sendable (ServiceError) -> Void)? = nil) -> Presence {
        let presence = Presence(database, uid, report)
        presence.watch()
        return presence
    }

    /// Reports whether a person is present, once the present entries and the last time are known, and after each
    /// change.
    ///
    /// `cancel` is called once when the rules deny access, now or later.
    public func observe(
        _ other: String,
        with block: @escaping @Sendable (PresenceState) -> Void,
        withCancel cancel: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        let view = PresenceView(block, cancel)
        let purpose = "see whether \(other) is there"
        let sessions = database.reference(withPath: "presence/\(other)").observe(
            to: purpose,
            with: { snapshot in view.change { $0.isOnline = snapshot.hasChildren() } },
            withCancel: { view.end($0) },
        )
        let last = database.reference(withPath: "lastOnline/\(other)").observe(
            to: purpose,
            with: { snapshot in
                let milliseconds = (snapshot.value as? NSNumber)?.doubleValue
                let time = milliseconds.map { Date(timeIntervalSince1970: $0 / 1000) }
                view.change { $0.last = .some(time) }
            },
            withCancel: { view.end($0) },
        )
        return Observation(sessions.query, sessions.handle, and: [last])
    }
}

/// The known state of a person's presence, from two locations.
private final class PresenceView: Sendable {
    struct Known {
        var isOnline: Bool?
        /// Nil before it is known; nil inside of that when they were never seen.
        var last: Date??
        var lastSent: PresenceState?
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

    init(
        _ block: @escaping @Sendable (PresenceState) -> Void,
        _ cancel: (@Sendable (ServiceError) -> Void)?,
    ) {
        self.block = block
        self.cancel = cancel
    }

    func change(_ change: (inout Known) -> Void) {
        let news: PresenceState? = known.withLock { known in
            change(&known)
            guard !known.isOver, let state = known.state, state != known.lastSent else {
                return nil
            }
            known.lastSent = state
            return state
        }
        if let news { block(news) }
    }

    func end(_ error: ServiceError) {
        let isFirst = known.withLock { known in
            defer { known.isOver = true }
            return !known.isOver
        }
        if isFirst { cancel?(error) }
    }
}
