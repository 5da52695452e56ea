import Foundation
import Social

/// Adds and removes members. An event reports each change, except of a role.
extension RoomService {
    /// Adds a person.
    ///
    /// Members invite others as members; admins also as watchers, and those who are banned; owners in any role. Who has
    /// blocked this user is not brought in.
    public func invite(_ uid: String, to room: String, as role: RoomRole = .member) async throws {
        guard role.isIn else {
            throw ServiceError.invalid(field: "role", why: "an invitation cannot ban")
        }
        let purpose = "invite them to this room"
        let username = try await username(of: uid)
        try await add(uid, in: try room.key("room"), as: role, username: username, to: purpose)
    }

    /// Comes into a public room as a member.
    public func join(_ room: String) async throws {
        let room = try room.key("room")
        try await add(me.uid, in: room, as: .member, username: nil, to: "join this room")
    }

    /// Leaves; the room and its messages stay for the others.
    public func leave(_ room: String) async throws {
        let room = try room.key("room")
        typings.end(in: room)
        var wasIn = false
        let key = try newKey(below: "roomEvents/\(room)")
        do throws(ServiceError) {
            try await change(room, to: "leave this room") { (known) throws(ServiceError) in
                guard known.has(me.uid) else { throw .notFound("membership of this room") }
                wasIn = true
                return putting(me.uid, out: known, leaving: NSNull(), key: key, username: nil)
            }
        } catch {
            // A user who was removed in the meantime, or whose update was sent twice after a cut, is out as intended.
            guard case .refused = error, wasIn, try await isGone(room) else { throw error }
        }
    }

    /// Removes a person, who may be invited again. Owners may, and admins may for people below them.
    public func remove(_ uid: String, from room: String) async throws {
        let room = try room.key("room")
        let username = try await shownName(of: uid)
        let key = try newKey(below: "roomEvents/\(room)")
        try await change(room, to: "put them out of this room") { (known) throws(ServiceError) in
            guard known.has(uid) else { throw .notFound("member of this room with this account") }
            return putting(uid, out: known, leaving: NSNull(), key: key, username: username)
        }
    }

    /// Bans a person, in the room or not: they cannot see it or come back. Owners may, and admins may for people
    /// below them.
    public func ban(_ uid: String, from room: String) async throws {
        let room = try room.key("room")
        let username = try await shownName(of: uid)
        let key = try newKey(below: "roomEvents/\(room)")
        var wasSent = false
        try await change(room, to: "ban them from this room") { (known) throws(ServiceError) in
            let banned = RoomRole.banned.rawValue
            if wasSent, known.role(of: uid) == .banned { return nil }
            wasSent = true
            guard known.has(uid) else { return try Self.role(of: uid, banned, in: room) }
            return putting(uid, out: known, leaving: banned, key: key, username: username)
        }
    }

    /// Takes a ban back, which does not bring them in. Owners and admins may.
    public func unban(_ uid: String, in room: String) async throws {
        let room = try room.key("room")
        var wasSent = false
        try await change(room, to: "take back this ban") { (known) throws(ServiceError) in
            guard known.role(of: uid) == .banned else {
                if wasSent { return nil }
                throw .notFound("ban of them here")
            }
            wasSent = true
            return try Self.role(of: uid, NSNull(), in: room)
        }
    }

    /// Changes the role of a person in the room to any but `banned`: see `ban(_:from:)`. Owners may, and admins may for
    /// people below them.
    ///
    /// - Throws: `notFound` if they are not there, `refused` if the user may not do it.
    public func setRole(_ role: RoomRole, of uid: String, in room: String) async throws {
        guard role.isIn else {
            throw ServiceError.invalid(field: "role", why: "a ban is an operation of its own")
        }
        let room = try room.key("room")
        var wasSent = false
        try await change(room, to: "change their role in this room") {
            (known) throws(ServiceError) in
            guard known.has(uid) else { throw .notFound("member of this room with this account") }
            // Who has made less of themselves, or is less by now, is refused when a cut has it sent again.
            if wasSent, known.role(of: uid) == role { return nil }
            wasSent = true
            return try Self.role(of: uid, role.rawValue, in: room)
        }
    }
}

extension RoomService {
    private func add(
        _ uid: String,
        in room: String,
        as role: RoomRole,
        username: String?,
        to purpose: String,
    ) async throws(ServiceError) {
        try await tell(.addedUser(uid), in: room, target: username, to: purpose) {
            (known, update) throws(ServiceError) in
            guard !known.has(uid) else { throw .taken("a membership of this room") }
            update["rooms/\(room)/members/\(uid)"] = role.rawValue
            update["userRooms/\(uid)/\(room)"] = RoomUpdate.entry(
                known.name,
                summary: RoomText.of(.addedUser(uid), by: me.username, target: username),
                unread: uid == me.uid ? 0 : 1,
            )
        }
    }

    private func putting(
        _ uid: String,
        out known: Room,
        leaving rest: Any,
        key: String,
        username: String?,
    ) -> RoomUpdate {
        var update = update(telling: .userLeft(uid), key: key, target: username, in: known)
        update["rooms/\(known.key)/members/\(uid)"] = rest
        update["userRooms/\(uid)/\(known.key)"] = NSNull()
        return update
    }

    private static func role(
        of uid: String,
        _ role: Any,
        in room: String,
    ) throws(ServiceError) -> RoomUpdate {
        var update = RoomUpdate(of: room)
        update["rooms/\(room)/members/\(try uid.key("uid"))"] = role
        return update
    }

    /// Whether this user's own list has the room no more.
    private func isGone(_ room: String) async throws(ServiceError) -> Bool {
        try await ServiceError.naming("see the own rooms") {
            try await !database.serverData("userRooms/\(me.uid)/\(room)").exists()
        }
    }

    /// A person's username; nil for this user, for whom events have other words.
    func username(of uid: String) async throws(ServiceError) -> String? {
        let uid = try uid.key("uid")
        if uid == me.uid { return nil }
        let name = try await database.read("users/\(uid)/username", to: "see who that is").value
        guard let username = name as? String else { throw .notFound("account with this key") }
        return username
    }

    /// A person's name for events, also of a deleted account; nil for this user.
    func shownName(of uid: String) async throws(ServiceError) -> String? {
        do throws(ServiceError) {
            return try await username(of: uid)
        } catch .notFound {
            return "a former user"
        }
    }
}
