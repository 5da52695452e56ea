import EventProtocol
import JSONTree
import Queries

/// The events that lead observers from one state of their view to another, found one by one.
///
/// Removed, added, moved, changed, then value, each kind in index order. Keeps two snapshots and its position in
/// them, however many events there are.
struct EventSweep: Sendable {
    /// What one step finds.
    enum Step {
        case event(ObserverEvent)
        /// Nothing so far: there is more to look at.
        case goesOn
        case end
    }

    /// Children looked at in one step.
    private static let stepLength = 1_000

    private let events: EventSet
    private let spec: QuerySpec
    /// The state that observers know; nil for none yet.
    private let before: ShownChildren?
    private let after: ShownChildren
    /// The children in sight by key, before and after.
    private let oldResult: Node
    private let newResult: Node
    /// The passes still to come; the first is the current one.
    private var passes: ArraySlice<Pass>
    /// The position of the current pass; nil before it has begun.
    private var walk: ViewWalk?

    private enum Pass {
        case children(ChildEventKind)
        case value
    }

    init(_ events: EventSet, from before: ShownChildren?, to after: ShownChildren) {
        self.events = events
        self.before = before
        self.after = after
        spec = after.view.spec
        let isFirst = before == nil
        let passes = ChildEventKind.allCases.filter { events.contains($0) }
            .filter { $0 == .added || !isFirst }
            .map { Pass.children($0) }
        self.passes = (passes + (events.contains(.value) ? [.value] : []))[...]
        oldResult = passes.isEmpty ? .absent : before?.result ?? .absent
        newResult = passes.isEmpty || isFirst ? .absent : after.result
    }

    /// The most children that are looked at, in all.
    var childLimit: Int { (before?.childLimit ?? 0) + after.childLimit }

    mutating func next() -> Step {
        guard let pass = passes.first else { return .end }
        switch pass {
        case .value:
            passes.removeFirst()
            let value = after.result
            if let before, before.result == value { return .end }
            return .event(.value(value))
        case .children(let kind):
            return next(kind)
        }
    }

    private mutating func next(_ kind: ChildEventKind) -> Step {
        var walk = self.walk ?? begin(kind)
        defer { self.walk = walk }
        for _ in 0..<Self.stepLength {
            guard let (key, previousKey, node) = walk?.next() else {
                passes.removeFirst()
                walk = nil
                return .goesOn
            }
            if isEvent(kind, key, node) {
                let event = ChildEvent(kind: kind, key: key, previousKey: previousKey, node: node)
                return .event(ObserverEvent(event))
            }
        }
        return .goesOn
    }

    private func begin(_ kind: ChildEventKind) -> ViewWalk? {
        let shown = kind == .removed ? before : after
        return shown.map { $0.view.walk(in: $0.children) }
    }

    /// Whether the child that a pass has come to is one of its events.
    private func isEvent(_ kind: ChildEventKind, _ key: Key, _ node: Node) -> Bool {
        switch kind {
        case .removed: return newResult.child(key).isAbsent
        case .added: return oldResult.child(key).isAbsent
        case .moved:
            let old = oldResult.child(key)
            return !old.isAbsent && spec.isMoved(from: old, to: node)
        case .changed:
            let old = oldResult.child(key)
            return !old.isAbsent && old != node
        }
    }
}

extension ShownChildren {
    /// At least as many as are in sight.
    var childLimit: Int {
        min(view.spec.limit ?? .max, children.node.isMap ? children.node.childCount : 0)
    }
}

extension EventSet {
    func contains(_ kind: ChildEventKind) -> Bool {
        switch kind {
        case .removed: contains(.childRemoved)
        case .added: contains(.childAdded)
        case .moved: contains(.childMoved)
        case .changed: contains(.childChanged)
        }
    }
}
