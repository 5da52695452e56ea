import Foundation
public import Social

/// Repairs damage by a cut, or by another's step at the wrong moment.
extension RoomService {
    /// Brings the own list of rooms up to date, and removes files that no message names; for a program that starts.
    ///
    /// A sender writes into the lists of the members that it read. A person who joined just then misses that event in
    /// their list, and only they may add it.
    ///
    /// - Returns: Rooms and list entries that are faulty and were not changed.
    @discardableResult
    public func mend() async throws -> [RecordFault] {
        let rooms = try await database.read("userRooms/\(me.uid)", to: "see these rooms").keys
        let faults = try await rooms.mapInParallel { room in try await fault(in: room) }
        return try await faults.compactMap { $0 } + attachments.mend().faults
    }

    /// Mends the entry of a room, or says why nothing can be made of the two.
    private func fault(in room: String) async throws(ServiceError) -> RecordFault? {
        do throws(ServiceError) {
            try await mendEntry(of: room)
            return nil
        } catch {
            switch error {
            case .faulty(let fault): return fault
            case .notFound(let what):
                return RecordFault(path: "rooms/\(room)", reason: "there is no \(what)")
            // An account of an event, say, that can be none.
            case .invalid(let field, let why):
                return RecordFault(path: "rooms/\(room)/lastEvent", reason: "\(field): \(why)")
            case .taken, .refused, .database, .files: throw error
            }
        }
    }

    private func mendEntry(of room: String) async throws(ServiceError) {
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

    /// The missing parts of the user's entry of a room; nil if there are none.
    private func mending(_ room: Room, to purpose: String) async throws(ServiceError) -> RoomUpdate?
    {
        try await ServiceError.naming(purpose) {
            let location = "userRooms/\(me.uid)/\(room.key)"
            let snapshot = try await database.reference(withPath: location).getData()
            guard snapshot.exists() else { return nil }
            let entry = try snapshot.record(as: RoomSummary.self)
            guard entry.isBehind(room) else { return nil }
            var update = try await entering(room, in: entry)
            if entry.lastEventMilliseconds < room.lastEvent.position.milliseconds {
                // A sum and no increment: two devices that mend at once both write the same.
                let missed = try await missed(in: room, since: entry.lastEventMilliseconds)
                update["\(location)/unread"] = entry.unread + missed
            }
            return update
        }
    }

    /// The room's name and latest event in the user's entry. The rules refuse it if there is another event by now,
    /// which is in the entry already.
    func entering(_ room: Room, in entry: RoomSummary) async throws -> RoomUpdate {
        let location = "userRooms/\(me.uid)/\(room.key)"
        let last = room.lastEvent.position.milliseconds
        var update = RoomUpdate(of: room.key)
        if entry.name != room.name { update["\(location)/name"] = room.name }
        update["\(location)/lastEventAt"] = last
        if entry.lastEventMilliseconds < last {
            update["\(location)/lastEventText"] = RoomText.of(
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
