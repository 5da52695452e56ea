package import JSONTree
package import Queries

/// What was asked of the rules, as an explanation names it.
package struct ExplainedRequest: Sendable {
    /// What was tried, in the word of whoever tried it: `read`, `listen`, `set`, `update`, ...
    package let operation: String
    /// The place that was named; for an update its base.
    package let path: Path
    /// Nil when nobody is signed in.
    package let auth: AuthVariable?
    /// The query of a read; nil for a read without one, and for a write.
    package let query: QuerySpec?

    /// The places of an update, in the order of the decision's entries; empty for anything else.
    package var entries: [Path] = []
    /// The rules that decided. With them the explanation says what stands below the place.
    package var rules: Ruleset?
    /// The tree as the write would leave it. With it the explanation names children that are missing.
    package var newRoot: Node?
    /// Whether it names the claims of who asked; else it says where they are shown, and is short: what is printed
    /// unasked, on consoles of browsers, is seen by more people than those who look for the reason.
    package var tellsClaims = true

    /// Names a request.
    package init(operation: String, path: Path, auth: AuthVariable?, query: QuerySpec? = nil) {
        self.operation = operation
        self.path = path
        self.auth = auth
        self.query = query
    }
}
