import Foundation
public import Records

/// What happened in a room.
extension RoomService {
    /// Tells of the newest events of a room and of each that comes, until it is removed.
    ///
    /// - Parameters:
    ///   - room: The room; who sees it sees its events.
    ///   - newest: How many of the newest there are at first; nil for all.
    ///   - held: Where the newest event is that the caller has already; only later ones are told. If there are as many
    ///     as `newest`, some between may be missing, which `olderEvents` brings.
    ///   - block: Is told each change. The order is that of positions, whatever the order in which they are told.
    ///   - cancelBlock: Is told once when this user does not see the room, or does not any more.
    /// - Returns: What ends it.
    public func observeEvents(
        in room: String,
        newest: Int? = ChatLimits.pageSize,
        after held: EventPosition? = nil,
        with block: @escaping @Sendable (EventChange) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        var query = events(of: room)
        if let held {
            query = query.queryStarting(afterValue: held.milliseconds, childKey: held.key)
        }
        if let newest { query = query.queryLimited(toLast: UInt(max(1, newest))) }
        let window = EventWindow(limit: newest.map { max(1, $0) }, tell: block)
        let cancel = cancelling("see the events of this room", cancelBlock)
        // Of one moment, `.value` is told last; and it alone tells the end, which is told once.
        let children: [Observation] = [
            Observation(
                query,
                query.observe(.childRemoved, with: { window.removed($0) }, withCancel: { _ in })
            ),
            Observation(
                query,
                query.observe(.childAdded, with: { window.read($0) }, withCancel: { _ in })
            ),
            Observation(
                query,
                query.observe(.childChanged, with: { window.read($0) }, withCancel: { _ in })
            ),
        ]
        let handle = query.observe(.value, with: { window.settled($0) }, withCancel: cancel)
        return Observation(query, handle, and: children)
    }

    /// A page of events before one that the caller has, oldest first.
    ///
    /// - Parameters:
    ///   - room: The room.
    ///   - position: Where the oldest event is that the caller has; nil for the newest page.
    ///   - count: How many there are at the most.
    /// - Returns: The events, and what is none.
    /// - Throws: `refused` to whoever does not see the room.
    public func olderEvents(
        in room: String,
        before position: EventPosition?,
        count: Int = ChatLimits.pageSize,
    ) async throws -> Listing<RoomEvent> {
        let room = try room.key("room")
        let count = UInt(max(1, count))
        return try await ServiceError.naming("see the events of this room") {
            var query = events(of: room)
            if let position {
                query = query.queryEnding(
                    beforeValue: position.milliseconds,
                    childKey: position.key,
                )
            }
            var faults: [RecordFault] = []
            while true {
                let snapshot = try await query.queryLimited(toLast: count).getData()
                let page = snapshot.records(as: RoomEvent.self)
                faults = page.faults + faults
                // A full page of nothing but faults is not the end: whoever asks has no position to go on from.
                guard page.records.isEmpty, snapshot.childrenCount == count,
                    let first = snapshot.children.nextObject() as? DataSnapshot
                else { return Listing(records: page.records, faults: faults) }
                let at = first.childSnapshot(forPath: "at")
                guard !at.hasChildren() else { return Listing(faults: faults) }
                query = events(of: room).queryEnding(beforeValue: at.value, childKey: first.key)
            }
        }
    }

    func events(of room: String) -> DatabaseQuery {
        database.reference(withPath: "roomEvents/\(room)").queryOrdered(byChild: "at")
    }
}

extension RoomService {
    /// Tells what is at a place, now and whenever it is another.
    func observe(
        _ query: DatabaseQuery,
        to purpose: String,
        with block: @escaping @Sendable (DataSnapshot) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)?,
    ) -> Observation {
        let cancel = cancelling(purpose, cancelBlock)
        return Observation(query, query.observe(.value, with: block, withCancel: cancel))
    }

    /// Names what was to be seen; without a block it is the client's log that tells.
    private func cancelling(
        _ purpose: String,
        _ block: (@Sendable (ServiceError) -> Void)?,
    ) -> ((any Error) -> Void)? {
        block.map { block in { block(ServiceError($0, purpose: purpose)) } }
    }
}
