import HearthCore
import SyncCore

/// An observer as the shell knows it.
final class ObserverEntry: Sendable {
    enum Route: Sendable {
        case callbackQueue
        /// On the database's own queue: for streams and async functions.
        case direct
    }

    /// Its handle, unique in the process.
    let id: ObserverID
    let location: QueryLocation
    let kinds: ObservedKinds
    /// Whether the first event is the last.
    let isOnce: Bool
    let route: Route
    private let tell: @Sendable (Result<ObservedEvent, DatabaseError>) -> Void
    private let isRemoved = Mutex(false)

    private static let count = Mutex<UInt64>(0)

    init(
        _ location: QueryLocation,
        _ kinds: ObservedKinds,
        isOnce: Bool = false,
        route: Route = .callbackQueue,
        tell: @escaping @Sendable (Result<ObservedEvent, DatabaseError>) -> Void,
    ) {
        id = ObserverID(Self.count.next())
        self.location = location
        self.kinds = kinds
        self.isOnce = isOnce
        self.route = route
        self.tell = tell
    }

    /// Delivers nothing more, not even queued events.
    func remove() { isRemoved.withLock { $0 = true } }

    /// Delivers the event, unless the observer was removed.
    func deliver(_ event: Result<ObservedEvent, DatabaseError>) {
        if !isRemoved.withLock({ $0 }) { tell(event) }
    }

    /// Whether `removeObserver` of this location includes it: the same query, or a plain reference to its path.
    func isMeant(by other: QueryLocation) -> Bool {
        location.path == other.path && (other.plan == .everything || location.plan == other.plan)
    }
}
