/// Reads a node's bytes in pieces of any size, checking everything before it becomes a block.
///
/// A decoder that only checks runs the same checks and keeps an outline of each block, see
/// `Block.outline`, until the block that refers to it is checked: O(depth) memory, however large the node.
package struct NodeDecoder {
    private enum State {
        case reading
        case done(Node)
    }

    private var state = State.reading
    /// Bytes of an item that is not complete yet.
    private var pending: [UInt8] = []
    private var blocks: [Block] = []
    /// For each of `blocks`: levels of maps in it.
    private var depths: [Int] = []
    private let keys: KeyRule
    private let isCheckOnly: Bool

    /// Makes a decoder that has read nothing; one that only checks finishes with the absent node.
    package init(keys: KeyRule = .legal, isCheckOnly: Bool = false) {
        self.keys = keys
        self.isCheckOnly = isCheckOnly
    }

    /// Reads the next bytes.
    ///
    /// - Throws: `NodeDecodingError`, after which the decoder is of no use.
    package mutating func feed(_ bytes: Bytes) throws(NodeDecodingError) {
        if pending.isEmpty {
            let used = try readItems(bytes)
            pending.append(contentsOf: bytes.slice(used..<bytes.count))
            return
        }
        pending.append(contentsOf: bytes)
        // Waits for a long item as a whole, to check it once and not at every piece.
        let input = pending
        let used = try input.withBytes { (all) throws(NodeDecodingError) in
            try readItems(all)
        }
        if used > 0 { pending.removeFirst(used) }
    }

    /// The node, once all bytes are fed.
    ///
    /// - Throws: `NodeDecodingError.unexpectedEnd` when some are missing.
    package mutating func finish() throws(NodeDecodingError) -> Node {
        guard case .done(let node) = state else { throw .unexpectedEnd }
        return node
    }

    /// Reads the complete items at the start of `bytes`; returns how many bytes they take.
    private mutating func readItems(_ bytes: Bytes) throws(NodeDecodingError) -> Int {
        var offset = 0
        while offset < bytes.count {
            guard case .reading = state else { throw .trailingBytes }
            let rest = bytes.slice(offset..<bytes.count)
            let used = try readItem(rest)
            if used == 0 { return offset }
            offset += used
        }
        return offset
    }

    /// Reads one item; 0 when `bytes` end before it does.
    private mutating func readItem(_ bytes: Bytes) throws(NodeDecodingError) -> Int {
        switch bytes[0] {
        case Item.absent:
            if !blocks.isEmpty { throw .badReferences }
            state = .done(.absent)
            return 1
        case Item.scalar:
            if !blocks.isEmpty { throw .badReferences }
            return try readScalar(bytes)
        case Item.end:
            if blocks.count != 1 { throw .badReferences }
            state = .done(isCheckOnly ? .absent : Node(blocks[0]))
            blocks = []
            return 1
        case Item.block: return try readBlock(bytes)
        case let other: throw .unknownItem(other)
        }
    }

    private mutating func readScalar(_ bytes: Bytes) throws(NodeDecodingError) -> Int {
        if bytes.count < 2 { return 0 }
        guard (TypeByte.no...TypeByte.double).contains(bytes[1]) else {
            throw .badBlock(.badTypeByte, offset: 0)
        }
        let size = (bytes.pointer + 1).valueSize
        if bytes.count < 1 + size { return 0 }
        let value = bytes.slice(1..<1 + size)
        var check = BlockCheck(value, references: [])
        try check.runScalar()
        state = .done(isCheckOnly ? .absent : Node(scalar: value.pointer))
        return 1 + size
    }

    private mutating func readBlock(_ bytes: Bytes) throws(NodeDecodingError) -> Int {
        if bytes.count < Item.blockHeader { return 0 }
        let byteCount = Int(bytes.pointer.load32(1))
        let referenceCount = bytes.pointer.load16(5)
        if byteCount > BlockCheck.byteCountLimit { throw .tooLong(byteCount: byteCount) }
        if referenceCount > blocks.count { throw .badReferences }
        let size = Item.blockHeader + byteCount
        if bytes.count < size { return 0 }
        let value = bytes.slice(Item.blockHeader..<size)
        let first = blocks.count - referenceCount
        var check = BlockCheck(value, references: Array(blocks[first...]), keys: keys)
        check.depth = depths[first...].max() ?? 0
        try check.run()
        let references = blocks[first...]
        let block =
            isCheckOnly
            ? Block.outline(of: value.pointer, check, references)
            : Block.copy(of: value, check, references)
        blocks.removeSubrange(first...)
        depths.removeSubrange(first...)
        blocks.append(block)
        depths.append(check.depth)
        return size
    }
}
