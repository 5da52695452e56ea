import Foundation
public import Social

/// Marks of a user on rooms and events, for themselves or for a room's moderators.
extension RoomService {
    /// Flags an event for the room's owners and admins; or a message of a direct chat, by its key, for the operator
    /// of the server. All who can see it may flag it.
    public func flag(_ event: String, in room: String) async throws {
        try await set(true, try flagPath(event, room), to: "flag this event")
    }

    /// Takes a flag back.
    public func unflag(_ event: String, in room: String) async throws {
        try await set(nil, try flagPath(event, room), to: "take back this flag")
    }

    /// Who has flagged which event. Owners and admins see it.
    ///
    /// - Returns: Accounts, sorted, by the key of the event.
    public func flags(in room: String) async throws -> [String: [String]] {
        let room = try room.key("room")
        let snapshot = try await database.read("flags/\(room)", to: "see the flags of this room")
        var flags: [String: [String]] = [:]
        for case let event as DataSnapshot in snapshot.children { flags[event.key] = event.keys }
        return flags
    }

    /// Mutes a room, or a direct chat, until `unmute(_:)`.
    public func mute(_ room: String) async throws {
        try await set(true, "mutes/\(me.uid)/\(try room.key("room"))", to: "mute this room")
    }

    /// Unmutes it.
    public func unmute(_ room: String) async throws {
        try await set(nil, "mutes/\(me.uid)/\(try room.key("room"))", to: "unmute this room")
    }

    /// Reports the muted rooms and direct chats, now and after each change.
    public func observeMutes(
        with block: @escaping @Sendable (Set<String>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        database.reference(withPath: "mutes/\(me.uid)")
            .observe(
                to: "see what is muted",
                with: { block(Set($0.keys)) },
                withCancel: cancelBlock
            )
    }

    private func flagPath(_ event: String, _ room: String) throws(ServiceError) -> String {
        "flags/\(try room.key("room"))/\(try event.key("event"))/\(me.uid)"
    }

    private func set(_ value: Bool?, _ path: String, to purpose: String) async throws {
        try await ServiceError.naming(purpose) {
            _ = try await database.reference(withPath: path).setValue(value)
        }
    }
}
