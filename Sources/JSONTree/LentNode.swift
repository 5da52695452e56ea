/// A node that is looked at without being kept: copying one counts no references.
///
/// Good only as long as the node it was lent from is alive; whoever makes one sees to that, most
/// often by being called with that node. What it lends in turn, children and texts, is good for as
/// long as it is itself.
///
/// Sendable although blocks are classes: a block is immutable once shared.
@safe
package struct LentNode: @unchecked Sendable {
    @safe
    private enum Storage {
        case absent
        case boolean(Bool)
        case integer(Int64)
        case double(Double)
        /// As `Node.Storage.packed`; whoever lent the node holds on to the block.
        case packed(Unmanaged<Block>, UInt32)
    }

    private let storage: Storage

    /// What a node is, its priority aside, and the value of a leaf.
    package enum Content {
        case absent
        case boolean(Bool)
        /// An integer above 2^53 is rounded.
        case number(Double)
        case string(Bytes)
        case map
    }

    @inline(__always)
    private init(_ storage: Storage) { self.storage = storage }

    /// Borrows a node, which must outlive this.
    package init(_ node: Node) {
        switch node.storage {
        case .absent: storage = .absent
        case .boolean(let value): storage = .boolean(value)
        case .integer(let value): storage = .integer(value)
        case .double(let value): storage = .double(value)
        case .packed(let block, let offset):
            unsafe storage = .packed(Unmanaged.passUnretained(block), offset)
        }
    }

    /// The value at `place` of `block`, following a reference.
    @inline(__always)
    private init(_ block: Unmanaged<Block>, _ place: Place) {
        switch place[0] {
        case Tag.reference:
            unsafe storage = .packed(LentNode.reference(block, place), 0)
        case Tag.shortText, Tag.longText, Tag.map, Tag.branch, Tag.priority:
            unsafe storage = .packed(block, UInt32(place - LentNode.start(of: block)))
        case Tag.no: storage = .boolean(false)
        case Tag.yes: storage = .boolean(true)
        case Tag.integer8: storage = .integer(Int64(Int8(bitPattern: place[1])))
        case Tag.integer32: storage = .integer(Int64(Int32(bitPattern: place.load32(1))))
        case Tag.integer64: storage = .integer(Int64(bitPattern: place.load64(1)))
        case Tag.double: storage = .double(Double(bitPattern: place.load64(1)))
        default: preconditionFailure("a block holds only known tags")
        }
    }

    /// The node, kept.
    package var node: Node {
        switch storage {
        case .absent: return .absent
        case .boolean(let value): return Node(.boolean(value))
        case .integer(let value): return Node(.integer(value))
        case .double(let value): return Node(.double(value))
        case .packed(let block, let offset):
            return unsafe Node(.packed(block.takeUnretainedValue(), offset))
        }
    }

    /// The node that is not there.
    package static var absent: LentNode { LentNode(Storage.absent) }

    /// Whether nothing is there.
    package var isAbsent: Bool {
        if case .absent = storage { true } else { false }
    }

    /// What the node is.
    package var content: Content {
        switch storage {
        case .absent: return .absent
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .number(Double(value))
        case .double(let value): return .number(value)
        case .packed(let block, let offset):
            let (own, place) = unsafe LentNode.body(block, offset)
            switch place[0] {
            case Tag.map, Tag.branch: return .map
            case Tag.shortText, Tag.longText: return .string(Node.text(place) ?? .empty)
            default: return unsafe LentNode(own, place).content
            }
        }
    }

    /// What the node is, its priority aside.
    package var kind: Node.Kind {
        switch content {
        case .absent: .absent
        case .boolean: .boolean
        case .number: .number
        case .string: .string
        case .map: .map
        }
    }

    /// The priority; absent when the node has none.
    package var priority: LentNode {
        guard case .packed(let block, let offset) = storage else { return .absent }
        let place = unsafe LentNode.start(of: block) + Int(offset)
        return place[0] == Tag.priority ? unsafe LentNode(block, place + 1) : .absent
    }

    /// The child under the key of these bytes; absent when there is none.
    package func child(_ key: Bytes) -> LentNode {
        guard case .packed(let block, let offset) = storage else { return .absent }
        let (map, body) = unsafe LentNode.body(block, offset)
        if body[0] == Tag.map { return unsafe LentNode.child(key, map, body) }
        if body[0] != Tag.branch { return .absent }
        return unsafe map._withUnsafeGuaranteedRef {
            $0.withPage(for: key) { page in
                unsafe LentNode.child(key, Unmanaged.passUnretained(page), page.start)
            }
        }
    }

    @inline(__always)
    private static func child(
        _ key: Bytes,
        _ block: Unmanaged<Block>,
        _ map: Place
    ) -> LentNode {
        let entries = Entries(map)
        let (index, found) = entries.search(key)
        return found ? unsafe LentNode(block, entries.value(index)) : .absent
    }

    /// Hands the children to `body` in key order until it returns false.
    package func visitChildren(_ body: (Bytes, LentNode) -> Bool) {
        guard case .packed(let block, let offset) = storage else { return }
        let (map, place) = unsafe LentNode.body(block, offset)
        _ = unsafe LentNode.visit(map, place, body)
    }

    /// What it takes to go through the subtree: its nodes, itself included, and one more for each 256 bytes
    /// of a text; counted no further than `limit`.
    package func weight(upTo limit: Int) -> Int {
        if isAbsent || limit <= 0 { return 0 }
        var total = 1 + textWeight
        visitChildren { _, child in
            total += child.isMap ? child.weight(upTo: limit - total) : 1 + child.textWeight
            return total < limit
        }
        return min(total, limit)
    }

    private var textWeight: Int {
        guard case .packed(let block, let offset) = storage else { return 0 }
        let place = unsafe LentNode.body(block, offset).place
        return place[0] == Tag.longText ? Int(place.load32(1)) >> 8 : 0
    }

    /// Whether the node has children.
    package var isMap: Bool {
        guard case .packed(let block, let offset) = storage else { return false }
        let tag = unsafe LentNode.body(block, offset).place[0]
        return tag == Tag.map || tag == Tag.branch
    }

    private static func visit(
        _ block: Unmanaged<Block>,
        _ place: Place,
        _ body: (Bytes, LentNode) -> Bool
    ) -> Bool {
        if place[0] != Tag.map && place[0] != Tag.branch { return true }
        let entries = Entries(place)
        let isBranch = place[0] == Tag.branch
        for index in 0..<entries.count {
            if isBranch {
                let page = unsafe LentNode.reference(block, at: index)
                let goesOn = unsafe visit(page, start(of: page), body)
                if !goesOn { return false }
            } else {
                let child = unsafe LentNode(block, entries.value(index))
                if !body(entries.key(index), child) { return false }
            }
        }
        return true
    }

    /// Where the value past its priority is, and in which block.
    @inline(__always)
    private static func body(
        _ block: Unmanaged<Block>,
        _ offset: UInt32
    ) -> (block: Unmanaged<Block>, place: Place) {
        var place = unsafe start(of: block) + Int(offset)
        if place[0] != Tag.priority { return unsafe (block, place) }
        place = place + place.prefixSize
        if place[0] != Tag.reference { return unsafe (block, place) }
        let own = unsafe reference(block, place)
        return unsafe (own, start(of: own))
    }

    @inline(__always)
    private static func start(of block: Unmanaged<Block>) -> Place {
        unsafe block._withUnsafeGuaranteedRef { $0.start }
    }

    /// The block that the reference at `place` leads to.
    @inline(__always)
    private static func reference(_ block: Unmanaged<Block>, _ place: Place) -> Unmanaged<Block> {
        unsafe reference(block, at: place.load16(1))
    }

    @inline(__always)
    private static func reference(_ block: Unmanaged<Block>, at index: Int) -> Unmanaged<Block> {
        unsafe block._withUnsafeGuaranteedRef {
            unsafe $0.withReference(index) { unsafe Unmanaged.passUnretained($0) }
        }
    }
}
