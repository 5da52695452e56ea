import Locks
import SyncCore

/// An observer as the shell knows it.
final class ObserverEntry: Sendable {
    /// Where it is told.
    enum Route: Sendable {
        /// On the callback queue of the app.
        case callbackQueue
        /// On the database's own queue: what streams and async functions wait for.
        case direct
    }

    /// Its handle, unique in the process.
    let id: ObserverID
    let place: QueryPlace
    let kinds: ObservedKinds
    /// Whether the first event is the last.
    let isOnce: Bool
    let route: Route
    private let tell: @Sendable (Result<ObservedEvent, DatabaseError>) -> Void
    private let isRemoved = Mutex(false)

    private static let count = Mutex<UInt64>(0)

    init(
        _ place: QueryPlace,
        _ kinds: ObservedKinds,
        isOnce: Bool = false,
        route: Route = .callbackQueue,
        tell: @escaping @Sendable (Result<ObservedEvent, DatabaseError>) -> Void,
    ) {
        id = ObserverID(Self.count.next())
        self.place = place
        self.kinds = kinds
        self.isOnce = isOnce
        self.route = route
        self.tell = tell
    }

    /// Tells nothing more, even of what is on its way.
    func remove() { isRemoved.withLock { $0 = true } }

    /// Tells it, unless it was removed meanwhile.
    func deliver(_ event: Result<ObservedEvent, DatabaseError>) {
        if !isRemoved.withLock({ $0 }) { tell(event) }
    }

    /// Whether `removeObserver` of this place means it: the same query, or a plain reference to its path.
    func isMeant(by other: QueryPlace) -> Bool {
        place.path == other.path && (other.plan == .everything || place.plan == other.plan)
    }
}
