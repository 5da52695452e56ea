package import JSONTree

extension ChildIndex {
    /// Makes the index of a node's children; a leaf has none. O(n log n), pure, on any thread.
    ///
    /// A priority index is sparse while at most `sparseEntryCount` children have a priority.
    package init(
        _ order: QuerySpec.Index,
        of node: Node,
        sparseEntryCount: Int = ChildIndex.sparseEntryCount,
    ) {
        var sorter = ChildSorter()
        var isSparse = order == .priority
        if isSparse {
            node.visitChildren { key, child in
                let value = order.value(of: child)
                if value.isAbsent { return true }
                isSparse = sorter.count < sparseEntryCount
                if isSparse { sorter.add(key, value) }
                return isSparse
            }
        }
        if !isSparse {
            sorter = ChildSorter()
            node.visitChildren { key, child in
                sorter.add(key, order.value(of: child))
                return true
            }
        }
        self.init(
            order,
            entries: sorter.sorted(),
            isSparse: isSparse,
            sparseEntryCount: sparseEntryCount
        )
    }
}

/// Sorts children that come in key order by (index value, key).
///
/// Holds their keys' texts one after the other and a few bytes of each value, so that most comparisons
/// are of two words; 40 to 60 bytes a child beside strings.
private struct ChildSorter {
    /// The index of a child in key order.
    typealias Ordinal = UInt32

    private struct Number {
        let bits: UInt64
        let ordinal: Ordinal
    }

    private struct Text {
        /// The first bytes of the value's text behind its kind, as far as bytes order them.
        let prefix: UInt64
        let ordinal: Ordinal
        let byteCount: UInt32
        let offset: Int
    }

    private var keyTexts: [UInt8] = []
    /// For each child where its key's text ends.
    private var keyEnds: [Int] = []
    private var absent: [Ordinal] = []
    private var no: [Ordinal] = []
    private var yes: [Ordinal] = []
    private var maps: [Ordinal] = []
    private var numbers: [Number] = []
    private var texts: [Text] = []
    private var valueTexts: [UInt8] = []

    var count: Int { keyEnds.count }

    mutating func add(_ key: Bytes, _ value: Node) {
        let ordinal = Ordinal(keyEnds.count)
        SortText.append(key: key, to: &keyTexts)
        keyEnds.append(keyTexts.count)
        switch value.kind {
        case .absent: absent.append(ordinal)
        case .boolean:
            if value.boolean == true { yes.append(ordinal) } else { no.append(ordinal) }
        case .number:
            let bits = SortText.sortableBits(value.number ?? 0)
            numbers.append(Number(bits: bits, ordinal: ordinal))
        case .string:
            let offset = valueTexts.count
            SortText.append(value, to: &valueTexts)
            texts.append(
                Text(
                    prefix: prefix(from: offset + 1),
                    ordinal: ordinal,
                    byteCount: UInt32(valueTexts.count - offset),
                    offset: offset
                )
            )
        case .map: maps.append(ordinal)
        }
    }

    /// Eight bytes whose order as a number is that of the texts they begin, or equal.
    private func prefix(from start: Int) -> UInt64 {
        var prefix: UInt64 = 0
        for index in 0..<8 where start + index < valueTexts.count {
            let byte = valueTexts[start + index]
            prefix |= UInt64(min(byte, 0xEE)) << UInt64(56 - 8 * index)
            // From here on UTF-16 order is not byte order.
            if byte >= 0xEE { break }
        }
        return prefix
    }

    /// The set of the children's texts.
    consuming func sorted() -> Node {
        numbers.sort { a, b in a.bits != b.bits ? a.bits < b.bits : a.ordinal < b.ordinal }
        sortTexts()
        var builder = KeySetBuilder()
        var text: [UInt8] = []
        append(absent, SortText.Kind.absent, &builder, &text)
        append(no, SortText.Kind.no, &builder, &text)
        append(yes, SortText.Kind.yes, &builder, &text)
        for number in numbers {
            text.removeAll(keepingCapacity: true)
            SortText.append(number: number.bits, to: &text)
            appendEntry(number.ordinal, &builder, &text)
        }
        for value in texts {
            text.removeAll(keepingCapacity: true)
            text.append(contentsOf: valueTexts[value.offset..<value.offset + Int(value.byteCount)])
            appendEntry(value.ordinal, &builder, &text)
        }
        append(maps, SortText.Kind.map, &builder, &text)
        return builder.finish()
    }

    private mutating func sortTexts() {
        valueTexts.withBytes { all in
            func bytes(_ text: Text) -> Bytes {
                all.slice(text.offset..<text.offset + Int(text.byteCount))
            }
            texts.sort { a, b in
                if a.prefix != b.prefix { return a.prefix < b.prefix }
                let order = Key.compare(bytes(a), bytes(b))
                return order != 0 ? order < 0 : a.ordinal < b.ordinal
            }
        }
    }

    private func append(
        _ ordinals: [Ordinal],
        _ kind: UInt8,
        _ builder: inout KeySetBuilder,
        _ text: inout [UInt8],
    ) {
        for ordinal in ordinals {
            text.removeAll(keepingCapacity: true)
            text.append(kind)
            appendEntry(ordinal, &builder, &text)
        }
    }

    /// Adds the child's key to the text of its value and the text to the set.
    @inline(__always)
    private func appendEntry(
        _ ordinal: Ordinal,
        _ builder: inout KeySetBuilder,
        _ text: inout [UInt8],
    ) {
        let index = Int(ordinal)
        let start = index == 0 ? 0 : keyEnds[index - 1]
        keyTexts.withBytes { text.append(contentsOf: $0.slice(start..<keyEnds[index])) }
        text.withBytes { builder.append($0) }
    }
}
