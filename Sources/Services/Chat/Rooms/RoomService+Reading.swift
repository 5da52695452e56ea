import Foundation
public import Social

extension RoomService {
    /// Marks a room as read up to an event, and shows the others how far this user is.
    ///
    /// Later events of others stay unread, also those that came while this waited for a connection. The mark never
    /// moves back: a room marked up to a later event keeps that mark.
    ///
    /// - Throws: `refused` if there is no such event, or the user is not in the room.
    public func markRead(_ room: String, upTo event: String) async throws {
        let room = try room.key("room")
        let event = try event.key("event")
        let purpose = "mark this room as read"
        for attempt in 1...ChatLimits.tries {
            let known = try await read(room, to: purpose, isPatient: true)
            guard let update = try await reading(known, upTo: event, to: purpose) else { return }
            // The rules refuse it when an event came in the meantime: the count has changed.
            if try await write(update, to: purpose) {
                guard await isCrowded(known) else { return }
            } else {
                await waits.wait(attempt)
            }
        }
        throw ServiceError.refused(purpose)
    }

    /// Reports how far each member of a room, or of a direct chat by its key, has read, now and after each change.
    /// Only members may see it.
    public func observeReadStatus(
        in room: String,
        with block: @escaping @Sendable (Listing<ReadStatus>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        database.reference(withPath: "readStatus/\(room)").observe(
            to: "see who has read this room",
            with: { block($0.records(as: ReadStatus.self)) },
            withCancel: cancelBlock,
        )
    }
}

extension RoomService {
    /// The changes of a room for reading up to an event; nil for none.
    private func reading(
        _ room: Room,
        upTo event: String,
        to purpose: String,
    ) async throws(ServiceError) -> RoomUpdate? {
        try await ServiceError.naming(purpose) {
            let snapshot = try await database.serverData("userRooms/\(me.uid)/\(room.key)")
            guard snapshot.exists() else { throw ServiceError.refused(purpose) }
            let entry = try snapshot.record(as: RoomSummary.self)
            var update = try await entering(room, in: entry)
            var unread = 0
            var isFarther = true
            // The latest event: nothing is after it, and no later mark exists.
            if event != room.lastEvent.key {
                guard let marked = try await position(of: event, in: room) else {
                    throw ServiceError.refused(purpose)
                }
                let held = try await held(in: room)
                isFarther = held.map { $0 < marked } ?? true
                unread = try await count(in: room, after: isFarther ? marked : held ?? marked)
            }
            if !isFarther, unread == entry.unread, !entry.isBehind(room) { return nil }
            update["userRooms/\(me.uid)/\(room.key)/unread"] = unread
            if isFarther {
                update["readStatus/\(room.key)/\(me.uid)"] =
                    ["upTo": event, "at": ServerValue.timestamp()] as [String: Any]
            }
            return update
        }
    }

    /// The position of the event that this user has read up to.
    private func held(in room: Room) async throws -> EventPosition? {
        let location = "readStatus/\(room.key)/\(me.uid)/upTo"
        guard let key = try await database.serverData(location).value as? String else { return nil }
        return try await position(of: try key.key("event"), in: room)
    }

    private func position(of event: String, in room: Room) async throws -> EventPosition? {
        if event == room.lastEvent.key { return room.lastEvent.position }
        let location = "roomEvents/\(room.key)/\(event)/at"
        let at = try await database.serverData(location).value as? Double
        return at.map { EventPosition(milliseconds: $0, key: event) }
    }

    /// How many events of others are behind a position, of those since this user came.
    private func count(in room: Room, after position: EventPosition) async throws -> Int {
        let query = events(of: room.key)
            .queryStarting(afterValue: position.milliseconds, childKey: position.key)
        let events = try await database.serverData(of: query).records(as: RoomEvent.self).records
        let first = events.lastIndex { $0.content == .addedUser(me.uid) } ?? events.startIndex
        return events[first...].count { $0.by != me.uid }
    }

    /// Whether another event follows a room's latest event in the same millisecond: the rules compare times and
    /// cannot distinguish them.
    private func isCrowded(_ known: Room) async -> Bool {
        do {
            let now = try await read(known.key, to: "look at this room").lastEvent
            return now.key != known.lastEvent.key && now.at == known.lastEvent.at
        } catch {
            // Removed since, or disconnected: the mark is set.
            return false
        }
    }
}
