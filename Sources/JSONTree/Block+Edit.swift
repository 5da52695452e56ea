/// Making a block out of another: a page is never edited, a write builds a fresh one of exact size.
extension Block {
    /// An empty map, on which to build.
    static func emptyMap() -> Block {
        let block = Block.make(byteCount: Size.mapHeader, childCount: 0)
        let start = block.mutableStart
        start[0] = Tag.map
        start.store16(Size.mapHeader, 1)
        start.store16(0, 3)
        return block
    }

    /// A branch over `pages`, which are of one height and in key order.
    static func branch(_ pages: [Block]) -> Block {
        var size = Size.mapHeader
        var childCount = 0
        for page in pages {
            size += 2 + entryHeaderSize(Entries(page.start).key(0).count)
            childCount += page.childCount
        }
        let block = Block.make(
            byteCount: size,
            childCount: childCount,
            referenceCount: pages.count
        )
        let start = block.mutableStart
        start[0] = Tag.branch
        start.store16(size, 1)
        start.store16(pages.count, 3)
        var place = start + Size.mapHeader + 2 * pages.count
        for (index, page) in pages.enumerated() {
            block.setReference(index, page)
            start.store16(place - start, Size.mapHeader + 2 * index)
            place = place.writeKey(Entries(page.start).key(0))
        }
        block.height = (pages.first?.height ?? 0) + 1
        return block
    }

    /// The bytes of a value in a block of their own, for an embedded value without references.
    static func copy(of value: Place) -> Block {
        let size = value.valueSize
        let block = Block.make(byteCount: size, childCount: childCount(ofEmbedded: value))
        block.mutableStart.copy(from: value, count: size)
        return block
    }

    /// Children of a value that is pure bytes.
    static func childCount(ofEmbedded value: Place) -> Int {
        let body = value + value.prefixSize
        return body[0] == Tag.map ? Entries(body).count : 0
    }

    /// Numbers the references of a page in the order of its entries.
    func numberReferences() {
        if referenceCount == 0 { return }
        let entries = Entries(start)
        var next = 0
        for index in 0..<entries.count {
            let value = entries.value(index)
            if value[0] == Tag.priority, value[1] == Tag.reference {
                number(value + 1, &next)
            }
            let body = value + value.prefixSize
            if body[0] == Tag.reference { number(body, &next) }
        }
    }

    private func number(_ reference: Place, _ next: inout Int) {
        mutableStart.store16(next, reference - start + 1)
        next += 1
    }
}

extension Block {
    /// The entries of two neighbours, pages or branches of one height, in one block.
    ///
    /// `separator` is the parent's key for `right`. A branch's own first key may be above keys in
    /// its first page; inside the joined branch that page needs its true lower bound.
    static func joined(_ left: Block, _ right: Block, separator: Bytes) -> Block {
        let (a, b) = (Entries(left.start), Entries(right.start))
        let (aCount, bCount) = (a.count, b.count)
        let oldFirst = b.end(0) - b.offset(0)
        let newFirst = left.isBranch ? entryHeaderSize(separator.count) : oldFirst
        let size = a.size + b.size - Size.mapHeader - oldFirst + newFirst
        let block = Block.make(
            byteCount: size,
            childCount: left.childCount + right.childCount,
            referenceCount: left.referenceCount + right.referenceCount
        )
        block.height = left.height
        block.setReferences(from: 0, 0..<left.referenceCount, of: left)
        block.setReferences(from: left.referenceCount, 0..<right.referenceCount, of: right)
        let to = block.mutableStart
        to[0] = left.start[0]
        to.store16(size, 1)
        to.store16(aCount + bCount, 3)
        for index in 0..<aCount {
            to.store16(a.offset(index) + 2 * bCount, Size.mapHeader + 2 * index)
        }
        let first = a.size + 2 * bCount
        for index in 0..<bCount {
            let moved = first + b.offset(index) - b.firstEntry
            let offset = index == 0 ? first : moved - oldFirst + newFirst
            to.store16(offset, Size.mapHeader + 2 * (aCount + index))
        }
        (to + a.firstEntry + 2 * bCount).copy(
            from: a.start + a.firstEntry,
            count: a.size - a.firstEntry
        )
        if left.isBranch {
            _ = (to + first).writeKey(separator)
        } else {
            (to + first).copy(from: b.start + b.firstEntry, count: oldFirst)
        }
        (to + first + newFirst).copy(
            from: b.start + b.end(0),
            count: b.size - b.end(0)
        )
        if !left.isBranch { block.numberReferences() }
        return block
    }
}

/// What an edit does with one entry of a map or branch.
struct EntryEdit {
    let index: Int
    /// Whether entry `index` is there already and goes, or the new one is put before it.
    let replaces: Bool
    /// The bytes of the new value, empty in a branch; nil removes the entry.
    let value: Bytes?
    let key: Bytes
}

extension Entries {
    /// Lays the edited entries into a block that `make(byteCount)` allocates: one pass, no counts.
    func edited(_ edit: EntryEdit, _ make: (_ byteCount: Int) -> Block) -> Block {
        let oldCount = count
        let oldSize = size
        let cutStart = edit.index < oldCount ? offset(edit.index) : oldSize
        let cutEnd = edit.replaces ? end(edit.index) : cutStart
        let added = edit.value.map { entryHeaderSize(edit.key.count) + $0.count } ?? 0
        let newCount = oldCount + (edit.replaces ? 0 : 1) - (edit.value == nil ? 1 : 0)
        let shift = 2 * (newCount - oldCount)
        let newSize = oldSize + shift + added - (cutEnd - cutStart)
        let block = make(newSize)
        let to = block.mutableStart
        to[0] = start[0]
        to.store16(newSize, 1)
        to.store16(newCount, 3)
        var slot = to + Size.mapHeader
        for index in 0..<edit.index {
            slot.store16(offset(index) + shift, 0)
            slot = slot + 2
        }
        if edit.value != nil {
            slot.store16(cutStart + shift, 0)
            slot = slot + 2
        }
        let tailShift = shift + added - (cutEnd - cutStart)
        var index = edit.index + (edit.replaces ? 1 : 0)
        while index < oldCount {
            slot.store16(offset(index) + tailShift, 0)
            slot = slot + 2
            index += 1
        }
        slot.copy(from: start + firstEntry, count: cutStart - firstEntry)
        slot = slot + (cutStart - firstEntry)
        if let value = edit.value {
            slot = slot.writeKey(edit.key)
            slot.copy(from: value.place, count: value.count)
            slot = slot + value.count
        }
        slot.copy(from: start + cutEnd, count: oldSize - cutEnd)
        return block
    }

    /// A block of the entries `range`, its references still to be filled in.
    func slice(_ range: Range<Int>, childCount: Int, referenceCount: Int) -> Block {
        let from = offset(range.lowerBound)
        let byteCount = end(range.upperBound - 1) - from
        let first = Size.mapHeader + 2 * range.count
        let block = Block.make(
            byteCount: first + byteCount,
            childCount: childCount,
            referenceCount: referenceCount
        )
        let to = block.mutableStart
        to[0] = start[0]
        to.store16(first + byteCount, 1)
        to.store16(range.count, 3)
        for index in range {
            let slot = Size.mapHeader + 2 * (index - range.lowerBound)
            to.store16(offset(index) - from + first, slot)
        }
        (to + first).copy(from: start + from, count: byteCount)
        return block
    }
}
