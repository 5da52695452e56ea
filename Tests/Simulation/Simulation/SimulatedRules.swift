package import SecurityRules

/// Rules as text for the engine and as plain functions for the model.
package enum SimulatedRules: Hashable, Sendable {
    /// Everybody may do everything; `/list` is indexed.
    case open
    /// Rooms are for their members, whom only the keeper names; `/public` is for all. What apps have is for all too,
    /// but for `/no`, and for `/room` while there is a lock.
    case rooms
    /// The same while nothing is to change: few may read, and only what apps call their own may be written.
    case closed

    /// The uid that may change who is a member.
    package static let keeper = "keeper"

    /// The rules that the engine decides by.
    ///
    /// - Throws: `RulesError` when the text below is wrong.
    package func ruleset() throws(RulesError) -> Ruleset {
        switch self {
        case .open: try Ruleset.load(Self.openText)
        case .rooms: try Ruleset.load(Self.roomsText)
        case .closed: try Ruleset.load(Self.closedText)
        }
    }

    /// Whether `identity` may read at `path` of the tree `root`.
    package func canRead(_ path: NaivePath, _ identity: SimulatedIdentity, _ root: NaiveNode)
        -> Bool
    {
        if self == .open || identity == .admin { return true }
        switch path.first {
        case "public", "t", "count", "inc", "own", "gone": return true
        case "room": return self == .rooms && root[["t", "lock"]].isAbsent
        case "rooms":
            if path.count < 2 { return false }
            if self == .closed { return identity == .user(Self.keeper) }
            return isMember(identity, of: path[1], root)
        default: return false
        }
    }

    /// Whether `identity` may write at `path`, `root` being the tree before.
    package func canWrite(_ path: NaivePath, _ identity: SimulatedIdentity, _ root: NaiveNode)
        -> Bool
    {
        if self == .open || identity == .admin { return true }
        switch path.first {
        case "own": return true
        case "public", "t", "room", "count", "inc", "gone": return self == .rooms
        case "rooms":
            guard path.count >= 3 else { return false }
            if path[2] == "members" { return identity == .user(Self.keeper) }
            return path[2] == "log" && self == .rooms && isMember(identity, of: path[1], root)
        default: return false
        }
    }

    private func isMember(
        _ identity: SimulatedIdentity,
        of room: String,
        _ root: NaiveNode
    ) -> Bool {
        guard case .user(let uid) = identity else { return false }
        return !root[["rooms", room, "members", uid]].isAbsent
    }

    private static let openText = """
        {"rules": {
          ".read": true, ".write": true,
          "list": {".indexOn": [".value", "x", "y/z"]}
        }}
        """

    private static let roomsText = """
        {"rules": {
          "public": {".read": true, ".write": true},
          "rooms": {"$room": {
            ".read": "auth != null && data.child('members').hasChild(auth.uid)",
            "members": {".write": "auth != null && auth.uid === 'keeper'"},
            "log": {".write": "auth != null && data.parent().child('members').hasChild(auth.uid)"}
          }},
          "t": {
            ".read": true, ".write": true, ".indexOn": [".value", "x", "y/z"],
            "$key": {".indexOn": [".value", "x", "y/z"]}
          },
          "room": {
            ".read": "!root.child('t/lock').exists()", ".write": true,
            ".indexOn": [".value", "x", "y/z"]
          },
          "count": {".read": true, ".write": true}, "inc": {".read": true, ".write": true},
          "own": {".read": true, ".write": true}, "gone": {".read": true, ".write": true}
        }}
        """

    private static let closedText = """
        {"rules": {
          "public": {".read": true},
          "rooms": {"$room": {
            ".read": "auth != null && auth.uid === 'keeper'",
            "members": {".write": "auth != null && auth.uid === 'keeper'"}
          }},
          "t": {
            ".read": true, ".indexOn": [".value", "x", "y/z"],
            "$key": {".indexOn": [".value", "x", "y/z"]}
          },
          "count": {".read": true}, "inc": {".read": true}, "gone": {".read": true},
          "own": {".read": true, ".write": true}
        }}
        """
}
