/// Making a block out of another: a page is never edited, a write builds a fresh one of exact size.
extension Block {
    /// An empty map, on which to build.
    static func emptyMap() -> Block {
        let block = Block.make(byteCount: Size.mapHeader, childCount: 0)
        block.mutableStart.writeHeader(TypeByte.map, size: Size.mapHeader, count: 0)
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
        let block = Block.make(byteCount: size, childCount: childCount, referenceCount: pages.count)
        let start = block.mutableStart
        start.writeHeader(TypeByte.branch, size: size, count: pages.count)
        var entry = start + Size.mapHeader + 2 * pages.count
        for (index, page) in pages.enumerated() {
            block.setReference(index, page)
            start.store16(entry - start, Size.mapHeader + 2 * index)
            entry = entry.writeKey(Entries(page.start).key(0))
        }
        block.height = (pages.first?.height ?? 0) + 1
        return block
    }

    /// The bytes of a value in a block of their own, for an embedded value without references.
    static func copy(of value: BytePointer) -> Block {
        let size = value.valueSize
        let block = Block.make(byteCount: size, childCount: childCount(ofEmbedded: value))
        block.mutableStart.copy(from: value, count: size)
        return block
    }

    /// Children of a value that is pure bytes.
    static func childCount(ofEmbedded value: BytePointer) -> Int {
        let body = value + value.prefixSize
        return body[0] == TypeByte.map ? Entries(body).count : 0
    }

    /// Numbers the references of a page in the order of its entries.
    func numberReferences() {
        if referenceCount == 0 { return }
        let entries = Entries(start)
        var next = 0
        for index in 0..<entries.count {
            let value = entries.value(index)
            if value[0] == TypeByte.priority, value[1] == TypeByte.reference {
                number(value + 1, &next)
            }
            let body = value + value.prefixSize
            if body[0] == TypeByte.reference { number(body, &next) }
        }
    }

    private func number(_ reference: BytePointer, _ next: inout Int) {
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
        to.writeHeader(left.start[0], size: size, count: aCount + bCount)
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
        (to + first + newFirst).copy(from: b.start + b.end(0), count: b.size - b.end(0))
        if !left.isBranch { block.numberReferences() }
        return block
    }
}

/// What an edit does with one entry of a map or branch.
struct EntryEdit {
    let index: Int
    /// Whether the new entry replaces entry `index`, or is inserted before it.
    let replaces: Bool
    /// The bytes of the new value, empty in a branch; nil removes the entry.
    let value: Bytes?
    let key: Bytes
}

extension Block {
    /// A page or branch after an edit, with `added` in place of the references `dropped`.
    @inline(__always)
    func edited(
        _ edit: EntryEdit,
        childCount: Int,
        _ dropped: Range<Int>,
        _ added: EntryReferences
    ) -> Block {
        Entries(start).edited(edit) { byteCount in
            let kept = referenceCount - dropped.count
            let fresh = Block.make(
                byteCount: byteCount,
                childCount: childCount,
                referenceCount: kept + added.count
            )
            fresh.height = height
            if kept > 0 {
                fresh.setReferences(from: 0, 0..<dropped.lowerBound, of: self)
                let rest = dropped.upperBound..<referenceCount
                fresh.setReferences(from: dropped.lowerBound + added.count, rest, of: self)
            }
            added.fill(fresh, from: dropped.lowerBound)
            return fresh
        }
    }
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
        to.writeHeader(start[0], size: newSize, count: newCount)
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
            slot.copy(from: value.pointer, count: value.count)
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
        to.writeHeader(start[0], size: first + byteCount, count: range.count)
        for index in range {
            let slot = Size.mapHeader + 2 * (index - range.lowerBound)
            to.store16(offset(index) - from + first, slot)
        }
        (to + first).copy(from: start + from, count: byteCount)
        return block
    }
}
