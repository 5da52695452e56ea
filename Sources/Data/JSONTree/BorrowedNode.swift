/// A node borrowed for reading: copying it counts no references.
///
/// Valid only while the node that it was borrowed from is alive: the code that makes one ensures
/// this. Its children and texts are valid as long as itself.
///
/// Sendable although blocks are classes: a block is immutable once shared.
@safe
package struct BorrowedNode: @unchecked Sendable {
    @safe
    private enum Storage {
        case absent
        case boolean(Bool)
        case integer(Int64)
        case double(Double)
        /// As `Node.Storage.packed`; the borrowed node keeps the block alive.
        case packed(Unmanaged<Block>, UInt32)
    }

    private typealias Owner = Unmanaged<Block>

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

    /// The value at `pointer` of `block`, following a reference.
    @inline(__always)
    private init(_ block: Owner, _ pointer: BytePointer) {
        switch pointer[0] {
        case TypeByte.reference:
            unsafe storage = .packed(BorrowedNode.reference(block, pointer), 0)
        case TypeByte.shortText, TypeByte.longText, TypeByte.map, TypeByte.branch,
            TypeByte.priority:
            unsafe storage = .packed(block, UInt32(pointer - BorrowedNode.start(of: block)))
        case TypeByte.no: storage = .boolean(false)
        case TypeByte.yes: storage = .boolean(true)
        case TypeByte.integer8: storage = .integer(Int64(Int8(bitPattern: pointer[1])))
        case TypeByte.integer32: storage = .integer(Int64(Int32(bitPattern: pointer.load32(1))))
        case TypeByte.integer64: storage = .integer(Int64(bitPattern: pointer.load64(1)))
        case TypeByte.double: storage = .double(Double(bitPattern: pointer.load64(1)))
        default: preconditionFailure("a block holds only known type bytes")
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

    /// The absent node.
    package static var absent: BorrowedNode { BorrowedNode(Storage.absent) }

    /// Whether it is absent.
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
            let (own, pointer) = unsafe BorrowedNode.body(block, offset)
            switch pointer[0] {
            case TypeByte.map, TypeByte.branch: return .map
            case TypeByte.shortText, TypeByte.longText: return .string(Node.text(pointer) ?? .empty)
            default: return unsafe BorrowedNode(own, pointer).content
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
    package var priority: BorrowedNode {
        guard case .packed(let block, let offset) = storage else { return .absent }
        let pointer = unsafe BorrowedNode.start(of: block) + Int(offset)
        return pointer[0] == TypeByte.priority ? unsafe BorrowedNode(block, pointer + 1) : .absent
    }

    /// The child under the key of these bytes; absent when there is none.
    package func child(_ key: Bytes) -> BorrowedNode {
        guard case .packed(let block, let offset) = storage else { return .absent }
        let (map, body) = unsafe BorrowedNode.body(block, offset)
        if body[0] == TypeByte.map { return unsafe BorrowedNode.child(key, map, body) }
        if body[0] != TypeByte.branch { return .absent }
        return unsafe map._withUnsafeGuaranteedRef {
            $0.withPage(for: key) { page in
                unsafe BorrowedNode.child(key, Unmanaged.passUnretained(page), page.start)
            }
        }
    }

    @inline(__always)
    private static func child(_ key: Bytes, _ block: Owner, _ map: BytePointer) -> BorrowedNode {
        let entries = Entries(map)
        let (index, found) = entries.search(key)
        return found ? unsafe BorrowedNode(block, entries.value(index)) : .absent
    }

    /// Hands the children to `body` in key order until it returns false.
    package func visitChildren(_ body: (Bytes, BorrowedNode) -> Bool) {
        guard case .packed(let block, let offset) = storage else { return }
        let (map, pointer) = unsafe BorrowedNode.body(block, offset)
        _ = unsafe BorrowedNode.visit(map, pointer, body)
    }

    /// The cost of a walk through the subtree: its nodes, itself included, and one more for each 256 bytes of a text;
    /// counted no further than `limit`.
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
        let pointer = unsafe BorrowedNode.body(block, offset).pointer
        return pointer[0] == TypeByte.longText ? Int(pointer.load32(1)) >> 8 : 0
    }

    /// Whether the node has children.
    package var isMap: Bool {
        guard case .packed(let block, let offset) = storage else { return false }
        let type = unsafe BorrowedNode.body(block, offset).pointer[0]
        return type == TypeByte.map || type == TypeByte.branch
    }

    private static func visit(
        _ block: Owner,
        _ pointer: BytePointer,
        _ body: (Bytes, BorrowedNode) -> Bool
    ) -> Bool {
        if pointer[0] != TypeByte.map && pointer[0] != TypeByte.branch { return true }
        let entries = Entries(pointer)
        let isBranch = pointer[0] == TypeByte.branch
        for index in 0..<entries.count {
            if isBranch {
                let page = unsafe BorrowedNode.reference(block, at: index)
                let goesOn = unsafe visit(page, start(of: page), body)
                if !goesOn { return false }
            } else {
                let child = unsafe BorrowedNode(block, entries.value(index))
                if !body(entries.key(index), child) { return false }
            }
        }
        return true
    }

    /// Where the value past its priority is, and in which block.
    @inline(__always)
    private static func body(
        _ block: Owner,
        _ offset: UInt32
    ) -> (block: Owner, pointer: BytePointer) {
        var pointer = unsafe start(of: block) + Int(offset)
        if pointer[0] != TypeByte.priority { return unsafe (block, pointer) }
        pointer = pointer + pointer.prefixSize
        if pointer[0] != TypeByte.reference { return unsafe (block, pointer) }
        let own = unsafe reference(block, pointer)
        return unsafe (own, start(of: own))
    }

    @inline(__always)
    private static func start(of block: Owner) -> BytePointer {
        unsafe block._withUnsafeGuaranteedRef { $0.start }
    }

    /// The block that the reference at `pointer` leads to.
    @inline(__always)
    private static func reference(_ block: Owner, _ pointer: BytePointer) -> Owner {
        unsafe reference(block, at: pointer.load16(1))
    }

    @inline(__always)
    private static func reference(_ block: Owner, at index: Int) -> Owner {
        unsafe block._withUnsafeGuaranteedRef {
            unsafe $0.withReference(index) { unsafe Unmanaged.passUnretained($0) }
        }
    }
}
