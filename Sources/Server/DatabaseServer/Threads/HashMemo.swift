import JSONTree
import Synchronization

/// The hashes of the nodes that were hashed last, for works that ask for those of the same nodes.
///
/// A thousand compare-and-puts of one large node cost one hash, whatever hashes they name. Any thread may use it. It keeps
/// its nodes alive: its owner clears it once no hash is waited for.
final class HashMemo: Sendable {
    private struct Entry: Sendable {
        let node: Node
        let hash: String
        /// The forms in which this node has another hash.
        let forms: [Node.HashForm]
        /// The hashes in the first of these forms, as far as they were asked for.
        var others: [String] = []
    }

    private static let entryCount = 4

    /// The newest last.
    private let entries = Mutex<[Entry]>([])
    private let count = Atomic<Int>(0)

    /// How often a node was walked for its hash.
    var walkCount: Int { count.load(ordering: .relaxed) }

    func clear() { entries.withLock { $0 = [] } }

    /// What `Node.hash(like:)` gives; nil once it is cancelled.
    func hash(_ node: Node, like asked: String?, isCancelled: @escaping () -> Bool) -> String? {
        let known = entries.withLock { $0.first { $0.node.isIdentical(to: node) } }
        guard var entry = known ?? makeEntry(node, isCancelled) else { return nil }
        defer { keep(entry) }
        guard let asked, asked != entry.hash else { return entry.hash }
        if entry.others.contains(asked) { return asked }
        for form in entry.forms.dropFirst(entry.others.count) {
            count.add(1, ordering: .relaxed)
            guard let other = node.hash(form, isCancelled: isCancelled) else { return nil }
            entry.others.append(other)
            if other == asked { return asked }
        }
        return entry.hash
    }

    private func makeEntry(_ node: Node, _ isCancelled: @escaping () -> Bool) -> Entry? {
        count.add(1, ordering: .relaxed)
        return node.hashWithForms(isCancelled: isCancelled)
            .map { Entry(node: node, hash: $0.hash, forms: $0.forms) }
    }

    private func keep(_ entry: Entry) {
        entries.withLock { entries in
            entries.removeAll { $0.node.isIdentical(to: entry.node) }
            entries.append(entry)
            if entries.count > HashMemo.entryCount { entries.removeFirst() }
        }
    }
}
