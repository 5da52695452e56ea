/// Finds what was probably meant by a name that is not known.
package enum Spelling {
    /// The nearest of the first 32 candidates within a third of the name's length; nil when none
    /// is near. The bounds keep a text of nothing but faults from costing seconds.
    package static func nearest(to name: String, among candidates: [String]) -> String? {
        if name.unicodeScalars.count > 64 { return nil }
        let limit = max(1, (name.unicodeScalars.count + 1) / 3)
        var best: (name: String, distance: Int)?
        for candidate in candidates.prefix(32)
        where abs(candidate.unicodeScalars.count - name.unicodeScalars.count) <= limit {
            let distance = distance(name.lowercased(), candidate.lowercased())
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// Insertions, deletions and replacements between two words (Levenshtein).
    package static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a.unicodeScalars), Array(b.unicodeScalars))
        var row = Array(0...b.count)
        for (index, scalar) in a.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in b.indices {
                let replaced = diagonal + (scalar == b[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[b.count]
    }

    /// Names of other rule languages and of JavaScript, and their names here.
    private static let translations = [
        "user": "The signed-in user is auth.",
        "uid": "The user's id is auth.uid.",
        "request": "That is the language of Firestore; here there are auth, data and newData.",
        "resource": "That is the language of Firestore; here there are auth, data and newData.",
        "undefined": "What is missing is null.",
        "this": "The data at the rule is data.",
        "Math": "Rules have no Math.",
        "Date": "The time is now, in milliseconds.",
        "numChildren": "Children cannot be counted; keep a counter beside them.",
        "size": "Children cannot be counted; strings have length.",
        "count": "Children cannot be counted; keep a counter beside them.",
        "keys": "Children cannot be listed; use hasChildren([...]).",
        "forEach": "Children cannot be visited; use a $wildcard rule.",
        "startsWith": "Did you mean 'beginsWith'?",
        "includes": "Did you mean 'contains'?",
        "indexOf": "Did you mean 'contains'?",
        "test": "Did you mean 'matches'?",
        "match": "Did you mean 'matches'?",
        "search": "Did you mean 'matches'?",
        "replaceAll": "Did you mean 'replace'? It replaces every occurrence.",
        "trim": "Rules have no trim; use matches() to refuse spaces.",
        "substring": "Rules have no substring; use beginsWith, endsWith or matches.",
        "split": "Rules have no split; use matches.",
        "value": "Did you mean 'val'?",
        "isArray": "Arrays are objects; use hasChildren(['0']).",
        "isObject": "Use hasChildren().",
        "isNull": "Use !data.exists().",
        "priority": "Did you mean 'getPriority'?",
    ]

    /// A hint for an unknown name; nil when none is close.
    package static func hint(for name: String, among candidates: [String]) -> String? {
        if let translation = translations[name] { return translation }
        return nearest(to: name, among: candidates).map { "Did you mean '\($0)'?" }
    }
}
