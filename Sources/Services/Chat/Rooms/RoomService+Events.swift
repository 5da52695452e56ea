import Foundation
public import Social

extension RoomService {
    /// Reports the newest events of a room and each new one, until it is removed. All who may see the room see its
    /// events.
    ///
    /// It begins with the `newest` ones; nil for all. `held` is the position of the newest event that the caller has:
    /// only later ones are reported, and if there are `newest` of them, some in between may be missing; `olderEvents`
    /// reads them. `block` receives each change; positions give the order, not the calls. `cancelBlock` is called once
    /// when this user may not see the room, now or later.
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
        // Of events at one moment, `.value` comes last; it alone reports the end, once.
        let handles = [
            query.observe(.childRemoved, with: { window.removed($0) }),
            query.observe(.childAdded, with: { window.read($0) }),
            query.observe(.childChanged, with: { window.read($0) }),
        ]
        let value = query.observe(
            to: "see the events of this room",
            with: { window.settled($0) },
            withCancel: cancelBlock,
        )
        return Observation(query, value.handle, and: handles.map { Observation(query, $0) })
    }

    /// A page of events before `position`, that of the oldest event that the caller has, oldest first; nil gives the
    /// newest page. It has `count` events at the most, and the faults.
    ///
    /// - Throws: `refused` if the user may not see the room.
    public func olderEvents(
        in room: String,
        before position: EventPosition?,
        count: Int = ChatLimits.pageSize,
    ) async throws -> Listing<RoomEvent> {
        try await events(of: try room.key("room")).page(
            before: position.map { ($0.milliseconds, $0.key) },
            by: "at",
            count: UInt(max(1, count)),
            to: "see the events of this room",
        )
    }

    func events(of room: String) -> DatabaseQuery {
        database.reference(withPath: "roomEvents/\(room)").queryOrdered(byChild: "at")
    }
}
