import Dispatch
import JSONTree
import Queries
import SyncCore

extension DatabaseQuery {
    // MARK: Observing

    /// Tells of events until `removeObserver(withHandle:)`.
    ///
    /// - Parameters:
    ///   - eventType: What to tell of.
    ///   - block: Gets the node, or for child events the child.
    /// - Returns: A handle to remove the observer with.
    @discardableResult
    public func observe(
        _ eventType: DataEventType,
        with block: @escaping (DataSnapshot) -> Void,
    ) -> DatabaseHandle {
        observe(eventType, with: block, withCancel: nil)
    }

    /// Tells of events, and with child events of the key of the child before it.
    @discardableResult
    public func observe(
        _ eventType: DataEventType,
        andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    ) -> DatabaseHandle {
        observe(eventType, andPreviousSiblingKeyWith: block, withCancel: nil)
    }

    /// Tells of events, and when there will be no more since the server does not allow it.
    @discardableResult
    public func observe(
        _ eventType: DataEventType,
        with block: @escaping (DataSnapshot) -> Void,
        withCancel cancelBlock: ((any Error) -> Void)?,
    ) -> DatabaseHandle {
        observe(
            eventType,
            andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) },
            withCancel: cancelBlock,
        )
    }

    /// Tells of events with the key of the child before it, and when there will be no more.
    @discardableResult
    public func observe(
        _ eventType: DataEventType,
        andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
        withCancel cancelBlock: ((any Error) -> Void)?,
    ) -> DatabaseHandle {
        add(eventType, isOnce: false, block, cancelBlock)
    }

    // MARK: Observing once

    /// Tells of the first event alone.
    public func observeSingleEvent(
        of eventType: DataEventType,
        with block: @escaping (DataSnapshot) -> Void,
    ) {
        observeSingleEvent(of: eventType, with: block, withCancel: nil)
    }

    /// Tells of the first event alone, and with a child event of the key of the child before it.
    public func observeSingleEvent(
        of eventType: DataEventType,
        andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    ) {
        observeSingleEvent(of: eventType, andPreviousSiblingKeyWith: block, withCancel: nil)
    }

    /// Tells of the first event alone, or that the server does not allow it.
    public func observeSingleEvent(
        of eventType: DataEventType,
        with block: @escaping (DataSnapshot) -> Void,
        withCancel cancelBlock: ((any Error) -> Void)?,
    ) {
        _ = add(eventType, isOnce: true, { snapshot, _ in block(snapshot) }, cancelBlock)
    }

    /// Tells of the first event alone with the key of the child before it, or that it is not allowed.
    public func observeSingleEvent(
        of eventType: DataEventType,
        andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
        withCancel cancelBlock: ((any Error) -> Void)?,
    ) {
        _ = add(eventType, isOnce: true, block, cancelBlock)
    }

    // MARK: Removing

    /// Tells an observer nothing more, not even what is on its way.
    ///
    /// The observer is one of this query, or, of a plain reference, of any query at its path.
    public func removeObserver(withHandle handle: DatabaseHandle) {
        guard case .success(let place) = place else { return }
        owner.sync.removeObserver(ObserverID(UInt64(handle)), at: place)
    }

    /// Removes all observers of this query, or, of a plain reference, of all queries at its path.
    public func removeAllObservers() {
        guard case .success(let place) = place else { return }
        owner.sync.removeObservers(at: place)
    }

    // MARK: Reading once

    /// Reads what the server has; without a connection, what is known here.
    public func getData(completion block: @escaping ((any Error)?, DataSnapshot?) -> Void) {
        let box = CallbackBox(block)
        get(route: .callbackQueue) { result in
            switch result {
            case .success(let snapshot): box.call(nil, snapshot)
            case .failure(let error): box.call(error, nil)
            }
        }
    }
}

extension DatabaseQuery {
    private func add(
        _ eventType: DataEventType,
        isOnce: Bool,
        _ block: @escaping (DataSnapshot, String?) -> Void,
        _ cancelBlock: ((any Error) -> Void)?,
    ) -> DatabaseHandle {
        let box = CallbackBox((block: block, cancel: cancelBlock))
        let told: @Sendable (Result<ToldEvent, DatabaseError>) -> Void = { event in
            switch event {
            case .success(let event): box.call.block(event.snapshot, event.previousKey)
            case .failure(let error): box.call.cancel?(error)
            }
        }
        return DatabaseHandle(
            observe(eventType.kind, isOnce: isOnce, route: .callbackQueue, told)?.value ?? 0
        )
    }

    /// Adds an observer; nil for a place that cannot be, of which it is told.
    func observe(
        _ kinds: ObservedKinds,
        isOnce: Bool,
        route: ObserverEntry.Route,
        _ told: @escaping @Sendable (Result<ToldEvent, DatabaseError>) -> Void,
    ) -> ObserverID? {
        switch place {
        case .failure(let error):
            switch route {
            case .callbackQueue: owner.sync.tellApp { told(.failure(error)) }
            case .direct: told(.failure(error))
            }
            return nil
        case .success(let place):
            let reference = ref
            let entry = ObserverEntry(place, kinds, isOnce: isOnce, route: route) { event in
                told(event.flatMap { ToldEvent.reading($0, reference, place) })
            }
            owner.sync.observe(entry)
            return entry.id
        }
    }

    /// Reads once.
    func get(
        route: ObserverEntry.Route,
        _ told: @escaping @Sendable (Result<DataSnapshot, DatabaseError>) -> Void,
    ) {
        switch place {
        case .failure(let error):
            switch route {
            case .callbackQueue: owner.sync.tellApp { told(.failure(error)) }
            case .direct: told(.failure(error))
            }
        case .success(let place):
            let reference = ref
            let pending = PendingCall(route: route, path: "\(place.path)") { result in
                told(
                    result.flatMap { outcome in
                        guard case .value(let node) = outcome else { return .failure(.offline) }
                        return .success(DataSnapshot(reference, node, place.plan.spec))
                    }
                )
            }
            let target = place.target
            owner.sync.call(pending) { .get(target, $0) }
        }
    }
}

/// An event as the app is told of it.
struct ToldEvent: Sendable {
    let type: DataEventType
    let snapshot: DataSnapshot
    let previousKey: String?

    /// What the core tells an observer of `place`.
    static func reading(
        _ event: ObservedEvent,
        _ reference: DatabaseReference,
        _ place: QueryPlace,
    ) -> Result<ToldEvent, DatabaseError> {
        switch event {
        case .value(let node):
            let snapshot = DataSnapshot(reference, node, place.plan.spec)
            return .success(ToldEvent(type: .value, snapshot: snapshot, previousKey: nil))
        case .child(let event):
            let path = place.path.appending(event.key)
            let child = DatabaseReference(reference.owner, .success(QueryPlace(path)))
            return .success(
                ToldEvent(
                    type: DataEventType(event.kind),
                    snapshot: DataSnapshot(child, event.node, .everything),
                    previousKey: event.previousKey?.string,
                )
            )
        case .cancelled(let failure):
            return .failure(DatabaseError(failure, path: "\(place.path)"))
        }
    }
}
