/// Makes a map of keys that come in key order, each with the value true: an ordered set of texts.
///
/// The keys need not be legal; a node with illegal keys is only for this process, since decoders
/// refuse it. Pages are filled in order, so the work is one copy of each key.
package struct KeySetBuilder: ~Copyable {
    /// Longest key: an entry then fits a page, whose lengths are 16-bit, with room for a split.
    package static let keyByteCount = Size.page

    /// The entries of the page being filled, and where in it each begins.
    private var entries: [UInt8] = []
    private var starts: [Int] = []
    private var pages: [Block] = []

    /// Makes an empty builder.
    package init() {
        entries.reserveCapacity(2 * Size.page)
    }

    /// Adds a key that comes after all before it in key order; at most `keyByteCount` bytes.
    package mutating func append(_ key: Bytes) {
        precondition(key.count <= Self.keyByteCount, "a key fits a page")
        let size = entryHeaderSize(key.count) + key.count + 1
        if Size.mapHeader + 2 * (starts.count + 1) + entries.count + size > Size.page { endPage() }
        starts.append(entries.count)
        if key.count < 255 {
            entries.append(UInt8(key.count))
        } else {
            entries.append(255)
            entries.append(littleEndian: key.count, byteCount: 2)
        }
        entries.append(contentsOf: key)
        entries.append(TypeByte.yes)
    }

    /// The map of all keys; absent when there are none.
    package consuming func finish() -> Node {
        endPage()
        while pages.count > 1 { pages = Block.branches(over: pages) }
        return pages.first.map { Node($0) } ?? .absent
    }

    private mutating func endPage() {
        if starts.isEmpty { return }
        let first = Size.mapHeader + 2 * starts.count
        let block = Block.make(byteCount: first + entries.count, childCount: starts.count)
        let to = block.mutableStart
        to.writeHeader(TypeByte.map, size: first + entries.count, count: starts.count)
        for (index, start) in starts.enumerated() {
            to.store16(first + start, Size.mapHeader + 2 * index)
        }
        entries.withBytes { (to + first).copy(from: $0.pointer, count: $0.count) }
        pages.append(block)
        entries.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
    }
}
