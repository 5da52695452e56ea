extension Node {
    /// Hands `body` each key under which the children differ, with the old and the new child.
    ///
    /// In key order, until `body` returns false; absent stands for a missing child. Skips shared blocks, so the cost is
    /// that of the writes between the two. A leaf has no children; the nodes' own priorities are not compared.
    package static func visitDifferences(
        _ old: Node,
        _ new: Node,
        _ body: (Bytes, Node, Node) -> Bool
    ) {
        var left = MapCursor(old)
        var right = MapCursor(new)
        while true {
            let order = MapCursor.align(&left, &right)
            guard let order else { return }
            let goesOn: Bool
            if order < 0 {
                goesOn = left.withEntry { body($0, $1, .absent) }
                left.advance()
            } else if order > 0 {
                goesOn = right.withEntry { body($0, .absent, $1) }
                right.advance()
            } else {
                goesOn = left.withEntry { key, a in
                    right.withEntry { _, b in a == b || body(key, a, b) }
                }
                left.advance()
                right.advance()
            }
            if !goesOn { return }
        }
    }
}

/// A walk over the entries of a map that can step over whole blocks.
///
/// Holds the blocks on its path, so that the memory of the current entry stays alive.
private struct MapCursor {
    /// A map or branch, and its next entry.
    private struct Level {
        let block: Block
        let map: BytePointer
        var index: Int
    }

    private var levels: [Level] = []
    /// The block to open next; nil when the cursor is at an entry or at the end.
    private var unopened: Block?

    init(_ node: Node) {
        _ = node.withBody { block, body in
            if body[0] == TypeByte.branch {
                unopened = block
            } else if body[0] == TypeByte.map {
                levels.append(Level(block: block, map: body, index: 0))
            }
        }
    }

    /// Opens and skips blocks until both are at entries or at their ends.
    ///
    /// Returns the order of the two keys, the end after everything; nil when both ended.
    static func align(_ a: inout MapCursor, _ b: inout MapCursor) -> Int? {
        while true {
            if let left = a.unopened, let right = b.unopened {
                if left === right {
                    a.advance()
                    b.advance()
                } else {
                    if left.height >= right.height { a.open() }
                    if left.height <= right.height { b.open() }
                }
            } else if a.unopened != nil {
                if let order = b.order(toUnopenedOf: a) { return order }
                a.open()
            } else if b.unopened != nil {
                if let order = a.order(toUnopenedOf: b) { return -order }
                b.open()
            } else {
                return order(a, b)
            }
        }
    }

    /// 1 when the entry here is known to come before all of `other`'s unopened block.
    private func order(toUnopenedOf other: MapCursor) -> Int? {
        guard let entry = levels.last, let branch = other.levels.last, branch.index > 0 else {
            return nil
        }
        let key = Entries(entry.map).key(entry.index)
        return Key.compare(key, Entries(branch.map).key(branch.index)) < 0 ? 1 : nil
    }

    private static func order(_ a: MapCursor, _ b: MapCursor) -> Int? {
        switch (a.levels.last, b.levels.last) {
        case (nil, nil): nil
        case (_, nil): -1
        case (nil, _): 1
        case (let x?, let y?):
            Key.compare(Entries(x.map).key(x.index), Entries(y.map).key(y.index))
        }
    }

    func withEntry(_ body: (Bytes, Node) -> Bool) -> Bool {
        guard let level = levels.last else { return false }
        let entries = Entries(level.map)
        return withExtendedLifetime(level.block) {
            body(entries.key(level.index), Node(level.block, entries.value(level.index)))
        }
    }

    /// Moves to the next entry or unopened block.
    mutating func advance() {
        unopened = nil
        while let level = levels.last {
            let next = level.index + 1
            if next < Entries(level.map).count {
                levels[levels.count - 1].index = next
                if level.block.isBranch, level.map - level.block.start == 0 {
                    unopened = level.block.reference(next)
                }
                return
            }
            levels.removeLast()
        }
    }

    /// Goes down into the unopened block.
    private mutating func open() {
        guard let block = unopened else { return }
        levels.append(Level(block: block, map: block.start, index: 0))
        unopened = block.isBranch ? block.reference(0) : nil
    }
}
