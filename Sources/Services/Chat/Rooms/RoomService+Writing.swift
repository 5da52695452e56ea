import Foundation
import HearthDatabase
import Social

/// How long to wait before a write is tried again that others were faster than.
package struct RoomWaits: Sendable {
    /// Waits before the try of that number, from 1.
    package let wait: @Sendable (Int) async -> Void

    package init(_ wait: @escaping @Sendable (Int) async -> Void) { self.wait = wait }

    /// Random times, longer each time, up to a second: those who collided do not collide again.
    package static let random = RoomWaits { attempt in
        let longest = min(1000, 10 << min(attempt, 10))
        // A cancelled task continues at once; its write ends normally.
        try? await Task.sleep(for: .milliseconds(Int.random(in: 0...longest)))
    }
}

extension RoomService {
    /// A key that sorts behind all keys made before.
    func newKey(below path: String) throws(ServiceError) -> String {
        guard let key = database.reference(withPath: path).childByAutoId().key else {
            throw .invalid(field: "room", why: "it cannot be a key")
        }
        return key
    }

    /// A room as it is now, for an operation that is named so when the room cannot be seen. With patience it waits for
    /// a connection: it continues an operation that may be done already.
    func read(
        _ room: String,
        to purpose: String,
        isPatient: Bool = false,
    ) async throws(ServiceError) -> Room {
        try await ServiceError.naming(purpose) {
            let location = database.reference(withPath: "rooms/\(room)")
            let snapshot =
                try await isPatient ? database.serverData(of: location) : location.getData()
            guard snapshot.exists() else { throw ServiceError.notFound("room") }
            return try snapshot.record(as: Room.self)
        }
    }

    /// Makes one update; false if the rules refuse it. A write sent twice after a cut is refused the second time, since
    /// its event exists: that is not a refusal.
    package func write(_ update: RoomUpdate, to purpose: String) async throws(ServiceError) -> Bool
    {
        if try await database.accepts(update.paths, to: purpose) { return true }
        guard let key = update.event else { return false }
        return try await ServiceError.naming(purpose) {
            try await isDone("roomEvents/\(update.room)/\(key)")
        }
    }

    /// Whether this user's event exists at a location. It waits for a connection: the caller sends a missing event
    /// again.
    private func isDone(_ path: String) async throws -> Bool {
        do {
            return try await database.serverData("\(path)/by").value as? String == me.uid
        } catch DatabaseError.permissionDenied {
            return false
        }
    }

    /// Makes the update that a room calls for. If it is refused and the room is another by then, tries again with that.
    ///
    /// An update names every member, so it is refused when one has just left, or the room was renamed. `build` makes
    /// the update for the present room; nil for none. Throws `refused` in the end, and errors of `build`.
    func change(
        _ room: String,
        to purpose: String,
        _ build: (Room) throws(ServiceError) -> RoomUpdate?,
    ) async throws(ServiceError) {
        var known = try await read(room, to: purpose)
        var blindTries = 0
        for attempt in 1...ChatLimits.tries {
            guard let update = try build(known) else { return }
            if try await write(update, to: purpose) { return }
            let now = try await read(room, to: purpose, isPatient: true)
            if now.members == known.members, now.name == known.name {
                // Who left and came back since looks as if they had been there all the time.
                guard now.lastEvent.key != known.lastEvent.key,
                    blindTries < ChatLimits.blindTries
                else { break }
                blindTries += 1
            }
            await waits.wait(attempt)
            known = try await read(room, to: purpose, isPatient: true)
        }
        throw .refused(purpose)
    }

    /// Sends an event to all members of a room, with the changes that `more` adds to the update or throws the reason
    /// against. `target` is the username of another person whom it concerns. Throws as `change` does.
    func tell(
        _ content: RoomEvent.Content,
        key: String? = nil,
        in room: String,
        target: String? = nil,
        to purpose: String,
        _ more: (Room, inout RoomUpdate) throws(ServiceError) -> Void = { (_, _) in },
    ) async throws(ServiceError) {
        let key = if let key { key } else { try newKey(below: "roomEvents/\(room)") }
        try await change(room, to: purpose) { (known) throws(ServiceError) in
            var update = update(telling: content, key: key, target: target, in: known)
            try more(known, &update)
            return update
        }
    }

    /// An event of this user's, to all who are in a room before and after it.
    func update(
        telling content: RoomEvent.Content,
        key: String,
        target: String?,
        in known: Room,
    ) -> RoomUpdate {
        RoomUpdate(
            of: known.key,
            telling: content,
            key: key,
            by: me.uid,
            summary: RoomText.of(content, by: me.username, target: target),
            // A new member gets a whole entry, and a leaving one loses it.
            to: known.people.filter { $0 != content.target },
        )
    }
}

extension RoomEvent.Content {
    /// Who comes or goes.
    var target: String? {
        switch self {
        case .addedUser(let uid), .userLeft(let uid): uid
        case .message, .deletedMessage, .createdChat, .renamedChat: nil
        }
    }
}
