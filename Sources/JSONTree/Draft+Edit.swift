/// Edits inside a draft, as on-disconnect writes need them: what is stored for a place can be
/// replaced or forgotten in parts before it is ever resolved.
///
/// The edits are those of a `Node` in which a stand-in leaf, or priority, stands for each server
/// value; so a draft changes exactly as the value that it stands for would.
extension Draft {
    /// Writes `part` at `target`, a place counted from this draft's own.
    package mutating func replace(_ target: WriteTarget, with part: Draft) {
        let deepest = max(depth, target.path.keyCount + part.depth)
        var places = serverValues.filter { !target.isAncestorOrEqual(of: $0.target) }
        places += part.serverValues.map { place in
            if target.isPriority { return place.moved(to: target) }
            let path = target.path.appending(place.target.path)
            return place.moved(to: WriteTarget(path: path, isPriority: place.target.isPriority))
        }
        var whole = standingIn
        if target.isPriority {
            whole.setPriority(part.standingIn, at: target.path)
        } else {
            whole.set(part.standingIn, at: target.path)
        }
        self = Draft(standingIn: whole, places, depth: deepest)
    }

    /// The draft's children in key order, each a draft of its own; none for a leaf.
    package func split() -> [(key: Key, draft: Draft)] {
        var places: [Key: [DraftServerValue]] = [:]
        for place in serverValues where !place.target.path.isRoot {
            let below = WriteTarget(
                path: place.target.path.dropFirst(1),
                isPriority: place.target.isPriority
            )
            places[place.target.path.key(at: 0), default: []].append(place.moved(to: below))
        }
        var children: [(key: Key, draft: Draft)] = []
        standingIn.visitChildren { bytes, child in
            let key = Key(bytes)
            children.append((key, Draft(standingIn: child, places[key] ?? [], depth: child.depth)))
            return true
        }
        return children
    }

    /// What stands for a server value. It is looked for only where one was, so it may be any text.
    private static let standIn = Node(string: "\u{0}")

    /// The value with a stand-in for each server value.
    private var standingIn: Node {
        var whole = node
        for place in serverValues where !place.target.isPriority {
            whole.set(Draft.standIn.settingPriority(place.priority), at: place.target.path)
        }
        for entry in priorities { whole.setPriority(entry.priority, at: entry.path) }
        for place in serverValues where place.target.isPriority {
            whole.setPriority(Draft.standIn, at: place.target.path)
        }
        return whole
    }

    /// Takes the stand-ins out again. Of `places`, those whose stand-in was written over are dropped.
    private init(standingIn whole: Node, _ places: [DraftServerValue], depth: Int) {
        self.init(node: whole, depth: depth)
        let priorityPaths = Set(places.lazy.filter(\.target.isPriority).map(\.target.path))
        for place in places {
            let found = whole.descendant(at: place.target.path)
            if place.target.isPriority {
                if found.priority == Draft.standIn { serverValues.append(place) }
            } else if found.settingPriority(.absent) == Draft.standIn {
                let isLiteral = !priorityPaths.contains(place.target.path)
                serverValues.append(
                    DraftServerValue(
                        target: place.target,
                        value: place.value,
                        priority: isLiteral ? found.priority : .absent,
                    )
                )
            }
        }
        for place in serverValues where place.target.isPriority {
            node.setPriority(.absent, at: place.target.path)
        }
        for place in serverValues where !place.target.isPriority {
            node.set(.absent, at: place.target.path)
        }
        priorities = prioritiesOfEmptied(whole, priorityPaths)
    }

    /// The literal priorities of maps in `whole` that hold nothing but server values.
    private func prioritiesOfEmptied(_ whole: Node, _ priorityPaths: Set<Path>) -> [DraftPriority] {
        var found: [DraftPriority] = []
        var seen = priorityPaths
        for place in serverValues where !place.target.isPriority {
            for keyCount in 0..<place.target.path.keyCount {
                let path = place.target.path.prefix(keyCount)
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
