import Foundation
import JSONTree
import Queries

// The async forms. A cancelled task still waits for the outcome: a write that was sent cannot be called back.

extension DatabaseReference {
    /// Replaces the value at this location; returns when the server has stored it.
    @discardableResult
    public func setValue(_ value: Any?) async throws -> DatabaseReference {
        try await write(.set(value))
    }

    /// Replaces the value at this location, with a priority; returns when the server has stored it.
    @discardableResult
    public func setValue(
        _ value: Any?,
        andPriority priority: Any?,
    ) async throws -> DatabaseReference {
        try await write(.setWithPriority(value, priority))
    }

    /// Removes the value at this location; returns when the server has removed it.
    @discardableResult
    public func removeValue() async throws -> DatabaseReference { try await write(.set(nil)) }

    /// Changes the priority of the value at this location; returns when the server has stored it.
    @discardableResult
    public func setPriority(_ priority: Any?) async throws -> DatabaseReference {
        try await write(.setPriority(priority))
    }

    /// Replaces the values at several locations below this one, all or none; returns when the server has stored them.
    @discardableResult
    public func updateChildValues(_ values: [AnyHashable: Any]) async throws -> DatabaseReference {
        try await write(.update(values))
    }

    /// The server replaces the value at this location when it loses this client.
    @discardableResult
    public func onDisconnectSetValue(_ value: Any?) async throws -> DatabaseReference {
        try await write(.set(value), onDisconnect: true)
    }

    /// The server replaces the value at this location, with a priority, when it loses this client.
    @discardableResult
    public func onDisconnectSetValue(
        _ value: Any?,
        andPriority priority: Any?,
    ) async throws -> DatabaseReference {
        try await write(.setWithPriority(value, priority), onDisconnect: true)
    }

    /// The server removes the value at this location when it loses this client.
    @discardableResult
    public func onDisconnectRemoveValue() async throws -> DatabaseReference {
        try await write(.set(nil), onDisconnect: true)
    }

    /// The server replaces the values at several locations when it loses this client.
    @discardableResult
    public func onDisconnectUpdateChildValues(
        _ values: [AnyHashable: Any]
    ) async throws -> DatabaseReference {
        try await write(.update(values), onDisconnect: true)
    }

    /// Cancels all on-disconnect writes at this location and below it.
    @discardableResult
    public func cancelDisconnectOperations() async throws -> DatabaseReference {
        try await write(.cancelOnDisconnect)
    }
}

extension DatabaseQuery {
    /// Reads the server's data; without a connection, the known data.
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
    public func observeSingleEvent(of eventType: DataEventType) async throws -> DataSnapshot {
        try await first(eventType).get().snapshot
    }

    private func first(_ eventType: DataEventType) async -> Result<SnapshotEvent, DatabaseError> {
        await withCheckedContinuation { continuation in
            _ = observe(eventType.kind, isOnce: true, route: .direct) {
                continuation.resume(returning: $0)
            }
        }
    }
}
