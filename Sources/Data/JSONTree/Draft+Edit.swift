/// Edits inside a draft, for on-disconnect writes: parts of a stored write can be replaced or
/// removed before it is resolved.
///
/// Edits a `Node` in which a placeholder leaf, or priority, stands for each server value. So a
/// draft changes exactly as its value would.
extension Draft {
    /// Writes `part` at `target`, a location relative to the draft's own.
    package mutating func replace(_ target: WriteTarget, with part: Draft) {
        let deepest = max(depth, target.path.keyCount + part.depth)
        var values = serverValues.filter { !target.isAncestorOrEqual(of: $0.target) }
        values += part.serverValues.map { value in
            if target.isPriority { return value.moved(to: target) }
            let path = target.path.appending(value.target.path)
            return value.moved(to: WriteTarget(path: path, isPriority: value.target.isPriority))
        }
        var whole = standingIn
        whole.write(part.standingIn, at: target)
        self = Draft(standingIn: whole, values, depth: deepest)
    }

    /// The draft's children in key order, each a draft of its own; none for a leaf.
    package func split() -> [(key: Key, draft: Draft)] {
        var valuesByKey: [Key: [DraftServerValue]] = [:]
        for value in serverValues where !value.target.path.isRoot {
            let below = WriteTarget(
                path: value.target.path.dropFirst(1),
                isPriority: value.target.isPriority
            )
            valuesByKey[value.target.path.key(at: 0), default: []].append(value.moved(to: below))
        }
        var children: [(key: Key, draft: Draft)] = []
        standingIn.visitChildren { bytes, child in
            let key = Key(bytes)
            let values = valuesByKey[key] ?? []
            children.append((key, Draft(standingIn: child, values, depth: child.depth)))
            return true
        }
        return children
    }

    /// The placeholder of a server value. It is looked for only where one was, so it may be any text.
    private static let standIn = Node(string: "\u{0}")

    /// The value with a placeholder for each server value.
    private var standingIn: Node {
        var whole = node
        for value in serverValues where !value.target.isPriority {
            whole.set(Draft.standIn.settingPriority(value.priority), at: value.target.path)
        }
        for entry in priorities { whole.setPriority(entry.priority, at: entry.path) }
        for value in serverValues where value.target.isPriority {
            whole.setPriority(Draft.standIn, at: value.target.path)
        }
        return whole
    }

    /// Removes the placeholders. Drops those of `values` whose placeholder was overwritten.
    private init(standingIn whole: Node, _ values: [DraftServerValue], depth: Int) {
        self.init(node: whole, depth: depth)
        let priorityPaths = Set(values.lazy.filter(\.target.isPriority).map(\.target.path))
        for value in values {
            let found = whole.descendant(at: value.target.path)
            if value.target.isPriority {
                if found.priority == Draft.standIn { serverValues.append(value) }
            } else if found.settingPriority(.absent) == Draft.standIn {
                let isLiteral = !priorityPaths.contains(value.target.path)
                serverValues.append(
                    DraftServerValue(
                        target: value.target,
                        value: value.value,
                        priority: isLiteral ? found.priority : .absent,
                    )
                )
            }
        }
        for value in serverValues where value.target.isPriority {
            node.setPriority(.absent, at: value.target.path)
        }
        for value in serverValues where !value.target.isPriority {
            node.set(.absent, at: value.target.path)
        }
        priorities = prioritiesOfEmptied(whole, priorityPaths)
    }

    /// The literal priorities of maps in `whole` that hold nothing but server values.
    private func prioritiesOfEmptied(_ whole: Node, _ priorityPaths: Set<Path>) -> [DraftPriority] {
        var found: [DraftPriority] = []
        var seen = priorityPaths
        for value in serverValues where !value.target.isPriority {
            for keyCount in 0..<value.target.path.keyCount {
                let path = value.target.path.prefix(keyCount)
                guard seen.insert(path).inserted, node.descendant(at: path).isAbsent else {
                    continue
                }
                let priority = whole.descendant(at: path).priority
                if !priority.isAbsent {
                    found.append(DraftPriority(path: path, priority: priority))
                }
            }
        }
        return found
    }
}

extension DraftServerValue {
    fileprivate func moved(to target: WriteTarget) -> DraftServerValue {
        DraftServerValue(target: target, value: value, priority: priority)
    }
}
