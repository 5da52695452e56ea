/// Why bytes are not an encoded node.
package enum NodeDecodingError: Error, Equatable {
    /// Something follows the node.
    case trailingBytes
    /// The bytes end before the node does.
    case unexpectedEnd
    /// The first byte of an item is unknown.
    case unknownItem(UInt8)
    /// A length is above the limit of the item.
    case tooLong(byteCount: Int)
    /// A block refers to more blocks than came before it, or some are left over.
    case badReferences
    /// A block does not hold the well-formed value it must; `offset` from the block's first byte.
    case badBlock(NodeFault, offset: Int)
}

/// A fault of the bytes of one block.
package enum NodeFault: Error, Equatable, Sendable {
    case badTypeByte, badLength, badOffset, badOrder, badKey, badText, badNumber, badReference,
        tooDeep
}

/// The items of an encoded node, for log and checkpoint.
///
///     node  := item* end
///     item  := 10 byteCount:u32 referenceCount:u16 bytes     a block, as it lies in memory; it takes
///                                                            the last referenceCount blocks read
///            | 11                                            end: the one block left is the node
///            | 12 value                                      a boolean or number, the whole node
///            | 13                                            the absent node
///
/// Little-endian. Blocks come after those they refer to. `Encoding.swift` draws a block's bytes.
enum Item {
    static let block: UInt8 = 0x10
    static let end: UInt8 = 0x11
    static let scalar: UInt8 = 0x12
    static let absent: UInt8 = 0x13
    static let blockHeader = 7
}

extension Node {
    /// Appends the node's bytes, exact to the last bit.
    package func appendEncoding(to out: inout [UInt8]) {
        var encoder = NodeEncoder(self)
        _ = encoder.next(into: &out, atLeast: .max)
    }

    /// The bytes that `appendEncoding` appends. O(pages), which are of some 2 KiB.
    package var encodingByteCount: Int {
        switch detached().storage {
        case .absent: 1
        case .packed(let block, _): NodeEncoder.byteCount(below: block) + 1
        case .boolean, .integer, .double:
            1 + Node.withEncoded(self) { bytes, _ in bytes.count }
        }
    }

    /// Reads a node from all of `bytes`, whose maps have keys that `keys` takes.
    ///
    /// - Throws: `NodeDecodingError`; no bytes make it trap or read outside them.
    package init(decoding bytes: Bytes, keys: KeyRule = .legal) throws(NodeDecodingError) {
        var decoder = NodeDecoder(keys: keys)
        try decoder.feed(bytes)
        self = try decoder.finish()
    }
}

/// Writes a node's bytes in pieces: pages as in memory, each after those that it refers to.
///
/// Holds the node: later writes to the tree do not change it. The state is O(depth).
package struct NodeEncoder: Sendable {
    private struct Level: @unchecked Sendable {
        /// Immutable while shared, and the node that is written shares it.
        let block: Block
        var nextReference = 0
    }

    private enum State {
        case notBegun(Node)
        case inBlocks
        case done
    }

    private var state: State
    private var levels: [Level] = []

    /// Makes an encoder of `node`.
    package init(_ node: Node) { state = .notBegun(node) }

    /// Appends at least `byteCount` bytes, unless they end before; returns whether there are more.
    ///
    /// At most one block more than requested: a page, or one string.
    package mutating func next(into out: inout [UInt8], atLeast byteCount: Int) -> Bool {
        let start = out.count
        if case .notBegun(let node) = state { begin(node, &out) }
        guard case .inBlocks = state else { return false }
        while out.count - start < byteCount {
            guard let level = levels.last else {
                out.append(Item.end)
                state = .done
                return false
            }
            if level.nextReference < level.block.referenceCount {
                levels[levels.count - 1].nextReference += 1
                levels.append(Level(block: level.block.reference(level.nextReference)))
            } else {
                append(level.block, to: &out)
                levels.removeLast()
            }
        }
        return true
    }

    private mutating func begin(_ node: Node, _ out: inout [UInt8]) {
        switch node.detached().storage {
        case .absent:
            out.append(Item.absent)
            state = .done
        case .packed(let block, _):
            levels = [Level(block: block)]
            state = .inBlocks
        case .boolean, .integer, .double:
            out.append(Item.scalar)
            Node.withEncoded(node) { bytes, _ in out.append(contentsOf: bytes) }
            state = .done
        }
    }

    /// The bytes of a block's item and of those it refers to.
    static func byteCount(below block: Block) -> Int {
        var sum = Item.blockHeader + block.byteCount
        for index in 0..<block.referenceCount { sum += byteCount(below: block.reference(index)) }
        return sum
    }

    private func append(_ block: Block, to out: inout [UInt8]) {
        out.append(Item.block)
        out.append(littleEndian: block.byteCount, byteCount: 4)
        out.append(littleEndian: block.referenceCount, byteCount: 2)
        out.append(contentsOf: block.start.bytes(block.byteCount))
    }
}
