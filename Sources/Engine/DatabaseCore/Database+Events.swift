import JSONTree
import Queries
import WireProtocol

extension Database {
    /// Notifies every view at, above and below the changed paths.
    ///
    /// One message per view and commit; views at or above the whole change share one encoding.
    func push(_ changes: [Change], base: Path?, old oldRoot: Node, _ step: inout Step) {
        if changes.isEmpty || watched.isEmpty { return }
        let round = EventRound(changes, base: base, old: oldRoot, new: root)
        var visited: [WatchedNode] = []
        for change in changes {
            watched.visit(around: change.target.path) { node in
                if node.visitedBy == number { return }
                node.visitedBy = number
                visited.append(node)
            }
        }
        if isProfiled { tally = BroadcastTally() }
        defer { tally = nil }
        for node in visited {
            for view in node.views where view.window == nil {
                if view.encoding == .wire {
                    pushDefault(view, round, &step)
                } else {
                    pushServerSentNode(view, round, &step)
                }
            }
            if node.followsChildren { pushChildren(node, round, &step) }
            profileBroadcast(node.path, &step)
        }
    }

    /// What a view shows of the present tree.
    func shown(by view: View) -> Node {
        let node = root.descendant(at: view.node.path)
        return view.window?.result(in: view.children(of: node)) ?? node
    }

    private func pushDefault(_ view: View, _ round: EventRound, _ step: inout Step) {
        // SDKs give tags to queries alone, so nearly always there is one group.
        for (tag, connections) in view.receiversByTag {
            let message = round.message(forDefaultViewAt: view.node.path, tag: tag)
            guard let message else { return }
            emit(.send(message, to: connections), &step)
        }
    }

    /// Brings the indexes and then the filtered views of a node from before the commit to after it.
    private func pushChildren(_ watchedNode: WatchedNode, _ round: EventRound, _ step: inout Step) {
        let old = round.old.descendant(at: watchedNode.path)
        let new = round.new.descendant(at: watchedNode.path)
        if old.isIdentical(to: new) { return }
        let nodeStep = NodeStep(
            old: old,
            new: new,
            keys: round.keysChanged(below: watchedNode.path)
        )
        let views = watchedNode.views.filter { $0.window != nil }
        guard let differences = nodeStep.differences else {
            // The old windows are walked over the old indexes.
            let before = views.map { $0.shownChildren(of: old) }
            follow(nodeStep, watchedNode)
            for (view, before) in zip(views, before) { replace(view, before, nodeStep, &step) }
            return
        }
        follow(nodeStep, watchedNode)
        var texts: MergeTexts?
        var orders: [OrderedDifferences] = []
        for view in views {
            // A view of all children takes their differences in any order.
            let order = view.query.loadsEverything ? .key : view.query.index
            let inOrder: OrderedDifferences
            if let found = orders.first(where: { $0.order == order }) {
                inOrder = found
            } else {
                inOrder = OrderedDifferences(differences, by: order)
                orders.append(inOrder)
            }
            let children = view.children(of: new)
            guard let changes = view.window?.update(inOrder, in: children) else { continue }
            switch view.encoding {
            case .wire: pushWire(view, changes, &texts, &step)
            case .events: pushEvents(view, changes, nodeStep, &step)
            case .serverSent: pushServerSentChildren(view, changes, round, &step)
            }
        }
    }

    /// Brings the indexes of a node to the state after a step, before any view walks them.
    private func follow(_ nodeStep: NodeStep, _ watchedNode: WatchedNode) {
        for index in watchedNode.indexes {
            index.follow(nodeStep)
            countEntries(of: index, nodeStep.new.childCount)
        }
    }

    /// Shows a view a node that has little in common with the one before.
    private func replace(
        _ view: View,
        _ before: ShownChildren?,
        _ nodeStep: NodeStep,
        _ step: inout Step
    ) {
        view.window?.reset(to: view.children(of: nodeStep.new))
        guard let before, let after = view.shownChildren(of: nodeStep.new) else { return }
        switch view.encoding {
        case .wire, .serverSent:
            let shown = after.result
            if shown != before.result { putWhole(shown, of: view, to: view.receiversByTag, &step) }
        case .events:
            pushSweep(view, from: before, to: after, &step)
        }
    }

    /// One message with what a step changed in a filtered view; it differs by tag alone.
    ///
    /// Most often many views of a node show the same change, so the texts made last are kept.
    private func pushWire(
        _ view: View,
        _ changes: [ViewChange],
        _ texts: inout MergeTexts?,
        _ step: inout Step
    ) {
        if changes.isEmpty { return }
        if texts?.are(of: changes) != true { texts = MergeTexts(view.node.path, changes) }
        if !view.plain.isEmpty, let text = texts?.plain {
            emit(.send(.text(text), to: view.plain.all), &step)
        }
        if !view.numbered.isEmpty, let text = texts?.numbered {
            emit(.sendNumbered(text, to: view.numbered.all), &step)
        }
    }
}

/// The texts of some changes of a filtered view's children.
private struct MergeTexts {
    private let changes: [ViewChange]
    private let message: ServerMessage
    private(set) lazy var plain = message.encoded()
    private(set) lazy var numbered = NumberedText(
        text: message.textBeforeTag(),
        ending: ServerMessage.textAfterTag
    )

    init(_ path: Path, _ changes: [ViewChange]) {
        self.changes = changes
        let entries = changes.map { change in
            (target: WriteTarget(path: Path([change.key]), isPriority: false), node: change.new)
        }
        message = ServerMessage.merge(base: path, entries, tag: nil)
    }

    /// Whether these are the texts of `others` too: of the same children, which became the same.
    func are(of others: [ViewChange]) -> Bool {
        changes.count == others.count
            && zip(changes, others).allSatisfy { own, other in
                own.new.isIdentical(to: other.new) && own.key == other.key
            }
    }
}

extension View {
    /// What the view shows of `node`, a state of the watched one that it has followed; nil for a view
    /// of the node itself.
    func shownChildren(of node: Node) -> ShownChildren? {
        window.map { ShownChildren(view: $0, children: children(of: node)) }
    }

    /// The receivers by tag, those without one first, tags in ascending order.
    fileprivate var receiversByTag: [(tag: Int64?, connections: [ConnectionID])] {
        View.byTag(plain.all, numbered.all)
    }

    /// Receivers by tag, those without one first, tags in ascending order.
    static func byTag(
        _ plain: [ConnectionID],
        _ numbered: [NumberedReceiver]
    ) -> [(tag: Int64?, connections: [ConnectionID])] {
        if numbered.isEmpty { return plain.isEmpty ? [] : [(nil, plain)] }
        let tagged = NumberedReceiver.byNumber(numbered).map {
            (tag: Optional($0.number), connections: $0.connections)
        }
        return plain.isEmpty ? tagged : [(nil, plain)] + tagged
    }
}

extension ShownChildren {
    /// What the query leaves of the node.
    var result: Node { view.result(in: children) }
}

/// The changes of one commit, and the message of them for each default view.
final class EventRound {
    let old: Node
    let new: Node
    /// Sorted by target, so that those below a path are together, after one above it.
    let changes: [Change]
    /// nil for a put.
    let base: Path?
    private lazy var shared: OutgoingMessage = makeShared(nil)

    init(_ changes: [Change], base: Path?, old: Node, new: Node) {
        self.changes = changes.count == 1 ? changes : changes.sorted { $0.target < $1.target }
        self.base = base
        self.old = old
        self.new = new
    }

    /// The message for a default view; nil when nothing changed there.
    func message(forDefaultViewAt path: Path, tag: Int64?) -> OutgoingMessage? {
        if path.isPrefix(of: base ?? changes[0].target.path) {
            return tag == nil ? shared : makeShared(tag)
        }
        let first = firstIndex(atOrAfter: path)
        if first < changes.count, path.isPrefix(of: changes[first].target.path) {
            if !isReplacement(changes[first], of: path) {
                let below = changes[first...].prefix { path.isPrefix(of: $0.target.path) }
                return .merge(base: path, EventRound.entries(below, relativeTo: path), tag: tag)
            }
        } else if first == 0 || !isReplacement(changes[first - 1], of: path) {
            return nil
        }
        let now = new.descendant(at: path)
        if old.descendant(at: path) == now { return nil }
        return .put(WriteTarget(path: path, isPriority: false), now, tag: tag)
    }

    /// The keys of the children of `path` at or below which something changed, in key order; nil
    /// when a change at or above `path` may have changed any of them.
    func keysChanged(below path: Path) -> [Key]? {
        let first = firstIndex(atOrAfter: path)
        if first > 0, isReplacement(changes[first - 1], of: path) { return nil }
        var keys: [Key] = []
        for change in changes[first...] {
            let changed = change.target.path
            if !path.isPrefix(of: changed) { break }
            if changed.keyCount == path.keyCount { return nil }
            let key = changed.key(at: path.keyCount)
            if keys.last != key { keys.append(key) }
        }
        return keys
    }

    /// Whether a change carries the whole value at `path`.
    func isReplacement(_ change: Change, of path: Path) -> Bool {
        !change.target.isPriority && change.target.path.isPrefix(of: path)
    }

    private func makeShared(_ tag: Int64?) -> OutgoingMessage {
        guard let base else { return .put(changes[0].target, changes[0].new, tag: tag) }
        return .merge(base: base, EventRound.entries(changes[...], relativeTo: base), tag: tag)
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

    func firstIndex(atOrAfter path: Path) -> Int {
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

    /// The push of some intervals: as text, or from snapshots when one is large or they are many.
    static func rangeMerge(_ path: Path, _ merges: [RangeMerge], tag: Int64?) -> OutgoingMessage {
        if Node.areLarge(merges.lazy.map(\.node)) {
            return .stream(StreamedMessage.rangeMerge(path, merges, tag: tag))
        }
        return .text(ServerMessage.rangeMerge(path, merges, tag: tag).encoded())
    }

    static func merge(base: Path, _ entries: [(target: WriteTarget, node: Node)], tag: Int64?)
        -> OutgoingMessage
    {
        .text(ServerMessage.merge(base: base, entries, tag: tag).encoded())
    }
}
