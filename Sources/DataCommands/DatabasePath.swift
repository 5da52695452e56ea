import JSONTree

/// A place in a database as a request names it.
package struct DatabasePath: Equatable, Sendable {
    /// The keys from the root, as they are.
    package let keys: [String]

    /// Reads `/a/b`, `a/b` or `/`; empty pieces do not count. Whether the keys are good is the server's to say.
    package init(_ text: String) {
        keys = text.split(separator: "/").map { String($0) }
    }

    init(keys: [String]) {
        self.keys = keys
    }

    /// For people: `/a/b`.
    package var description: String { "/" + keys.joined(separator: "/") }

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
