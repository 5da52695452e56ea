package import SecurityRules

/// Rules as text for the engine and as plain functions for the model.
package enum SimulatedRules: Sendable {
    /// Everybody may do everything; `/list` is indexed.
    case open
    /// Rooms are for their members, whom only the keeper names; `/public` is for all.
    case rooms

    /// The uid that may change who is a member.
    package static let keeper = "keeper"

    /// The rules that the engine judges by.
    ///
    /// - Throws: `RulesError` when the text below is wrong.
    package func ruleset() throws(RulesError) -> Ruleset {
        switch self {
        case .open: try Ruleset.load(Self.openText)
        case .rooms: try Ruleset.load(Self.roomsText)
        }
    }

    /// Whether `identity` may read at `path` of the tree `root`.
    package func canRead(_ path: NaivePath, _ identity: SimulatedIdentity, _ root: NaiveNode)
        -> Bool
    {
        if case .open = self { return true }
        if identity == .admin || path.first == "public" { return true }
        return path.count >= 2 && path[0] == "rooms" && isMember(identity, of: path[1], root)
    }

    /// Whether `identity` may write at `path`, `root` being the tree before.
    package func canWrite(_ path: NaivePath, _ identity: SimulatedIdentity, _ root: NaiveNode)
        -> Bool
    {
        if case .open = self { return true }
        if identity == .admin || path.first == "public" { return true }
        guard path.count >= 3, path[0] == "rooms" else { return false }
        switch path[2] {
        case "members": return identity == .user(Self.keeper)
        case "log": return isMember(identity, of: path[1], root)
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
          }}
        }}
        """
}
