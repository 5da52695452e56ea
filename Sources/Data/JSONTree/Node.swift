/// An immutable subtree: absent, a leaf (boolean, number, string), or a map with at least one child.
///
/// Leaves and maps may carry a priority, a number or a string. Copying a node is O(1); a write
/// copies shared blocks and edits the others in place. 16 bytes.
///
/// A node read from a larger one keeps its page alive, about 2 KiB. To keep nodes for long, keep `detached()` ones.
@usableFromInline
package struct Node: Sendable {
    /// Where a node's value is.
    ///
    /// Sendable although blocks are classes: a block is immutable once shared, and counts of references are atomic.
    enum Storage: @unchecked Sendable {
        case absent
        case boolean(Bool)
        /// A whole number.
        case integer(Int64)
        /// Finite; whole numbers of at most 2^53 are `integer`, except -0.
        case double(Double)
        /// The value at an offset of a block: a text, a map, a branch or a value with a priority.
        /// Offset 0 is the block's own value.
        case packed(Block, UInt32)
    }

    var storage: Storage

    @inline(__always)
    init(_ storage: Storage) { self.storage = storage }

    /// The absent node.
    package static var absent: Node { Node(.absent) }

    /// Makes a boolean.
    package init(_ boolean: Bool) { storage = .boolean(boolean) }

    /// Makes a whole number.
    package init(integer: Int64) { storage = .integer(integer) }

    /// Makes a number, which must be finite; whole ones of at most 2^53 are integers, except -0.
    package init(double: Double) {
        precondition(double.isFinite, "a number in the tree is finite")
        storage = .double(double)
        if abs(double) <= Node.largestExact, double == double.rounded(.towardZero),
            double != 0 || double.sign == .plus
        {
            storage = .integer(Int64(double))
        }
    }

    /// Makes a string.
    package init(string: String) {
        self = string.withBytes { Node(text: $0) }
    }

    /// Makes a string of bytes that must be UTF-8, at most `Limits.stringByteCount` of them.
    package init(text: Bytes) {
        let header = text.count < 256 ? 2 : 5
        let block = Block.make(byteCount: header + text.count, childCount: 0)
        let start = block.mutableStart
        if header == 2 {
            start[0] = TypeByte.shortText
            start[1] = UInt8(text.count)
        } else {
            start[0] = TypeByte.longText
            start.store32(UInt32(text.count), 1)
        }
        (start + header).copy(from: text.pointer, count: text.count)
        storage = .packed(block, 0)
    }

    /// The whole value of a block.
    @inline(__always)
    init(_ block: Block) { storage = .packed(block, 0) }

    /// The value at `pointer` of `block`, following a reference.
    @inline(__always)
    init(_ block: Block, _ pointer: BytePointer) {
        switch pointer[0] {
        case TypeByte.reference: storage = .packed(block.reference(pointer.load16(1)), 0)
        case TypeByte.shortText, TypeByte.longText, TypeByte.map, TypeByte.branch,
            TypeByte.priority:
            storage = .packed(block, UInt32(pointer - block.start))
        default: self = Node(scalar: pointer)
        }
    }

    /// The boolean or number at `pointer`.
    init(scalar pointer: BytePointer) {
        switch pointer[0] {
        case TypeByte.no: storage = .boolean(false)
        case TypeByte.yes: storage = .boolean(true)
        case TypeByte.integer8: storage = .integer(Int64(Int8(bitPattern: pointer[1])))
        case TypeByte.integer32: storage = .integer(Int64(Int32(bitPattern: pointer.load32(1))))
        case TypeByte.integer64: storage = .integer(Int64(bitPattern: pointer.load64(1)))
        case TypeByte.double: storage = .double(Double(bitPattern: pointer.load64(1)))
        default: preconditionFailure("a scalar is a boolean or a number")
        }
    }

    /// 2^53: every whole double up to here is exact.
    static let largestExact = 9_007_199_254_740_992.0
}

extension Node {
    /// What a node is, its priority aside.
    package enum Kind: Sendable {
        case absent, boolean, number, string, map
    }

    /// What the node is, its priority aside.
    package var kind: Kind { withExtendedLifetime(self) { BorrowedNode(self).kind } }

    /// Whether it is absent.
    package var isAbsent: Bool {
        if case .absent = storage { true } else { false }
    }

    /// Whether the node has children.
    package var isMap: Bool { childCount > 0 }

    /// Whether the node is a boolean, number or string.
    package var isLeaf: Bool { !isAbsent && !isMap }

    /// The boolean this is; nil for other kinds.
    package var boolean: Bool? {
        if case .boolean(let value) = withoutPriority.storage { value } else { nil }
    }

    /// The number this is, integers above 2^53 rounded; nil for other kinds.
    package var number: Double? {
        switch withoutPriority.storage {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .absent, .boolean, .packed: nil
        }
    }

    /// The whole number this is; nil for fractions, for whole doubles above 2^53 and other kinds.
    package var integer: Int64? {
        if case .integer(let value) = withoutPriority.storage { value } else { nil }
    }

    /// The string this is; nil for other kinds.
    package var string: String? { withText { $0.string } }

    /// Passes the UTF-8 of a string to `body`, valid only during the call; nil for other kinds.
    @inlinable
    package func withText<R>(_ body: (Bytes) -> R) -> R? {
        withExtendedLifetime(self) {
            guard let text = borrowedText else { return nil }
            return body(text)
        }
    }

    /// The UTF-8 of a string, valid while the node is alive; nil for other kinds.
    @usableFromInline var borrowedText: Bytes? {
        if case .string(let text) = BorrowedNode(self).content { text } else { nil }
    }

    /// The number of children; O(1).
    package var childCount: Int {
        guard case .packed(let block, let offset) = storage else { return 0 }
        if offset == 0 { return block.childCount }
        return withBody { block, body in
            body - block.start == 0 ? block.childCount : Block.childCount(ofEmbedded: body)
        } ?? 0
    }

    /// Whether both are the same memory or the same boolean or number; O(1).
    ///
    /// True means equal; equal nodes with different histories may give false.
    package func isIdentical(to other: Node) -> Bool {
        switch (storage, other.storage) {
        case (.absent, .absent): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.packed(let a, let p), .packed(let b, let q)): a === b && p == q
        default: false
        }
    }

    /// The cost of a walk through the subtree: its nodes, itself included, and one more for each 256 bytes of a text;
    /// counted no further than `limit`.
    package func weight(upTo limit: Int) -> Int {
        withExtendedLifetime(self) { BorrowedNode(self).weight(upTo: limit) }
    }

    /// An equal node in memory of its own, which keeps no larger page alive.
    package func detached() -> Node {
        guard case .packed(let block, let offset) = storage, offset != 0 else { return self }
        let pointer = block.start + Int(offset)
        if pointer.referencesUsed == 0 { return Node(Block.copy(of: pointer)) }
        return withoutPriority.detached().settingPriority(priority.detached())
    }

    /// Passes the block and the pointer to the value behind its priority.
    ///
    /// Nil for an absent node and for booleans and numbers that are in no block.
    @inline(__always)
    func withBody<R>(_ body: (Block, BytePointer) -> R) -> R? {
        guard case .packed(let block, let offset) = storage else { return nil }
        return withExtendedLifetime(block) {
            var pointer = block.start + Int(offset)
            if pointer[0] != TypeByte.priority { return body(block, pointer) }
            pointer = pointer + pointer.prefixSize
            if pointer[0] != TypeByte.reference { return body(block, pointer) }
            let own = block.reference(pointer.load16(1))
            return withExtendedLifetime(own) { body(own, own.start) }
        }
    }

    /// The text of a value, or nil when it is none.
    @inline(__always)
    static func text(_ value: BytePointer) -> Bytes? {
        switch value[0] {
        case TypeByte.shortText: (value + 2).bytes(Int(value[1]))
        case TypeByte.longText: (value + 5).bytes(Int(value.load32(1)))
        default: nil
        }
    }
}
