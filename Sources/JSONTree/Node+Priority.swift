extension Node {
    /// Whether the node is stored with the prefix of a priority.
    @inline(__always)
    var hasPriority: Bool {
        guard case .packed(let block, let offset) = storage else { return false }
        return withExtendedLifetime(block) { block.start[Int(offset)] == Tag.priority }
    }

    /// The priority, a number or a string; absent when the node has none.
    package var priority: Node {
        guard case .packed(let block, let offset) = storage else { return .absent }
        let place = block.start + Int(offset)
        return withExtendedLifetime(block) {
            place[0] == Tag.priority ? Node(block, place + 1) : .absent
        }
    }

    /// The same value without its priority.
    var withoutPriority: Node {
        guard case .packed(let block, let offset) = storage else { return self }
        let place = block.start + Int(offset)
        return withExtendedLifetime(block) {
            place[0] == Tag.priority ? Node(block, place + place.prefixSize) : self
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
            block.mutableStart.copy(from: bytes.place, count: bytes.count)
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
}

extension Block {
    /// Numbers the references of a block that starts with a priority.
    func numberOwnReferences() {
        if referenceCount == 0 { return }
        var next = 0
        for place in [1, start.prefixSize] where start[place] == Tag.reference {
            mutableStart.store16(next, place + 1)
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
                var bytes: [UInt8] = [Tag.priority]
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
                let place = block.start + Int(offset)
                let size = offset == 0 ? block.byteCount : place.valueSize
                if size <= Size.embedded && (offset != 0 || block.referenceCount == 0) {
                    return body(place.bytes(size), nil)
                }
                let own = offset == 0 ? block : Block.copy(of: place)
                return [Tag.reference, 0, 0].withBytes { body($0, own) }
            }
        }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 9) { scratch in
            guard let base = scratch.baseAddress else { preconditionFailure("9 bytes fit") }
            let place = unsafe MutablePlace(base)
            let count = encodeScalar(value, place)
            return body(place.place.bytes(count), nil)
        }
    }

    /// Writes a boolean or number and returns its size, at most 9 bytes.
    @inline(__always)
    static func encodeScalar(_ value: Node, _ place: MutablePlace) -> Int {
        switch value.storage {
        case .boolean(let flag):
            place[0] = flag ? Tag.yes : Tag.no
            return 1
        case .integer(let number): return encodeInteger(number, place)
        case .double(let number):
            place[0] = Tag.double
            place.store64(number.bitPattern, 1)
            return 9
        case .absent, .packed: preconditionFailure("only booleans and numbers are encoded here")
        }
    }

    @inline(__always)
    static func encodeInteger(_ number: Int64, _ place: MutablePlace) -> Int {
        if let small = Int8(exactly: number) {
            place[0] = Tag.integer8
            place[1] = UInt8(bitPattern: small)
            return 2
        }
        if let medium = Int32(exactly: number) {
            place[0] = Tag.integer32
            place.store32(UInt32(bitPattern: medium), 1)
            return 5
        }
        place[0] = Tag.integer64
        place.store64(UInt64(bitPattern: number), 1)
        return 9
    }
}
