import JSONTree

/// A location in a database, as in a request.
struct DatabasePath: Equatable, Sendable {
    /// The keys from the root, as they are.
    let keys: [String]

    /// Reads `/a/b`, `a/b` or `/`; empty pieces do not count. Whether the keys are good is the server's to say.
    init(_ text: String) {
        keys = text.split(separator: "/").map { String($0) }
    }

    init(keys: [String]) {
        self.keys = keys
    }

    /// For people: `/a/b`.
    var description: String { "/" + keys.joined(separator: "/") }

    /// For a URL, percent-encoded, with `.json`: `/a/b.json`.
    var resource: String {
        pageResource + ".json"
    }

    /// For the URL of a page, percent-encoded: `/a/b`.
    var pageResource: String {
        "/" + keys.map { PercentCoding.encode($0) }.joined(separator: "/")
    }

    func appending(_ more: some Sequence<String>) -> DatabasePath {
        DatabasePath(keys: keys + more)
    }
}
