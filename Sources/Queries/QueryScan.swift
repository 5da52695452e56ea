import JSONTree

/// The children that a query with a limit selects, found by looking at the whole node once.
struct QueryScan {
    /// Keys of the selected children in index order; at most the query's limit.
    private(set) var keys: [Key] = []

    /// Whether a child within the bounds was left out because of the limit.
    private(set) var leftSomeOut = false

    /// Selects from `node` by a query that has a limit.
    ///
    /// O(limit) for `.key`; otherwise O(children) with at most twice the limit held at a time.
    init(_ spec: QuerySpec, _ node: Node) {
        guard let limit = spec.limit else { preconditionFailure("only a limited query is scanned") }
        if spec.index == .key {
            selectByKey(spec, node, limit)
        } else {
            select(spec, node, limit)
        }
        if spec.side == .last { keys.reverse() }
    }

    /// Children already lie in index order: walk from the kept side until full or out of bounds.
    private mutating func selectByKey(_ spec: QuerySpec, _ node: Node, _ limit: Int) {
        var selected: [Key] = []
        var isFull = false
        var visitedCount = 0
        let first = spec.side == .first ? spec.start : spec.end
        node.visitChildren(from: first?.keyOfText, backwards: spec.side == .last) { key, child in
            visitedCount += 1
            guard spec.contains(key: key, child: child) else {
                // Only the child at an exclusive bound may come before those in range.
                return visitedCount == 1
            }
            guard selected.count < limit else {
                isFull = true
                return false
            }
            selected.append(Key(key))
            return true
        }
        keys = selected
        leftSomeOut = isFull
    }

    fileprivate struct Candidate {
        let key: Key
        let indexValue: Node
    }

    /// Keeps the best `limit` of all children in bounds, best first.
    private mutating func select(_ spec: QuerySpec, _ node: Node, _ limit: Int) {
        let sign = spec.side == .first ? 1 : -1
        func isBetter(_ left: Candidate, _ right: Candidate) -> Bool {
            left.key.withBytes { spec.compare($0, left.indexValue, right) } * sign < 0
        }
        var best: [Candidate] = []
        var worst: Candidate?
        var cutSome = false
        // Room for a batch behind the best, so that sorting is rare; a limit may be near `Int.max`.
        let (capacity, isEndless) = limit.addingReportingOverflow(min(limit, 1 << 16))

        func cut() {
            best.sort(by: isBetter)
            guard best.count > limit else { return }
            best.removeSubrange(limit...)
            worst = best.last
            cutSome = true
        }
        // Walking from the kept side makes the common case, index order near key order, cheap.
        node.visitChildren(backwards: spec.side == .last) { key, child in
            let value = spec.indexValue(of: child)
            guard spec.contains(key: key, indexValue: value) else { return true }
            if let worst, spec.compare(key, value, worst) * sign > 0 { return true }
            best.append(Candidate(key: Key(key), indexValue: value))
            if !isEndless, best.count >= capacity { cut() }
            return true
        }
        cut()
        keys = best.map(\.key)
        leftSomeOut = cutSome
    }
}

extension QuerySpec.Bound {
    /// Where a walk in key order may begin for this bound of a `.key` query; nil for the very end.
    fileprivate var keyOfText: Key? {
        let text: [UInt8]? = value.withText { Array($0) }
        guard let text, case .key(let bytes) = QuerySpec.BoundKey(wireText: text) else {
            return nil
        }
        return Key(unchecked: bytes)
    }
}

extension QuerySpec {
    fileprivate func compare(
        _ key: Bytes,
        _ indexValue: Node,
        _ candidate: QueryScan.Candidate,
    ) -> Int {
        candidate.key.withBytes {
            compare(key, indexValue: indexValue, $0, candidate.indexValue)
        }
    }

    /// Orders two children of one node by their owned keys.
    func compare(_ leftKey: Key, _ left: Node, _ rightKey: Key, _ right: Node) -> Int {
        leftKey.withBytes { leftBytes in
            rightKey.withBytes { rightBytes in
                compare(leftBytes, left, rightBytes, right)
            }
        }
    }
}
