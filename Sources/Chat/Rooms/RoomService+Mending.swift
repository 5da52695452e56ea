import Foundation
public import Records

/// What a cut, or a step of another at the wrong moment, can leave behind, and what puts it right.
extension RoomService {
    /// Brings the own list of rooms up to date; for a program that starts.
    ///
    /// Whoever sends writes into the lists of those who were members when they looked. Somebody who came in just then
    /// misses that event in the own list, and nobody else may add it there.
    /// - Returns: Rooms, and entries of the list, that make no sense and were left as they are.
    @discardableResult
    public func mend() async throws -> [RecordFault] {
        let rooms = try await ServiceError.naming("see these rooms") {
            try await database.reference(withPath: "userRooms/\(me.uid)").getData().keys
        }
        return try await rooms.mapInParallel { room in try await fault(in: room) }.compactMap { $0 }
    }

    /// Mends the entry of a room, or says why nothing can be made of the two.
    private func fault(in room: String) async throws(ServiceError) -> RecordFault? {
        do throws(ServiceError) {
            try await mend(room)
            return nil
        } catch {
            switch error {
            case .faulty(let fault): return fault
            case .notFound(let what):
                return RecordFault(path: "rooms/\(room)", reason: "there is no \(what)")
            // An account of an event, say, that can be none.
            case .invalid(let field, let why):
                return RecordFault(path: "rooms/\(room)/lastEvent", reason: "\(field): \(why)")
            case .taken, .refused, .database: throw error
            }
        }
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
            let place = "userRooms/\(me.uid)/\(room.key)"
            let snapshot = try await database.reference(withPath: place).getData()
            guard snapshot.exists() else { return nil }
            let entry = try snapshot.record(as: RoomSummary.self)
            guard entry.isBehind(room) else { return nil }
            var update = try await entering(room, in: entry)
            if entry.lastEventMilliseconds < room.lastEvent.position.milliseconds {
                // A sum and no increment: two devices that mend at once both write the same.
                let missed = try await missed(in: room, since: entry.lastEventMilliseconds)
                update["\(place)/unread"] = entry.unread + missed
            }
            return update
        }
    }

    /// What the own entry of a room says of its name and latest event.
    ///
    /// The rules refuse it if there is another event by now, which is in the entry already.
    func entering(_ room: Room, in entry: RoomSummary) async throws -> RoomUpdate {
        let place = "userRooms/\(me.uid)/\(room.key)"
        let last = room.lastEvent.position.milliseconds
        var update = RoomUpdate(of: room.key)
        if entry.name != room.name { update["\(place)/name"] = room.name }
        update["\(place)/lastEventAt"] = last
        if entry.lastEventMilliseconds < last {
            update["\(place)/lastEventText"] = RoomText.of(
                room.lastEvent.content,
                by: try await shownName(of: room.lastEvent.by) ?? me.username,
                target: try await usernameOfTarget(of: room.lastEvent),
            )
        }
        return update
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

extension RoomSummary {
    /// Whether it says less than the room does.
    func isBehind(_ room: Room) -> Bool {
        lastEventMilliseconds < room.lastEvent.position.milliseconds || name != room.name
    }
}
