import Foundation
import Records

/// What a cut, or a step of another at the wrong moment, can leave behind, and what puts it right.
extension RoomService {
    /// Brings the own list of rooms up to date; for a program that starts.
    ///
    /// Whoever sends writes into the lists of those who were members when they looked. Somebody who came in just then
    /// misses that event in the own list, and nobody else may add it there.
    public func mend() async throws {
        let rooms = try await ServiceError.naming("see these rooms") {
            try await database.reference(withPath: "userRooms/\(me.uid)").getData().keys
        }
        _ = try await rooms.mapInParallel { room in try await mend(room) }
    }

    private func mend(_ room: String) async throws(ServiceError) {
        let purpose = "bring the list of rooms up to date"
        for attempt in 1...ChatLimits.tries {
            // First the room: an entry that is behind an older state of it is behind.
            let known: Room
            do throws(ServiceError) {
                known = try await read(room, to: purpose)
            } catch .refused {
                return  // Put out since the list was read.
            }
            guard let update = try await mending(known, to: purpose) else { return }
            if try await write(update, to: purpose) { return }
            await waits.wait(attempt)
        }
    }

    /// What the own entry of a room lacks; nil if that is nothing.
    private func mending(_ room: Room, to purpose: String) async throws(ServiceError) -> RoomUpdate?
    {
        try await ServiceError.naming(purpose) {
            let snapshot = try await database.reference(withPath: "userRooms/\(me.uid)/\(room.key)")
                .getData()
            guard snapshot.exists() else { return nil }
            let entry = try snapshot.record(as: RoomSummary.self)
            let last = room.lastEvent.position.milliseconds
            guard entry.lastEventMilliseconds < last || entry.name != room.name else { return nil }
            let place = "userRooms/\(me.uid)/\(room.key)"
            var update = RoomUpdate(of: room.key)
            update["\(place)/name"] = room.name
            if entry.lastEventMilliseconds < last {
                // The rules refuse this if there is another event by now, which is in the entry already.
                update["\(place)/lastEventAt"] = last
                update["\(place)/lastEventText"] = RoomText.of(
                    room.lastEvent.content,
                    by: try await shownName(of: room.lastEvent.by) ?? me.username,
                    target: try await usernameOfTarget(of: room.lastEvent),
                )
                // A sum and no increment: two devices that mend at once both write the same.
                let missed = try await missed(in: room, since: entry.lastEventMilliseconds)
                update["\(place)/unread"] = entry.unread + missed
            }
            return update
        }
    }

    /// How many events of others came since the one that the own list shows.
    private func missed(in room: Room, since shown: Double) async throws -> Int {
        try await events(of: room.key).queryStarting(afterValue: shown).getData()
            .records(as: RoomEvent.self).records
            .count { $0.by != me.uid && $0.position <= room.lastEvent.position }
    }

    private func usernameOfTarget(of event: RoomEvent) async throws(ServiceError) -> String? {
        guard let target = event.content.target, target != event.by else { return nil }
        return try await shownName(of: target) ?? me.username
    }
}
