import JSONTree
import Queries

/// Which index a query walks: an order of the children of one node.
struct IndexNeed: Hashable {
    let path: Path
    let order: QuerySpec.Index
}

/// An index of one node's children, followed through every commit while it is kept.
///
/// Built on first use. That of a large node is made elsewhere from a snapshot; requests that need it wait.
final class KeptIndex {
    let need: IndexNeed
    /// The database owns its indexes and outlives them.
    unowned let database: Database
    /// The index of the node as it is now; nil until it is built.
    var ready: ChildIndex?
    /// The node of the index that is being made elsewhere; nil when none is.
    var snapshot: Node?
    /// How often that index has been sent to follow later commits.
    var followCount = 0
    /// Operations to perform when it is ready, oldest first.
    var parked: ArraySlice<ParkedOperation> = []
    /// Views that walk it.
    var viewCount = 0
    /// When a request last needed it.
    var lastUsed: Timestamp
    /// Whether the rules declared it when it was made.
    let isDeclared: Bool
    /// Its share of the database's `undeclaredEntryCount`.
    var countedEntries = 0

    init(_ need: IndexNeed, in database: Database, isDeclared: Bool, now: Timestamp) {
        self.need = need
        self.database = database
        self.isDeclared = isDeclared
        lastUsed = now
    }

    /// Whether nothing walks it or waits for it.
    var isIdle: Bool { viewCount == 0 && parked.isEmpty && snapshot == nil }

    /// Keeps in step with a commit, before any view walks it.
    func follow(_ step: NodeStep) {
        if ready == nil { return }
        if let differences = step.differences {
            ready?.apply(differences)
        } else {
            // Takes as long as the write.
            ready = ChildIndex(need.order, of: step.new)
        }
    }
}
