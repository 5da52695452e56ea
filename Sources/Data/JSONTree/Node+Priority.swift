extension Node {
    /// Whether the node is stored with the prefix of a priority.
    @inline(__always)
    var hasPriority: Bool {
        guard case .packed(let block, let offset) = storage else { return false }
        return withExtendedLifetime(block) { block.start[Int(offset)] == TypeByte.priority }
    }

    /// The priority, a number or a string; absent when the node has none.
    package var priority: Node {
        guard case .packed(let block, let offset) = storage else { return .absent }
        let pointer = block.start + Int(offset)
        return withExtendedLifetime(block) {
            pointer[0] == TypeByte.priority ? Node(block, pointer + 1) : .absent
        }
    }

    /// The same value without its priority.
    var withoutPriority: Node {
        guard case .packed(let block, let offset) = storage else { return self }
        let pointer = block.start + Int(offset)
        return withExtendedLifetime(block) {
            pointer[0] == TypeByte.priority ? Node(block, pointer + pointer.prefixSize) : self
        }
    }

    /// The same value with another priority: a leaf without one of its own, or absent to clear it.
    ///
    /// An absent node stays absent. O(1), except that values up to a quarter page are copied.
    package func settingPriority(_ priority: Node) -> Node {
        precondition(priority.childCount == 0, "a priority has no children")
        let body = withoutPriority
        let priority = priority.withoutPriority
        if priority.isAbsent || isAbsent { return body }
        return Node.withEncoded(body, priority: priority) { bytes, references in
            let block = Block.make(
                byteCount: bytes.count,
                childCount: body.childCount,
                referenceCount: references.count
            )
            references.fill(block, from: 0)
            block.mutableStart.copy(from: bytes.pointer, count: bytes.count)
            block.numberOwnReferences()
            return Node(block)
        }
    }

    /// Sets or, with absent, clears the priority of the node at `path`; nothing if it is absent.
    package mutating func setPriority(_ priority: Node, at path: Path) {
        if path.isRoot {
            self = settingPriority(priority)
            return
        }
        let node = descendant(at: path)
        if !node.isAbsent { set(node.settingPriority(priority), at: path) }
    }

    /// Replaces what `target` names: a node as `set` does, a priority as `setPriority` does.
    package mutating func write(_ value: Node, at target: WriteTarget) {
        if target.isPriority {
            setPriority(value, at: target.path)
        } else {
            set(value, at: target.path)
        }
    }

    /// What `target` names below this node: a node, or its priority.
    package func node(at target: WriteTarget) -> Node {
        let node = descendant(at: target.path)
        return target.isPriority ? node.priority : node
    }
}

extension Block {
    /// Numbers the references of a block that starts with a priority.
    func numberOwnReferences() {
        if referenceCount == 0 { return }
        var next = 0
        for offset in [1, start.prefixSize] where start[offset] == TypeByte.reference {
            mutableStart.store16(next, offset + 1)
            next += 1
        }
    }
}

/// The at most two blocks that one entry refers to: of its priority, then of its value.
struct EntryReferences {
    var first: Block?
    var second: Block?

    var count: Int { (first == nil ? 0 : 1) + (second == nil ? 0 : 1) }

    /// Fills the empty slots of `block` from `index` on.
    func fill(_ block: Block, from index: Int) {
        if let first { block.setReference(index, first) }
        if let second { block.setReference(first == nil ? index : index + 1, second) }
    }
}

extension Node {
    /// Hands `body` the bytes with which an entry holds `value`, and the blocks they refer to.
    ///
    /// The numbers of the references are left 0.
    static func withEncoded<R>(_ value: Node, _ body: (Bytes, EntryReferences) -> R) -> R {
        if !value.hasPriority {
            return withEncodedPart(value) { body($0, EntryReferences(first: nil, second: $1)) }
        }
        return withEncoded(value.withoutPriority, priority: value.priority, body)
    }

    /// The same for a value with a priority, given apart.
    static func withEncoded<R>(
        _ value: Node,
        priority: Node,
        _ body: (Bytes, EntryReferences) -> R
    ) -> R {
        withEncodedPart(priority) { prefix, first in
            withEncodedPart(value) { part, second in
                var bytes: [UInt8] = [TypeByte.priority]
                bytes.reserveCapacity(1 + prefix.count + part.count)
                bytes.append(contentsOf: prefix)
                bytes.append(contentsOf: part)
                return bytes.withBytes { body($0, EntryReferences(first: first, second: second)) }
            }
        }
    }

    /// The same for a value or priority without a priority of its own.
    private static func withEncodedPart<R>(_ value: Node, _ body: (Bytes, Block?) -> R) -> R {
        if case .packed(let block, let offset) = value.storage {
            return withExtendedLifetime(block) {
                let pointer = block.start + Int(offset)
                let size = offset == 0 ? block.byteCount : pointer.valueSize
                if size <= Size.embedded && (offset != 0 || block.referenceCount == 0) {
                    return body(pointer.bytes(size), nil)
                }
                let own = offset == 0 ? block : Block.copy(of: pointer)
                return [TypeByte.reference, 0, 0].withBytes { body($0, own) }
            }
        }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 9) { scratch in
            guard let base = scratch.baseAddress else { preconditionFailure("9 bytes fit") }
            let pointer = unsafe MutableBytePointer(base)
            let count = encodeScalar(value, pointer)
            return body(pointer.pointer.bytes(count), nil)
        }
    }

    /// Writes a boolean or number and returns its size, at most 9 bytes.
    @inline(__always)
    static func encodeScalar(_ value: Node, _ pointer: MutableBytePointer) -> Int {
        switch value.storage {
        case .boolean(let flag):
            pointer[0] = flag ? TypeByte.yes : TypeByte.no
            return 1
        case .integer(let number): return encodeInteger(number, pointer)
        case .double(let number):
            pointer[0] = TypeByte.double
            pointer.store64(number.bitPattern, 1)
            return 9
        case .absent, .packed: preconditionFailure("only booleans and numbers are encoded here")
        }
    }

    @inline(__always)
    static func encodeInteger(_ number: Int64, _ pointer: MutableBytePointer) -> Int {
        if let small = Int8(exactly: number) {
            pointer[0] = TypeByte.integer8
            pointer[1] = UInt8(bitPattern: small)
            return 2
        }
        if let medium = Int32(exactly: number) {
            pointer[0] = TypeByte.integer32
            pointer.store32(UInt32(bitPattern: medium), 1)
            return 5
        }
        pointer[0] = TypeByte.integer64
        pointer.store64(UInt64(bitPattern: number), 1)
        return 9
    }
}
