import Foundation
public import Social

extension RoomService {
    /// Reports this user's rooms, the one with the latest event first, now and after each event.
    ///
    /// Each time `block` receives the `newest` ones, or all if that is nil. `cancelBlock` is called once if this user
    /// may not see them any more.
    public func observeRooms(
        newest: Int? = nil,
        with block: @escaping @Sendable (Listing<RoomSummary>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        var query = database.reference(withPath: "userRooms/\(me.uid)")
            .queryOrdered(byChild: "lastEventAt")
        if let newest { query = query.queryLimited(toLast: UInt(max(1, newest))) }
        return query.observe(
            to: "see these rooms",
            with: {
                var listing = $0.records(as: RoomSummary.self)
                listing.records.reverse()
                block(listing)
            },
            withCancel: cancelBlock,
        )
    }

    /// Reports a room, its members and their roles, now and after each change.
    ///
    /// While it is observed, messages to the room are sent at once: its members are known already.
    public func observeRoom(
        _ room: String,
        with block: @escaping @Sendable (Result<Room, RecordFault>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        database.reference(withPath: "rooms/\(room)").observe(
            to: "see this room",
            with: { snapshot in
                block(Result { () throws(RecordFault) in try snapshot.record(as: Room.self) })
            },
            withCancel: cancelBlock,
        )
    }

    /// A page of the public rooms whose names begin with `prefix`, in the order of the names: `count` of them, at most
    /// 100.
    ///
    /// `last` is the last room of the page before; nil gives the first page.
    /// - Throws: `ServiceError` if there is no connection.
    public func publicRooms(
        named prefix: String = "",
        after last: PublicRoom? = nil,
        count: Int = ChatLimits.pageSize,
    ) async throws -> Listing<PublicRoom> {
        try await ServiceError.naming("see the public rooms") {
            var query = database.reference(withPath: "publicRooms").queryOrderedByValue()
            if let last {
                query = query.queryStarting(afterValue: last.name, childKey: last.key)
            } else if !prefix.isEmpty {
                query = query.queryStarting(atValue: prefix)
            }
            // The last character there is: every name that begins so is before it.
            if !prefix.isEmpty { query = query.queryEnding(atValue: prefix + "\u{10FFFF}") }
            return try await query.queryLimited(
                toFirst: UInt(min(max(1, count), ChatLimits.publicPageSize))
            ).getData().records(as: PublicRoom.self)
        }
    }
}

/// A room that all users find: `publicRooms/{r}`.
public struct PublicRoom: Hashable, Sendable {
    /// The key of the room.
    public let key: String
    /// Its name.
    public let name: String
}

extension PublicRoom: Record {
    package init(key: String, stored: String) throws {
        guard !stored.isEmpty else { throw Nonsense("the name is empty") }
        self.key = key
        name = stored
    }
}
