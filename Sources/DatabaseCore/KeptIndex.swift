import JSONTree
import Queries

/// Which index a query walks: an order of the children of one node.
struct IndexNeed: Hashable {
    let path: Path
    let order: QuerySpec.Index
}

/// An index of one node's children, followed through every commit while it is kept.
///
/// Built on first use. That of a large node is worked out elsewhere from a snapshot; until it is there,
/// those who need it wait.
final class KeptIndex {
    let need: IndexNeed
    /// The index of the node as it is now; nil until it is built.
    var ready: ChildIndex?
    /// What the index being worked out elsewhere is of; nil when none is.
    var snapshot: Node?
    /// How often the one being worked out has been sent to follow later commits.
    var followCount = 0
    /// Who is asked again when it is ready, oldest first.
    var askers: ArraySlice<Asker> = []
    /// Views that walk it.
    var viewCount = 0
    /// When somebody last asked for it.
    var lastUsed: Timestamp
    /// Whether the rules declared it when it was made.
    let isDeclared: Bool
    /// Its part of the database's `undeclaredEntryCount`.
    var countedEntries = 0

    init(_ need: IndexNeed, isDeclared: Bool, now: Timestamp) {
        self.need = need
        self.isDeclared = isDeclared
        lastUsed = now
    }

    /// Whether nothing walks it and nobody waits for it.
    var isIdle: Bool { viewCount == 0 && askers.isEmpty && snapshot == nil }

    /// Keeps in step with a commit, before any view walks it.
    func follow(_ step: NodeStep) {
        if ready == nil { return }
        if let differences = step.differences {
            ready?.apply(differences)
        } else {
            // As long as what was written.
            ready = ChildIndex(need.order, of: step.new)
        }
    }
}
