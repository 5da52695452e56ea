import Foundation
public import Records

/// How far a room was read.
extension RoomService {
    /// Marks a room as read up to an event, and shows the others how far this user is.
    ///
    /// What others did behind that event stays unread, also what came while this waited for a connection. Reading never
    /// goes back: marked before up to a later event, it stays so.
    /// - Throws: `refused` if there is no such event, and to whoever is not in the room.
    public func markRead(_ room: String, upTo event: String) async throws {
        let room = try room.key("room")
        let event = try event.key("event")
        let purpose = "mark this room as read"
        for attempt in 1...ChatLimits.tries {
            let known = try await read(room, to: purpose, isPatient: true)
            guard let update = try await reading(known, upTo: event, to: purpose) else { return }
            // The rules refuse it when something happened meanwhile: another count is right then.
            if try await write(update, to: purpose) {
                guard await isCrowded(known) else { return }
            } else {
                await waits.wait(attempt)
            }
        }
        throw ServiceError.refused(purpose)
    }

    /// Tells how far each member of a room, or of a direct chat by its key, has read, now and whenever one has read on.
    /// Members see it.
    public func observeReadStatus(
        in room: String,
        with block: @escaping @Sendable (Listing<ReadStatus>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        observe(
            database.reference(withPath: "readStatus/\(room)"),
            to: "see who has read this room",
            with: { block($0.records(as: ReadStatus.self)) },
            withCancel: cancelBlock,
        )
    }
}

extension RoomService {
    /// What reading up to an event changes in a room as it is; nil if that is nothing.
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
            // Nothing is behind the latest one, and nobody has read on.
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

    /// Where the event is up to which this user has read.
    private func held(in room: Room) async throws -> EventPosition? {
        let place = "readStatus/\(room.key)/\(me.uid)/upTo"
        guard let key = try await database.serverData(place).value as? String else { return nil }
        return try await position(of: try key.key("event"), in: room)
    }

    private func position(of event: String, in room: Room) async throws -> EventPosition? {
        if event == room.lastEvent.key { return room.lastEvent.position }
        let place = "roomEvents/\(room.key)/\(event)/at"
        let at = try await database.serverData(place).value as? Double
        return at.map { EventPosition(milliseconds: $0, key: event) }
    }

    /// How many events of others are behind a position, of those since this user came.
    private func count(in room: Room, after position: EventPosition) async throws -> Int {
        let query = events(of: room.key)
            .queryStarting(afterValue: position.milliseconds, childKey: position.key)
        let events = try await database.serverData(query).records(as: RoomEvent.self).records
        let first = events.lastIndex { $0.content == .addedUser(me.uid) } ?? events.startIndex
        return events[first...].count { $0.by != me.uid }
    }

    /// Whether something happened in the very millisecond of a room's latest event, behind it: the rules, which look at
    /// the time, cannot tell the two.
    private func isCrowded(_ known: Room) async -> Bool {
        do {
            let now = try await read(known.key, to: "look at this room").lastEvent
            return now.key != known.lastEvent.key && now.at == known.lastEvent.at
        } catch {
            // Put out since, or cut off: what was marked is marked.
            return false
        }
    }
}
