import Foundation
import JSONTree
import Queries

// The forms that wait. Under the rules of concurrency a task that is cancelled meanwhile still waits: a
// write that is on its way cannot be called back.

extension DatabaseReference {
    /// Replaces what is at this place; returns when the server has it.
    @discardableResult
    public func setValue(_ value: Any?) async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in try .setting(value, at: path) }
    }

    /// Replaces what is at this place, with a priority; returns when the server has it.
    @discardableResult
    public func setValue(
        _ value: Any?,
        andPriority priority: Any?,
    ) async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in
            try .setting(value, priority: priority, at: path)
        }
    }

    /// Removes what is at this place; returns when the server has done so.
    @discardableResult
    public func removeValue() async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in try .setting(nil, at: path) }
    }

    /// Changes the priority of what is at this place; returns when the server has it.
    @discardableResult
    public func setPriority(_ priority: Any?) async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in try .settingPriority(priority, at: path) }
    }

    /// Replaces what is at several places below this one, all or none; returns when the server has it.
    @discardableResult
    public func updateChildValues(
        _ values: [AnyHashable: Any]
    ) async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in try .updating(values, at: path) }
    }

    /// Has the server replace what is at this place when it loses this client.
    @discardableResult
    public func onDisconnectSetValue(
        _ value: Any?
    ) async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in
            try CheckedWrite.setting(value, at: path).onDisconnect
        }
    }

    /// Has the server replace what is at this place, with a priority, when it loses this client.
    @discardableResult
    public func onDisconnectSetValue(
        _ value: Any?,
        andPriority priority: Any?,
    ) async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in
            try CheckedWrite.setting(value, priority: priority, at: path).onDisconnect
        }
    }

    /// Has the server remove what is at this place when it loses this client.
    @discardableResult
    public func onDisconnectRemoveValue() async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in
            try CheckedWrite.setting(nil, at: path).onDisconnect
        }
    }

    /// Has the server replace what is at several places when it loses this client.
    @discardableResult
    public func onDisconnectUpdateChildValues(
        _ values: [AnyHashable: Any]
    ) async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in
            try CheckedWrite.updating(values, at: path).onDisconnect
        }
    }

    /// Takes back all that is to happen at this place and below it when the server loses this client.
    @discardableResult
    public func cancelDisconnectOperations() async throws -> DatabaseReference {
        try await write { path throws(DatabaseError) in .onDisconnectCancel(path) }
    }
}

extension DatabaseQuery {
    /// Reads what the server has; without a connection, what is known here.
    @discardableResult
    public func getData() async throws -> DataSnapshot {
        let result = await withCheckedContinuation { continuation in
            get(route: .direct) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Waits for the first event alone.
    ///
    /// When the server does not allow it, the snapshot is one of nothing and a warning is logged, since the
    /// function cannot throw; `observeSingleEvent(of:)` and `getData()` can.
    @discardableResult
    public func observeSingleEventAndPreviousSiblingKey(
        of eventType: DataEventType
    ) async -> (DataSnapshot, String?) {
        switch await first(eventType) {
        case .success(let event): return (event.snapshot, event.previousKey)
        case .failure(let error):
            owner.warn("an observer was cancelled: \(error.localizedDescription)")
            return (DataSnapshot(ref, .absent, .everything), nil)
        }
    }

    /// Waits for the first event alone.
    @discardableResult
    public func observeSingleEvent(
        of eventType: DataEventType
    ) async throws -> DataSnapshot {
        try await first(eventType).get().snapshot
    }

    private func first(_ eventType: DataEventType) async -> Result<ToldEvent, DatabaseError> {
        await withCheckedContinuation { continuation in
            _ = observe(eventType.kind, isOnce: true, route: .direct) {
                continuation.resume(returning: $0)
            }
        }
    }
}
