import Foundation

/// Where the records of people are, and the updates that write them.
enum PersonTree {
    static func user(_ uid: String) -> String { "users/\(uid)" }

    static func username(_ name: String) -> String { "usernames/\(name.lowercased())" }

    static func profile(_ uid: String) -> String { "profiles/\(uid)" }

    static func details(_ uid: String) -> String { "private/\(uid)" }

    static func presence(_ uid: String) -> String { "presence/\(uid)" }

    static func lastOnline(_ uid: String) -> String { "lastOnline/\(uid)" }

    /// The two entries of an edge, or nothing in their places.
    static func edge(from follower: String, to followed: String, exists: Bool) -> [String: Any] {
        let value: Any = exists ? true : NSNull()
        return [
            "following/\(follower)/\(followed)": value,
            "followers/\(followed)/\(follower)": value,
        ]
    }

    /// What lets somebody be found by a whole text, and by no beginning of it.
    static func whole(_ text: String, of uid: String, in field: SearchField) -> [String: Any] {
        guard let key = SearchPrefixes.wholeKey(of: text, in: field) else { return [:] }
        return ["searchIndex/\(field.rawValue)/\(key)/\(uid)": true]
    }

    /// What brings the index from the old texts of a field to the new ones.
    ///
    /// Prefixes that stay are written too: an index that another version or a cut left behind is whole again.
    static func index(
        of uid: String,
        in field: SearchField,
        from old: [String],
        to new: [String],
    ) -> [String: Any] {
        let kept = Set(new.flatMap { SearchPrefixes.keys(of: $0, in: field) })
        let gone = Set(old.flatMap { SearchPrefixes.keys(of: $0, in: field) }).subtracting(kept)
        var update: [String: Any] = [:]
        for prefix in kept { update["searchIndex/\(field.rawValue)/\(prefix)/\(uid)"] = true }
        for prefix in gone { update["searchIndex/\(field.rawValue)/\(prefix)/\(uid)"] = NSNull() }
        return update
    }
}
