import Foundation
public import Records

/// Which rooms there are.
extension RoomService {
    /// Tells the rooms that this user is in, the one with the latest event first, now and whenever something happens.
    ///
    /// - Parameters:
    ///   - newest: How many there are at the most; nil for all.
    ///   - block: Is told all of them each time.
    ///   - cancelBlock: Is told once if this user does not see them any more.
    /// - Returns: What ends it.
    public func observeRooms(
        newest: Int? = nil,
        with block: @escaping @Sendable (Listing<RoomSummary>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        var query = database.reference(withPath: "userRooms/\(me.uid)")
            .queryOrdered(byChild: "lastEventAt")
        if let newest { query = query.queryLimited(toLast: UInt(max(1, newest))) }
        return observe(
            query,
            to: "see these rooms",
            with: {
                var listing = $0.records(as: RoomSummary.self)
                listing.records.reverse()
                block(listing)
            },
            withCancel: cancelBlock,
        )
    }

    /// Tells a room, its members and their roles, now and whenever it changes.
    ///
    /// While it is observed, what is sent to the room goes out at once: its members need not be asked for first.
    public func observeRoom(
        _ room: String,
        with block: @escaping @Sendable (Result<Room, RecordFault>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        observe(
            database.reference(withPath: "rooms/\(room)"),
            to: "see this room",
            with: { snapshot in
                block(Result { () throws(RecordFault) in try snapshot.record(as: Room.self) })
            },
            withCancel: cancelBlock,
        )
    }

    /// The public rooms, by name.
    ///
    /// - Parameters:
    ///   - prefix: How the names begin; empty for all.
    ///   - last: The last room of the page before; nil for the first page.
    ///   - count: How many there are at the most; 100 are the most there can be.
    /// - Returns: A page, in the order of the names.
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
            ).getData()
                .records(as: PublicRoom.self)
        }
    }
}

/// A room that everybody finds: `publicRooms/{r}`.
public struct PublicRoom: Hashable, Sendable {
    /// The key of the room.
    public let key: String
    /// What it is called.
    public let name: String
}

extension PublicRoom: Record {
    package init(key: String, stored: String) throws {
        guard !stored.isEmpty else { throw Nonsense("the name is empty") }
        self.key = key
        name = stored
    }
}
