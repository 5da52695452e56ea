import Foundation
public import Records

/// What somebody notes about rooms and events for themselves, or for those who look after a room.
extension RoomService {
    /// Says that an event is wrong, which the room's owners and admins see, or a message of a direct chat, by its key,
    /// which whoever runs the server sees. Whoever sees it may.
    public func flag(_ event: String, in room: String) async throws {
        try await set(true, try flagPlace(event, room), to: "flag this event")
    }

    /// Takes a flag back.
    public func unflag(_ event: String, in room: String) async throws {
        try await set(nil, try flagPlace(event, room), to: "take back this flag")
    }

    /// Who has flagged which event. Owners and admins see it.
    ///
    /// - Returns: Accounts, sorted, by the key of the event.
    public func flags(in room: String) async throws -> [String: [String]] {
        let room = try room.key("room")
        return try await ServiceError.naming("see the flags of this room") {
            let snapshot = try await database.reference(withPath: "flags/\(room)").getData()
            var flags: [String: [String]] = [:]
            for case let event as DataSnapshot in snapshot.children {
                flags[event.key] = event.keys
            }
            return flags
        }
    }

    /// Wants to hear nothing of a room, or of a direct chat, until `unmute(_:)`.
    public func mute(_ room: String) async throws {
        try await set(true, "mutes/\(me.uid)/\(try room.key("room"))", to: "mute this room")
    }

    /// Wants to hear of it again.
    public func unmute(_ room: String) async throws {
        try await set(nil, "mutes/\(me.uid)/\(try room.key("room"))", to: "unmute this room")
    }

    /// Tells which rooms and direct chats are muted, now and whenever that changes.
    public func observeMutes(
        with block: @escaping @Sendable (Set<String>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        observe(
            database.reference(withPath: "mutes/\(me.uid)"),
            to: "see what is muted",
            with: { block(Set($0.keys)) },
            withCancel: cancelBlock,
        )
    }

    private func flagPlace(_ event: String, _ room: String) throws(ServiceError) -> String {
        "flags/\(try room.key("room"))/\(try event.key("event"))/\(me.uid)"
    }

    private func set(_ value: Bool?, _ path: String, to purpose: String) async throws {
        try await ServiceError.naming(purpose) {
            _ = try await database.reference(withPath: path).setValue(value)
        }
    }
}

extension DataSnapshot {
    /// The keys of the children, in the order of the query.
    var keys: [String] {
        children.allObjects.compactMap { ($0 as? DataSnapshot)?.key }
    }
}
