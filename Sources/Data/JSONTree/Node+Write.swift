extension Node {
    /// Replaces the node at `path`, priority included; absent removes it.
    ///
    /// Removes maps that become empty, up the path. A leaf on the path becomes a map that keeps the
    /// leaf's priority; absent below a leaf or below nothing changes nothing. Edits unshared blocks
    /// in place and copies the O(depth) shared blocks on the path.
    package mutating func set(_ value: Node, at path: Path) {
        set(value, path, 0)
    }

    private mutating func set(_ value: Node, _ path: Path, _ level: Int) {
        if level == path.keyCount {
            self = value
            return
        }
        if hasPriority {
            setBelowPriority(value, path, level)
            return
        }
        if case .packed(var block, let offset) = storage {
            let pointer = block.start + Int(offset)
            if pointer[0] == TypeByte.map || pointer[0] == TypeByte.branch {
                if offset != 0 { block = Block.copy(of: pointer) }
                storage = .absent  // Gives up this reference, so that `block` can be the only one.
                Node.write(&block, value, path, level)
                self = block.childCount == 0 ? .absent : Node(block)
                return
            }
        }
        if value.isAbsent { return }
        var child = Node.absent
        child.set(value, path, level + 1)
        var block = Block.emptyMap()
        path.withKey(at: level) { Node.put(child, $0, at: (0, false), &block) }
        self = Node(block)
    }

    private mutating func setBelowPriority(_ value: Node, _ path: Path, _ level: Int) {
        // Copied, since a text inside the block would keep the block shared.
        let priority = priority.detached()
        var body = withoutPriority
        storage = .absent
        body.set(value, path, level)
        self = body.settingPriority(priority)
    }

    /// Writes below the map whose top is `block`, and keeps it one block by changing its height.
    private static func write(_ block: inout Block, _ value: Node, _ path: Path, _ level: Int) {
        if let right = writePage(&block, value, path, level) {
            block = Block.branch([block, right])
        }
        while block.isBranch, block.referenceCount == 1 { block = block.reference(0) }
    }

    /// Writes below a page or branch and returns its right half when it was cut in two.
    private static func writePage(
        _ block: inout Block,
        _ value: Node,
        _ path: Path,
        _ level: Int
    ) -> Block? {
        path.withKey(at: level) { key in
            if block.isBranch { return writeBranch(&block, key, value, path, level) }
            writeEntry(&block, key, value, path, level)
            if block.byteCount <= Size.page && block.referenceCount <= Size.fanOut { return nil }
            let entries = Entries(block.start)
            if entries.count == 1 { return nil }
            return split(&block, isAppended: entries.key(entries.count - 1) == key)
        }
    }

    private static func writeBranch(
        _ block: inout Block,
        _ key: Bytes,
        _ value: Node,
        _ path: Path,
        _ level: Int
    ) -> Block? {
        let index = Entries(block.start).page(for: key)
        if !isKnownUniquelyReferenced(&block) { block = block.copied() }
        let (right, change, fill) = block.editReference(index) { page in
            let before = page.childCount
            let right = writePage(&page, value, path, level)
            let change = page.childCount - before + (right?.childCount ?? 0)
            return (right, change, PageFill(page))
        }
        block.childCount += change
        if let right {
            insertPage(&block, right, at: index + 1)
        } else if fill.isEmpty {
            removePage(&block, at: index)
        } else if change <= 0 && fill.isSmall {
            joinWithNeighbour(&block, index)
        }
        if block.referenceCount <= Size.fanOut { return nil }
        return split(&block, isAppended: index + 2 == block.referenceCount)
    }

    private static func insertPage(_ block: inout Block, _ page: Block, at index: Int) {
        let key = Entries(page.start).key(0)
        let edit = EntryEdit(index: index, replaces: false, value: .empty, key: key)
        let added = EntryReferences(second: page)
        block = block.edited(edit, childCount: block.childCount, index..<index, added)
    }

    private static func removePage(_ block: inout Block, at index: Int) {
        let edit = EntryEdit(index: index, replaces: true, value: nil, key: .empty)
        let dropped = index..<index + 1
        block = block.edited(edit, childCount: block.childCount, dropped, EntryReferences())
    }

    /// Merges the small page at `index` with a neighbour, if both fill three quarters of a page at most.
    ///
    ///     [ k1       | k4 | k7    ]      k4 is deleted, and its page is less than a quarter full
    ///       k1 k2 k3   k5   k7 k8
    ///                  ▼
    ///     [ k1       | k4       ]        it merges with the page behind it, else with the one before it;
    ///       k1 k2 k3   k5 k7 k8          the key between the two leaves the branch
    private static func joinWithNeighbour(_ block: inout Block, _ index: Int) {
        for left in [index, index - 1] where left >= 0 && left + 1 < block.referenceCount {
            let pages = (block.reference(left), block.reference(left + 1))
            if !PageFill.fits(pages.0, pages.1) { continue }
            let separator = Entries(block.start).key(left + 1)
            let joined = Block.joined(pages.0, pages.1, separator: separator)
            removePage(&block, at: left + 1)
            block.editReference(left) { $0 = joined }
            return
        }
    }

    private static func writeEntry(
        _ block: inout Block,
        _ key: Bytes,
        _ value: Node,
        _ path: Path,
        _ level: Int
    ) {
        let (index, found) = Entries(block.start).search(key)
        if level + 1 == path.keyCount {
            put(value, key, at: (index, found), &block)
            return
        }
        if found, let slot = mapReference(block, index) {
            if !isKnownUniquelyReferenced(&block) { block = block.copied() }
            block.editReference(slot) { write(&$0, value, path, level + 1) }
            let map = block.reference(slot)
            // Half the limit, so that a map does not move in and out at every write.
            let isSmall = map.byteCount <= Size.embedded / 2 && map.referenceCount == 0
            if map.childCount > 0 && !isSmall { return }
            let priority = Node(block, Entries(block.start).value(index)).priority
            let child = map.childCount == 0 ? .absent : Node(map).settingPriority(priority)
            put(child, key, at: (index, true), &block)
            return
        }
        var child = found ? Node(block, Entries(block.start).value(index)) : .absent
        child.set(value, path, level + 1)
        put(child, key, at: (index, found), &block)
    }

    /// The slot of the map that entry `index` keeps in a block of its own; nil when it does not.
    private static func mapReference(_ block: Block, _ index: Int) -> Int? {
        let value = Entries(block.start).value(index)
        let body = value + value.prefixSize
        if body[0] != TypeByte.reference { return nil }
        let slot = body.load16(1)
        return block.withReference(slot) { $0.isMap } ? slot : nil
    }

    /// Stores `value` as an entry of the page `block`, always into a fresh block: one short copy.
    static func put(
        _ value: Node,
        _ key: Bytes,
        at slot: (index: Int, found: Bool),
        _ block: inout Block
    ) {
        if value.isAbsent && !slot.found { return }
        let old = block
        let entries = Entries(old.start)
        var first = 0
        var dropped = 0
        if old.referenceCount > 0 {
            first = entries.referencesBefore(slot.index)
            if slot.found { dropped = entries.value(slot.index).referencesUsed }
        }
        let count = entries.count + (slot.found ? 0 : 1) - (value.isAbsent ? 1 : 0)
        let range = first..<first + dropped
        if value.isAbsent {
            let edit = EntryEdit(index: slot.index, replaces: true, value: nil, key: key)
            block = old.edited(edit, childCount: count, range, EntryReferences())
        } else {
            withEncoded(value) { bytes, references in
                let edit = EntryEdit(
                    index: slot.index,
                    replaces: slot.found,
                    value: bytes,
                    key: key
                )
                block = old.edited(edit, childCount: count, range, references)
            }
        }
        block.numberReferences()
    }

    /// Cuts a page or branch in two and returns the right half.
    ///
    /// At its end when the last entry made it too big, so that appended keys leave full pages; else in the middle.
    /// The branch above gets the right half behind the left one and may be cut in turn; above the top a new branch
    /// holds both halves.
    ///
    ///     k4 makes a page too big                k9 makes a page too big, as its last key
    ///
    ///     [ k1             | k7    ]             [ k1       | k5             ]
    ///       k1 k2 k3 k4 k5   k7 k8                 k1 k2 k3   k5 k6 k7 k8 k9
    ///                   ▼                                       ▼
    ///     [ k1       | k4    | k7    ]           [ k1       | k5          | k9 ]
    ///       k1 k2 k3   k4 k5   k7 k8               k1 k2 k3   k5 k6 k7 k8   k9
    private static func split(_ block: inout Block, isAppended: Bool) -> Block {
        let entries = Entries(block.start)
        let count = entries.count
        var cut = count - 1
        if !isAppended {
            cut = block.isBranch ? count / 2 : 1
            while !block.isBranch && cut < count - 1 && entries.offset(cut) < entries.size / 2 {
                cut += 1
            }
        }
        let old = block
        block = part(old, 0..<cut)
        return part(old, cut..<count)
    }

    private static func part(_ block: Block, _ range: Range<Int>) -> Block {
        let entries = Entries(block.start)
        if block.isBranch {
            let piece = entries.slice(range, childCount: 0, referenceCount: range.count)
            piece.height = block.height
            piece.setReferences(from: 0, range, of: block)
            var childCount = 0
            for index in 0..<range.count {
                childCount += piece.withReference(index) { $0.childCount }
            }
            piece.childCount = childCount
            return piece
        }
        if block.referenceCount == 0 {
            return entries.slice(range, childCount: range.count, referenceCount: 0)
        }
        let first = entries.referencesBefore(range.lowerBound)
        let end = entries.referencesBefore(range.upperBound)
        let piece = entries.slice(range, childCount: range.count, referenceCount: end - first)
        piece.setReferences(from: 0, first..<end, of: block)
        piece.numberReferences()
        return piece
    }
}

/// How full a page or branch is after a write.
private struct PageFill {
    let isEmpty: Bool
    /// Under a quarter: worth joining with a neighbour.
    let isSmall: Bool

    init(_ page: Block) {
        isEmpty = page.childCount == 0
        isSmall =
            page.isBranch
            ? page.referenceCount <= Size.fanOut / 4 : page.byteCount <= Size.page / 4
    }

    /// Whether two pages, or two branches, leave a quarter of one free.
    static func fits(_ a: Block, _ b: Block) -> Bool {
        if a.referenceCount + b.referenceCount > Size.fanOut * 3 / 4 { return false }
        return a.isBranch || a.byteCount + b.byteCount <= Size.page * 3 / 4
    }
}
