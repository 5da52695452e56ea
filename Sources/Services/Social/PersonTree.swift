import Foundation

/// Where usernames are, and the updates that write the records of people.
enum PersonTree {
    static func username(_ name: String) -> String { "usernames/\(name.lowercased())" }

    /// Sets or removes the two entries of an edge.
    static func edge(from follower: String, to followed: String, exists: Bool) -> [String: Any] {
        let value: Any = exists ? true : NSNull()
        return [
            "following/\(follower)/\(followed)": value,
            "followers/\(followed)/\(follower)": value,
        ]
    }

    /// The entries that let a search find a person by a whole text, but not by its beginnings.
    static func whole(_ text: String, of uid: String, in field: SearchField) -> [String: Any] {
        guard let key = SearchPrefixes.wholeKey(of: text, in: field) else { return [:] }
        return ["searchIndex/\(field.rawValue)/\(key)/\(uid)": true]
    }

    /// The changes of the index from the old texts of a field to the new ones. Prefixes that stay are written too: an
    /// index that another version or a cut left behind is whole again.
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
