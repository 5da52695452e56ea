/// An immutable subtree: absent, a leaf (boolean, number, string), or a map with at least one child.
///
/// Leaves and maps may carry a priority, a number or a string. Copying a node is O(1); writing to
/// one copies what is shared and edits the rest in place. 16 bytes.
///
/// A node read out of a larger one keeps alive the page it lies in, about 2 KiB; who keeps nodes
/// for long keeps `detached()` ones.
@usableFromInline
package struct Node: Sendable {
    /// Where a node's value is.
    ///
    /// Sendable although blocks are classes: a block is immutable once shared, and counts of
    /// references are atomic.
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

    /// The node that is not there.
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
            start[0] = Tag.shortText
            start[1] = UInt8(text.count)
        } else {
            start[0] = Tag.longText
            start.store32(UInt32(text.count), 1)
        }
        (start + header).copy(from: text.place, count: text.count)
        storage = .packed(block, 0)
    }

    /// The whole value of a block.
    @inline(__always)
    init(_ block: Block) { storage = .packed(block, 0) }

    /// The value at `place` of `block`, following a reference.
    @inline(__always)
    init(_ block: Block, _ place: Place) {
        switch place[0] {
        case Tag.reference: storage = .packed(block.reference(place.load16(1)), 0)
        case Tag.shortText, Tag.longText, Tag.map, Tag.branch, Tag.priority:
            storage = .packed(block, UInt32(place - block.start))
        default: self = Node(scalar: place)
        }
    }

    /// The boolean or number at `place`.
    init(scalar place: Place) {
        switch place[0] {
        case Tag.no: storage = .boolean(false)
        case Tag.yes: storage = .boolean(true)
        case Tag.integer8: storage = .integer(Int64(Int8(bitPattern: place[1])))
        case Tag.integer32: storage = .integer(Int64(Int32(bitPattern: place.load32(1))))
        case Tag.integer64: storage = .integer(Int64(bitPattern: place.load64(1)))
        case Tag.double: storage = .double(Double(bitPattern: place.load64(1)))
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
    package var kind: Kind {
        switch storage {
        case .absent: .absent
        case .boolean: .boolean
        case .integer, .double: .number
        case .packed:
            withBody { _, body in
                switch body[0] {
                case Tag.no, Tag.yes: .boolean
                case Tag.shortText, Tag.longText: .string
                case Tag.map, Tag.branch: .map
                default: .number
                }
            } ?? .absent
        }
    }

    /// Whether nothing is there.
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

    /// Lends the UTF-8 of a string to `body`, for the call alone; nil for other kinds.
    @inlinable
    package func withText<R>(_ body: (Bytes) -> R) -> R? {
        withExtendedLifetime(self) {
            guard let text = lentText else { return nil }
            return body(text)
        }
    }

    /// The UTF-8 of a string, good as long as the node is alive; nil for other kinds.
    @usableFromInline var lentText: Bytes? {
        if case .string(let text) = LentNode(self).content { text } else { nil }
    }

    /// How many children there are; O(1).
    package var childCount: Int {
        guard case .packed(let block, let offset) = storage else { return 0 }
        if offset == 0 { return block.childCount }
        return withBody { block, body in
            body - block.start == 0 ? block.childCount : Block.childCount(ofEmbedded: body)
        } ?? 0
    }

    /// Whether both are the same place in memory or the same boolean or number; O(1).
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

    /// What it takes to go through the subtree: its nodes, itself included, and one more for each 256 bytes
    /// of a text; counted no further than `limit`.
    package func weight(upTo limit: Int) -> Int {
        withExtendedLifetime(self) { LentNode(self).weight(upTo: limit) }
    }

    /// An equal node in memory of its own, which keeps no larger page alive.
    package func detached() -> Node {
        guard case .packed(let block, let offset) = storage, offset != 0 else { return self }
        let place = block.start + Int(offset)
        if place.referencesUsed == 0 { return Node(Block.copy(of: place)) }
        return withoutPriority.detached().settingPriority(priority.detached())
    }

    /// Lends the place of the value past its priority, and the block it is in.
    ///
    /// Nil for an absent node and for booleans and numbers that are in no block.
    @inline(__always)
    func withBody<R>(_ body: (Block, Place) -> R) -> R? {
        guard case .packed(let block, let offset) = storage else { return nil }
        return withExtendedLifetime(block) {
            var place = block.start + Int(offset)
            if place[0] != Tag.priority { return body(block, place) }
            place = place + place.prefixSize
            if place[0] != Tag.reference { return body(block, place) }
            let own = block.reference(place.load16(1))
            return withExtendedLifetime(own) { body(own, own.start) }
        }
    }

    /// The text of a value, or nil when it is none.
    @inline(__always)
    static func text(_ value: Place) -> Bytes? {
        switch value[0] {
        case Tag.shortText: (value + 2).bytes(Int(value[1]))
        case Tag.longText: (value + 5).bytes(Int(value.load32(1)))
        default: nil
        }
    }
}
