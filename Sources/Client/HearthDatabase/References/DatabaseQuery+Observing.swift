import Dispatch
import HearthCore
import JSONTree
import Queries
import SyncCore

extension DatabaseQuery {
    // MARK: Observing

    /// Reports events until `removeObserver(withHandle:)`: the node, or for child events the child.
    @discardableResult
    public func observe(
        _ eventType: DataEventType,
        with block: @escaping (DataSnapshot) -> Void,
    ) -> DatabaseHandle {
        observe(eventType, with: block, withCancel: nil)
    }

    /// Reports events; child events include the key of the previous child.
    @discardableResult
    public func observe(
        _ eventType: DataEventType,
        andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    ) -> DatabaseHandle {
        observe(eventType, andPreviousSiblingKeyWith: block, withCancel: nil)
    }

    /// Reports events, and the end when the server refuses access.
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

    /// Reports events with the key of the previous child, and the end when the server refuses access.
    @discardableResult
    public func observe(
        _ eventType: DataEventType,
        andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
        withCancel cancelBlock: ((any Error) -> Void)?,
    ) -> DatabaseHandle {
        add(eventType, isOnce: false, block, cancelBlock)
    }

    // MARK: Observing once

    /// Reports only the first event.
    public func observeSingleEvent(
        of eventType: DataEventType,
        with block: @escaping (DataSnapshot) -> Void,
    ) {
        observeSingleEvent(of: eventType, with: block, withCancel: nil)
    }

    /// Reports only the first event; a child event includes the key of the previous child.
    public func observeSingleEvent(
        of eventType: DataEventType,
        andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    ) {
        observeSingleEvent(of: eventType, andPreviousSiblingKeyWith: block, withCancel: nil)
    }

    /// Reports only the first event, or that the server refuses access.
    public func observeSingleEvent(
        of eventType: DataEventType,
        with block: @escaping (DataSnapshot) -> Void,
        withCancel cancelBlock: ((any Error) -> Void)?,
    ) {
        _ = add(eventType, isOnce: true, { snapshot, _ in block(snapshot) }, cancelBlock)
    }

    /// Reports only the first event with the key of the previous child, or that the server refuses access.
    public func observeSingleEvent(
        of eventType: DataEventType,
        andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
        withCancel cancelBlock: ((any Error) -> Void)?,
    ) {
        _ = add(eventType, isOnce: true, block, cancelBlock)
    }

    // MARK: Removing

    /// Removes an observer; it receives nothing more, not even queued events.
    ///
    /// The observer is one of this query, or, of a plain reference, of any query at its path.
    public func removeObserver(withHandle handle: DatabaseHandle) {
        guard case .success(let location) = location else { return }
        owner.sync.removeObserver(ObserverID(UInt64(handle)), at: location)
    }

    /// Removes all observers of this query, or, of a plain reference, of all queries at its path.
    public func removeAllObservers() {
        guard case .success(let location) = location else { return }
        owner.sync.removeObservers(at: location)
    }

    // MARK: Reading once

    /// Reads the server's data; without a connection, the known data.
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
        let receive: @Sendable (Result<SnapshotEvent, DatabaseError>) -> Void = { event in
            switch event {
            case .success(let event): box.call.block(event.snapshot, event.previousKey)
            case .failure(let error): box.call.cancel?(error)
            }
        }
        return DatabaseHandle(
            observe(eventType.kind, isOnce: isOnce, route: .callbackQueue, receive)?.value ?? 0
        )
    }

    /// Adds an observer; nil for an invalid location, which it receives as an error.
    func observe(
        _ kinds: ObservedKinds,
        isOnce: Bool,
        route: ObserverEntry.Route,
        _ receive: @escaping @Sendable (Result<SnapshotEvent, DatabaseError>) -> Void,
    ) -> ObserverID? {
        switch location {
        case .failure(let error):
            owner.sync.fail(route) { receive(.failure(error)) }
            return nil
        case .success(let location):
            let reference = ref
            let entry = ObserverEntry(location, kinds, isOnce: isOnce, route: route) { event in
                receive(event.flatMap { SnapshotEvent.reading($0, reference, location) })
            }
            owner.sync.observe(entry)
            return entry.id
        }
    }

    func get(
        route: ObserverEntry.Route,
        _ receive: @escaping @Sendable (Result<DataSnapshot, DatabaseError>) -> Void,
    ) {
        switch location {
        case .failure(let error): owner.sync.fail(route) { receive(.failure(error)) }
        case .success(let location):
            let reference = ref
            let pending = PendingCall(route: route, path: "\(location.path)") { result in
                receive(
                    result.flatMap { outcome in
                        guard case .value(let node) = outcome else { return .failure(.offline) }
                        return .success(DataSnapshot(reference, node, location.plan.spec))
                    }
                )
            }
            let target = location.target
            owner.sync.call(pending) { .get(target, $0) }
        }
    }
}

struct SnapshotEvent: Sendable {
    let type: DataEventType
    let snapshot: DataSnapshot
    let previousKey: String?

    static func reading(
        _ event: ObservedEvent,
        _ reference: DatabaseReference,
        _ location: QueryLocation,
    ) -> Result<SnapshotEvent, DatabaseError> {
        switch event {
        case .value(let node):
            let snapshot = DataSnapshot(reference, node, location.plan.spec)
            return .success(SnapshotEvent(type: .value, snapshot: snapshot, previousKey: nil))
        case .child(let event):
            let path = location.path.appending(event.key)
            let child = DatabaseReference(reference.owner, .success(QueryLocation(path)))
            return .success(
                SnapshotEvent(
                    type: DataEventType(event.kind),
                    snapshot: DataSnapshot(child, event.node, .everything),
                    previousKey: event.previousKey?.string,
                )
            )
        case .cancelled(let failure):
            return .failure(DatabaseError(failure, path: "\(location.path)"))
        }
    }
}
