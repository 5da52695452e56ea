/// A query worked out by sorting all children and filtering them, every time.
package struct NaiveQuery: Hashable, Sendable {
    package enum Index: Hashable, Sendable {
        case key, value, priority
        case child(NaivePath)
    }

    /// One end of the range; a bound on a `.key` query is its string value alone.
    package struct Bound: Hashable, Sendable {
        package var value: NaiveNode.Leaf?
        package var key: String?
        /// Without a key, an exclusive bound leaves out all children of its value.
        package var isInclusive = true
    }

    package var index: Index
    package var start: Bound?
    package var end: Bound?
    package var limit: Int?
    package var keepsLast = false

    /// The children of `node` that the query selects, without the node's own priority; an order alone selects
    /// nothing, and leaves the node as it is.
    package func result(in node: NaiveNode) -> NaiveNode {
        if loadsEverything { return node }
        var result = NaiveNode.absent
        for key in keys(in: node) { result.children[key] = node.children[key] }
        return result
    }

    /// The keys of the children of `node` that the query selects, in its order.
    package func keys(in node: NaiveNode) -> [String] {
        var keys = node.children.keys.filter { contains($0, node.children[$0] ?? .absent) }
        keys.sort {
            compare($0, node.children[$0] ?? .absent, $1, node.children[$1] ?? .absent) < 0
        }
        if let limit { keys = Array(keepsLast ? keys.suffix(limit) : keys.prefix(limit)) }
        return keys
    }

    private func indexValue(_ child: NaiveNode) -> NaiveNode {
        switch index {
        case .key: .absent
        case .value: child
        case .priority: NaiveNode(child.priority)
        case .child(let path): child[path]
        }
    }

    private func compare(
        _ leftKey: String,
        _ left: NaiveNode,
        _ rightKey: String,
        _ right: NaiveNode
    ) -> Int {
        let order = NaiveOrder.ofValues(indexValue(left), indexValue(right))
        return order != 0 ? order : NaiveOrder.ofKeys(leftKey, rightKey)
    }

    private func contains(_ key: String, _ child: NaiveNode) -> Bool {
        if let start {
            let order = compare(key, child, with: start) ?? (start.isInclusive ? 1 : -1)
            if order < 0 || (order == 0 && !start.isInclusive) { return false }
        }
        if let end {
            let order = compare(key, child, with: end) ?? (end.isInclusive ? -1 : 1)
            if order > 0 || (order == 0 && !end.isInclusive) { return false }
        }
        return true
    }

    /// Nil when the child has the bound's value and the bound names no key.
    private func compare(_ key: String, _ child: NaiveNode, with bound: Bound) -> Int? {
        if index == .key {
            guard case .string(let text) = bound.value else { return 1 }
            return NaiveOrder.ofKeys(key, text)
        }
        let order = NaiveOrder.ofValues(indexValue(child), NaiveNode(bound.value))
        if order != 0 { return order }
        return bound.key.map { NaiveOrder.ofKeys(key, $0) }
    }

    /// The query object as requests carry it.
    package var json: JSONText {
        var members: [(name: String, value: JSONText)] = []
        switch index {
        case .key: members.append(("i", .string(".key")))
        case .value: members.append(("i", .string(".value")))
        case .priority: members.append(("i", .string(".priority")))
        case .child(let path): members.append(("i", .string(path.joined(separator: "/"))))
        }
        for (bound, prefix) in [(start, "s"), (end, "e")] {
            guard let bound else { continue }
            members.append((prefix + "p", bound.value?.json ?? .null))
            if let key = bound.key {
                members.append((prefix + "n", .string(key)))
            } else if !bound.isInclusive, index != .key {
                // Behind all children of the value, or before them: how clients leave them out.
                let key = prefix == "s" ? "[MAX_NAME]" : "[MIN_NAME]"
                members.append((prefix + "n", .string(key)))
            }
            if !bound.isInclusive { members.append((prefix + "in", .boolean(false))) }
        }
        if let limit {
            members.append(("l", .number(Double(limit))))
            members.append(("vf", .string(keepsLast ? "r" : "l")))
        }
        return .object(members)
    }
}

extension NaiveQuery {
    /// Whether all children are selected.
    var loadsEverything: Bool { start == nil && end == nil && limit == nil }

    /// The query as the plain event protocol writes it.
    var eventJSON: JSONText {
        var members: [(name: String, value: JSONText)] = []
        switch index {
        case .key: members.append(("orderByKey", .boolean(true)))
        case .value: members.append(("orderByValue", .boolean(true)))
        case .priority: members.append(("orderByPriority", .boolean(true)))
        case .child(let path):
            members.append(("orderByChild", .string(path.joined(separator: "/"))))
        }
        if let start, start == end, start.isInclusive {
            members.append(("equalTo", start.eventJSON))
        } else {
            if let start {
                members.append((start.isInclusive ? "startAt" : "startAfter", start.eventJSON))
            }
            if let end { members.append((end.isInclusive ? "endAt" : "endBefore", end.eventJSON)) }
        }
        if let limit {
            let name = keepsLast ? "limitToLast" : "limitToFirst"
            members.append((name, .number(Double(limit))))
        }
        return .object(members)
    }
}

extension NaiveQuery.Bound {
    fileprivate var eventJSON: JSONText {
        let value = value?.json ?? .null
        return key.map { .object([("value", value), ("key", .string($0))]) } ?? value
    }
}

/// The orders of values and keys, written down once more from the rules of the wire protocol.
enum NaiveOrder {
    /// Null, false, true, numbers, strings, maps; all maps are equal.
    static func ofValues(_ left: NaiveNode, _ right: NaiveNode) -> Int {
        let ranks = (rank(left), rank(right))
        if ranks.0 != ranks.1 { return ranks.0 - ranks.1 }
        switch (left.leaf, right.leaf) {
        case (.number(let a), .number(let b)): return a < b ? -1 : a > b ? 1 : 0
        case (.string(let a), .string(let b)): return ofTexts(a, b)
        default: return 0
        }
    }

    private static func rank(_ node: NaiveNode) -> Int {
        switch node.leaf {
        case nil: node.children.isEmpty ? 0 : 5
        case .boolean(let flag): flag ? 2 : 1
        case .number, .timestamp, .increment: 3
        case .string: 4
        }
    }

    /// 32-bit integers first, by value, then by length, then as all others are: by UTF-16 code unit.
    static func ofKeys(_ left: String, _ right: String) -> Int {
        switch (Int32(left), Int32(right)) {
        case (let a?, let b?) where a != b: return a < b ? -1 : 1
        case (_?, _?):
            let difference = left.utf8.count - right.utf8.count
            return difference == 0 ? ofTexts(left, right) : difference
        case (_?, nil): return -1
        case (nil, _?): return 1
        case (nil, nil): return ofTexts(left, right)
        }
    }

    private static func ofTexts(_ left: String, _ right: String) -> Int {
        if left == right { return 0 }
        return left.utf16.lexicographicallyPrecedes(right.utf16) ? -1 : 1
    }
}
