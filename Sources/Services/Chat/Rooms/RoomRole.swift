/// The role of a person in a room.
public enum RoomRole: String, CaseIterable, Sendable {
    /// The creator of the room, and those whom an owner appoints: may do everything.
    case owner
    /// Writes, invites, renames; removes, bans and changes people below an admin.
    case admin
    /// Speaks and invites.
    case member
    /// Reads.
    case watcher
    /// Sees a room no more, not even a public one, and does not come back by themselves.
    case banned

    /// Whether a person with this role is in the room and receives its events.
    public var isIn: Bool { self != .banned }

    /// Whether a person with this role may write, and is shown typing.
    public var maySpeak: Bool {
        switch self {
        case .owner, .admin, .member: true
        case .watcher, .banned: false
        }
    }

    /// Whether a person with this role may rename any of their rooms, and see flags.
    public var mayRename: Bool { self == .owner || self == .admin }

    /// Whether a person with this role may remove another, ban them, lift a ban, or delete their messages; `other` is
    /// nil for a person who is not in the room.
    public func mayPutOut(_ other: RoomRole?) -> Bool { mayChange(from: other, to: nil) }

    /// Whether a person with this role may invite another with `role`, who has the role `other` now: nil for a new
    /// person, or `banned`.
    public func mayInvite(as role: RoomRole, whoIs other: RoomRole? = nil) -> Bool {
        role.isIn
            && (mayChange(from: other, to: role)
                || self == .member && other == nil && role == .member)
    }

    /// Whether a person with this role may change another person's role.
    public func mayChange(from other: RoomRole?, to role: RoomRole?) -> Bool {
        switch self {
        case .owner: true
        case .admin: ![other, role].contains { $0 == .owner || $0 == .admin }
        case .member, .watcher, .banned: false
        }
    }
}
