import JSONTree
import Queries
import WireProtocol

extension Database {
    /// Tells every view at, above and below the changed places what became of them.
    ///
    /// One message per view and commit; views at or above the whole change share one encoding.
    func push(_ changes: [Change], base: Path?, old oldRoot: Node, _ effects: inout [Effect]) {
        if changes.isEmpty || views.isEmpty { return }
        let round = EventRound(changes, base: base, old: oldRoot, new: root)
        var visited: [View] = []
        for change in changes {
            views.visit(around: change.target.path) { found in
                for view in found where view.visitedBy != number {
                    view.visitedBy = number
                    visited.append(view)
                }
            }
        }
        for view in visited {
            if view.window == nil {
                pushDefault(view, round, &effects)
            } else {
                pushQuery(view, round, &effects)
            }
        }
    }

    private func pushDefault(_ view: View, _ round: EventRound, _ effects: inout [Effect]) {
        if view.listens.isEmpty { return }
        guard let message = round.message(forDefaultViewAt: view.path) else { return }
        emit(.send(message, to: view.receivers), &effects)
    }

    private func pushQuery(_ view: View, _ round: EventRound, _ effects: inout [Effect]) {
        let old = round.old.descendant(at: view.path)
        let new = round.new.descendant(at: view.path)
        if old.isIdentical(to: new) { return }
        guard let change = view.window?.update(old: old, new: new) else { return }
        for (tag, receivers) in view.receiversByTag() {
            let message: OutgoingMessage
            switch change {
            case .unchanged: return
            case .replaced(let node):
                message = .put(WriteTarget(path: view.path, isPriority: false), node, tag: tag)
            case .children(let children):
                let entries = children.map { child in
                    let path = Path([child.key])
                    return (WriteTarget(path: path, isPriority: false), child.node)
                }
                message = .merge(base: view.path, entries, tag: tag)
            }
            emit(.send(message, to: receivers), &effects)
        }
    }
}

/// The changes of one commit, ready to be asked what each default view must be told.
final class EventRound {
    let old: Node
    let new: Node
    /// Sorted by target, so that those below a path stand together, after one above it.
    private let changes: [Change]
    /// nil for a put.
    private let base: Path?
    private lazy var shared: OutgoingMessage = makeShared()

    init(_ changes: [Change], base: Path?, old: Node, new: Node) {
        self.changes = changes.count == 1 ? changes : changes.sorted { $0.target < $1.target }
        self.base = base
        self.old = old
        self.new = new
    }

    /// The message for a default view; nil when nothing changed there.
    func message(forDefaultViewAt path: Path) -> OutgoingMessage? {
        if path.isPrefix(of: base ?? changes[0].target.path) { return shared }
        let first = firstIndex(atOrAfter: path)
        if first < changes.count, path.isPrefix(of: changes[first].target.path) {
            if !isReplacement(changes[first], of: path) { return merge(at: path, from: first) }
        } else if first == 0 || !isReplacement(changes[first - 1], of: path) {
            return nil
        }
        let now = new.descendant(at: path)
        if old.descendant(at: path) == now { return nil }
        return .put(WriteTarget(path: path, isPriority: false), now, tag: nil)
    }

    /// Whether a change carries the whole value at `path`.
    private func isReplacement(_ change: Change, of path: Path) -> Bool {
        !change.target.isPriority && change.target.path.isPrefix(of: path)
    }

    /// The changes at and below `path` as one message.
    private func merge(at path: Path, from first: Int) -> OutgoingMessage {
        let below = changes[first...].prefix { path.isPrefix(of: $0.target.path) }
        return .merge(base: path, EventRound.entries(below, relativeTo: path), tag: nil)
    }

    private func makeShared() -> OutgoingMessage {
        guard let base else { return .put(changes[0].target, changes[0].new, tag: nil) }
        return .merge(base: base, EventRound.entries(changes[...], relativeTo: base), tag: nil)
    }

    private static func entries(
        _ changes: ArraySlice<Change>,
        relativeTo base: Path
    ) -> [(target: WriteTarget, node: Node)] {
        changes.inOrderOfApplication.map { change in
            let path = change.target.path.dropFirst(base.keyCount)
            return (WriteTarget(path: path, isPriority: change.target.isPriority), change.new)
        }
    }

    private func firstIndex(atOrAfter path: Path) -> Int {
        var low = 0
        var high = changes.count
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].target.path < path { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension OutgoingMessage {
    /// The push of one value: as text, or from its snapshot when it is large.
    static func put(_ target: WriteTarget, _ node: Node, tag: Int64?) -> OutgoingMessage {
        if node.isLarge(from: Limits.nodesEncodedAtOnce) {
            return .stream(StreamedMessage.put(target, node, tag: tag))
        }
        return .text(ServerMessage.put(target, node, tag: tag).encoded())
    }

    static func merge(base: Path, _ entries: [(target: WriteTarget, node: Node)], tag: Int64?)
        -> OutgoingMessage
    {
        .text(ServerMessage.merge(base: base, entries, tag: tag).encoded())
    }
}
