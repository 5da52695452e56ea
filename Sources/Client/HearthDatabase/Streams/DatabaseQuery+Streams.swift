import JSONTree
import SyncCore
import HearthCore

/// One child that came, went, changed or moved.
public struct ChildEvent: Sendable {
    /// The type of event; never `.value`.
    public let type: DataEventType
    /// The child; for a removed one, its last value.
    public let snapshot: DataSnapshot
    /// The key of the child before it; nil for the first one, and for a removed one.
    public let previousSiblingKey: String?

    /// All that can happen to a child.
    public static let allTypes: Set<DataEventType> = [
        .childAdded, .childRemoved, .childChanged, .childMoved,
    ]
}

extension DatabaseQuery {
    /// Child events that a stream holds for a reader that is behind; with one more it ends in an error.
    static let streamedEventCount = 1_000_000

    /// The present value, and each later one.
    ///
    ///     for try await snapshot in reference.snapshots() { show(snapshot) }
    ///
    /// A reader that is behind gets the newest alone. The observer goes with the stream: when the loop ends, or its
    /// task is cancelled. The stream ends in a `DatabaseError` when the server does not allow it any more.
    public func snapshots() -> AsyncThrowingStream<DataSnapshot, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observer = StreamedObserver(self)
            continuation.onTermination = { _ in observer.stop() }
            observer.start(.value) { event in
                switch event {
                case .success(let event): continuation.yield(event.snapshot)
                case .failure(let error): continuation.finish(throwing: error)
                }
            }
        }
    }

    /// Events of the children, beginning with those that exist.
    ///
    ///     for try await event in reference.childEvents([.childAdded]) { append(event.snapshot) }
    ///
    /// No event is left out. The observer goes with the stream: when the loop ends, or its task is
    /// cancelled. The stream ends in a `DatabaseError` when the server does not allow it any more.
    ///
    /// - Parameter types: Which events.
    /// - Returns: The events in order.
    public func childEvents(
        _ types: Set<DataEventType> = ChildEvent.allTypes
    ) -> AsyncThrowingStream<ChildEvent, any Error> {
        let policy = AsyncThrowingStream<ChildEvent, any Error>.Continuation.BufferingPolicy
            .bufferingOldest(Self.streamedEventCount)
        let kinds = types.subtracting([.value]).reduce(into: ObservedKinds()) {
            $0.formUnion($1.kind)
        }
        return AsyncThrowingStream(bufferingPolicy: policy) { continuation in
            let observer = StreamedObserver(self)
            continuation.onTermination = { _ in observer.stop() }
            observer.start(kinds) { event in
                switch event {
                case .success(let event):
                    let yielded = continuation.yield(
                        ChildEvent(
                            type: event.type,
                            snapshot: event.snapshot,
                            previousSiblingKey: event.previousKey,
                        )
                    )
                    if case .dropped = yielded {
                        continuation.finish(throwing: DatabaseError.readerTooSlow)
                    }
                case .failure(let error): continuation.finish(throwing: error)
                }
            }
        }
    }
}

/// The observer behind a stream, which may be stopped before it has begun.
private final class StreamedObserver: Sendable {
    private enum State {
        case idle, stopped
        case observing(ObserverID)
    }

    private let query: DatabaseQuery
    private let state = Mutex(State.idle)

    init(_ query: DatabaseQuery) { self.query = query }

    func start(
        _ kinds: ObservedKinds,
        _ receive: @escaping @Sendable (Result<SnapshotEvent, DatabaseError>) -> Void,
    ) {
        guard let id = query.observe(kinds, isOnce: false, route: .direct, receive) else { return }
        let isStopped = state.withLock { state in
            if case .stopped = state { return true }
            state = .observing(id)
            return false
        }
        if isStopped { query.removeObserver(withHandle: DatabaseHandle(id.value)) }
    }

    func stop() {
        let last = state.withLock { state in
            defer { state = .stopped }
            return state
        }
        guard case .observing(let id) = last else { return }
        query.removeObserver(withHandle: DatabaseHandle(id.value))
    }
}
