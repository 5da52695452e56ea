import Foundation
import HearthDatabase
import Records

/// How long to wait before a write is tried again that others were faster than.
package struct RoomWaits: Sendable {
    /// Waits before the try of that number, from 1.
    package let wait: @Sendable (Int) async -> Void

    package init(_ wait: @escaping @Sendable (Int) async -> Void) { self.wait = wait }

    /// Random times, longer each time, up to a second: those who collided do not collide again.
    package static let random = RoomWaits { attempt in
        let longest = min(1000, 10 << min(attempt, 10))
        // A task that is cancelled goes on at once, and its write ends as it ends.
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

    /// A room as it is now, for an operation that is named so when the room cannot be seen.
    ///
    /// One that is patient waits for a connection: it goes on with something that may be done already.
    func read(
        _ room: String,
        to purpose: String,
        isPatient: Bool = false,
    ) async throws(ServiceError) -> Room {
        try await ServiceError.naming(purpose) {
            let place = database.reference(withPath: "rooms/\(room)")
            let snapshot = try await isPatient ? database.serverData(place) : place.getData()
            guard snapshot.exists() else { throw ServiceError.notFound("room") }
            return try snapshot.record(as: Room.self)
        }
    }

    /// Makes one update; false if the rules refuse it.
    ///
    /// One that was sent again after a cut is refused the second time, since its event is there: that is no refusal.
    package func write(_ update: RoomUpdate, to purpose: String) async throws(ServiceError) -> Bool
    {
        try await ServiceError.naming(purpose) {
            do {
                try await database.reference().updateChildValues(update.paths)
                return true
            } catch DatabaseError.permissionDenied {
                guard let key = update.event else { return false }
                return try await isDone("roomEvents/\(update.room)/\(key)")
            }
        }
    }

    /// Whether an event of this user's is at a place.
    ///
    /// It waits for a connection: whoever is told that it is not there sends it once more.
    private func isDone(_ path: String) async throws -> Bool {
        do {
            return try await database.serverData("\(path)/by").value as? String == me.uid
        } catch DatabaseError.permissionDenied {
            return false
        }
    }

    /// Makes the update that a room calls for. If it is refused and the room is another by then, tries again with that.
    ///
    /// An update names every member, so it is refused when one of them has just left, or when the room has another name.
    /// - Parameters:
    ///   - room: The room.
    ///   - purpose: What is to be done, for the refusal.
    ///   - build: What is to be written in the room as it is; nil if that is nothing.
    /// - Throws: `refused` in the end, and what `build` throws.
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

    /// Tells an event to everybody who is in a room, with what else `more` adds to the update.
    ///
    /// - Parameters:
    ///   - content: What happens.
    ///   - key: The key of the event; a new one unless given.
    ///   - room: Where.
    ///   - target: The username of whom it is about, if that is somebody else.
    ///   - purpose: What is to be done, for the refusal.
    ///   - more: Adds paths, or says why this cannot be.
    /// - Throws: As `change` does.
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

    /// An event of this user's, to everybody who is in a room before and after it.
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
            // Whoever comes gets a whole entry, and whoever goes loses it.
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
