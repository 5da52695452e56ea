extension Node {
    /// Value order, priorities aside: absent, false, true, numbers, strings, maps.
    ///
    /// Negative, 0 or positive. Numbers compare as doubles, strings by UTF-16 code unit; all maps
    /// are equal. Ties are to be broken by key.
    package static func compareValues(_ a: Node, _ b: Node) -> Int {
        let ranks = (valueRank(a), valueRank(b))
        return ranks.0 != ranks.1 ? ranks.0 - ranks.1 : compareSameKind(a, b)
    }

    /// Priority order: absent, numbers, strings. Negative, 0 or positive.
    package static func comparePriorities(_ a: Node, _ b: Node) -> Int {
        compareValues(a, b)
    }

    private static func valueRank(_ node: Node) -> Int {
        switch node.kind {
        case .absent: 0
        case .boolean: node.boolean == true ? 2 : 1
        case .number: 3
        case .string: 4
        case .map: 5
        }
    }

    private static func compareSameKind(_ a: Node, _ b: Node) -> Int {
        if let x = a.number, let y = b.number { return x == y ? 0 : (x < y ? -1 : 1) }
        return a.withText { first in b.withText { compareText(first, $0) } ?? 0 } ?? 0
    }
}
