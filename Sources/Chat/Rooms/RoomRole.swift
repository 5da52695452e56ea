/// What somebody is in a room.
public enum RoomRole: String, CaseIterable, Sendable {
    /// Whoever made the room, and whom an owner makes one: may do everything.
    case owner
    /// Speaks, invites, renames; puts out, bans and changes whoever is below an admin.
    case admin
    /// Speaks and invites.
    case member
    /// Reads.
    case watcher
    /// Sees a room no more, not even a public one, and does not come back by themselves.
    case banned

    /// Whether somebody with this role is in the room: events reach them.
    public var isIn: Bool { self != .banned }

    /// Whether somebody with this role says things, and is seen typing.
    public var maySpeak: Bool {
        switch self {
        case .owner, .admin, .member: true
        case .watcher, .banned: false
        }
    }

    /// Whether somebody with this role renames every room that they are in, and sees what was flagged.
    public var mayRename: Bool { self == .owner || self == .admin }

    /// Whether somebody with this role puts another out, bans them, takes a ban back, or deletes what they said.
    ///
    /// - Parameter other: What the other is; nil for somebody who is not in the room.
    /// - Returns: Whether the rules allow it.
    public func mayPutOut(_ other: RoomRole?) -> Bool {
        mayChange(from: other, to: nil)
    }

    /// Whether somebody with this role brings others in with that one.
    ///
    /// - Parameters:
    ///   - role: What the other is to be.
    ///   - other: What the other is: nil for somebody new, or `banned`.
    /// - Returns: Whether the rules allow it.
    public func mayInvite(as role: RoomRole, whoIs other: RoomRole? = nil) -> Bool {
        role.isIn
            && (mayChange(from: other, to: role)
                || self == .member && other == nil && role == .member)
    }

    /// Whether somebody with this role makes of another, who is not themselves, somebody with a third.
    public func mayChange(from other: RoomRole?, to role: RoomRole?) -> Bool {
        switch self {
        case .owner: true
        case .admin: ![other, role].contains { $0 == .owner || $0 == .admin }
        case .member, .watcher, .banned: false
        }
    }
}
