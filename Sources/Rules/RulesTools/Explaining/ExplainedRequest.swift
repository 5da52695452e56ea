package import JSONTree
package import Queries
package import SecurityRules

/// A request as an explanation names it.
package struct ExplainedRequest: Sendable {
    /// The operation, in the client's word: `read`, `listen`, `set`, `update`, ...
    package let operation: String
    /// The path of the request; for an update its base.
    package let path: Path
    /// Nil when signed out.
    package let auth: AuthVariable?
    /// The query of a read; nil for a read without one, and for a write.
    package let query: QuerySpec?

    /// The locations of an update, in the order of the decision's entries; empty for anything else.
    package var entries: [Path] = []
    /// The rules that decided. With them the explanation names rules below the location.
    package var rules: Ruleset?
    /// The tree as the write would leave it. With it the explanation names children that are missing.
    package var newRoot: Node?
    /// Whether it shows the claims of the caller; else it says where they are shown, and is short: text that is printed
    /// unasked, on consoles of browsers, is seen by more people than those who look for the reason.
    package var showsClaims = true

    /// Names a request.
    package init(operation: String, path: Path, auth: AuthVariable?, query: QuerySpec? = nil) {
        self.operation = operation
        self.path = path
        self.auth = auth
        self.query = query
    }

    /// The location of an entry; nil when it is not one of several.
    func entry(_ index: Int?) -> Path? {
        index.flatMap { entries.indices.contains($0) ? entries[$0] : nil }
    }
}
