import JSONTree

extension QueryView {
    /// The events for observers of the view's children, from the changes of one step.
    ///
    /// In the order removed, added, moved, changed; each kind in index order. `children` is the state
    /// after the step, in which previous keys are looked up. A child that moved has also changed.
    package func events(of changes: [ViewChange], in children: OrderedChildren) -> [ChildEvent] {
        check(children)
        var removed: [Sortable] = []
        var added: [Sortable] = []
        var moved: [Sortable] = []
        var changed: [Sortable] = []
        for change in changes {
            if change.new.isAbsent {
                removed.append(Sortable(change.key, change.old, nil, children))
                continue
            }
            let previous = previousKey(of: change.key, change.new, in: children)
            let entry = Sortable(change.key, change.new, previous, children)
            if change.old.isAbsent {
                added.append(entry)
            } else {
                changed.append(entry)
                if change.isMoved { moved.append(entry) }
            }
        }
        let kinds: [(ChildEventKind, [Sortable])] = [
            (.removed, removed), (.added, added), (.moved, moved), (.changed, changed),
        ]
        return kinds.flatMap { kind, entries in
            entries.sorted().map {
                ChildEvent(kind: kind, key: $0.key, previousKey: $0.previousKey, node: $0.node)
            }
        }
    }

    /// The key of the child in sight before this one, which is in sight. O(log n).
    private func previousKey(of key: Key, _ child: Node, in children: OrderedChildren) -> Key? {
        var previous: Key?
        key.withBytes { bytes in
            let position = children.position(of: bytes, child)
            visitRange(children, from: position, backwards: true) { other, node in
                if other == bytes { return true }
                if side(other, spec.index.value(of: node)) == .inside { previous = Key(other) }
                return false
            }
        }
        return previous
    }

    private struct Sortable: Comparable {
        let key: Key
        let node: Node
        let previousKey: Key?
        private let value: Node

        init(_ key: Key, _ node: Node, _ previousKey: Key?, _ children: OrderedChildren) {
            self.key = key
            self.node = node
            self.previousKey = previousKey
            value = children.order.value(of: node)
        }

        static func < (a: Sortable, b: Sortable) -> Bool {
            let order = Node.compareValues(a.value, b.value)
            return order != 0 ? order < 0 : a.key < b.key
        }
    }
}
