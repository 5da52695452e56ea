internal import COpenSSL

extension Node {
    /// In which order the children of a node enter its hash.
    package enum HashOrder: Sendable {
        /// By priority, ties by key: the rule.
        case priority
        /// The same, but by key where every child of a node has a priority: iOS clients do so.
        case key
    }

    /// The hash by which clients compare data: base64 of a SHA-1, 28 characters; empty when absent.
    ///
    /// O(size). See the wire protocol, "Node hash".
    package func hash(_ order: HashOrder = .priority) -> String {
        hash(order, stepLimit: .max) ?? ""
    }

    /// The same; nil when more than `stepLimit` nodes would have to be hashed.
    package func hash(_ order: HashOrder = .priority, stepLimit: Int) -> String? {
        var hasher = NodeHasher(order: order, stepsLeft: stepLimit)
        return hasher.hash(self)
    }
}

/// Hashes a node from its leaves up.
///
/// The text to hash is built at the end of one buffer and replaced there by its hash, which is part
/// of the parent's text: no allocation for a node.
private struct NodeHasher {
    let order: Node.HashOrder
    /// Nodes that may still be hashed; below 0 once the limit is passed.
    var stepsLeft: Int
    var text = Scratch()

    init(order: Node.HashOrder, stepsLeft: Int) {
        self.order = order
        self.stepsLeft = stepsLeft
    }

    /// The 28 base64 characters, none for an absent node, nil past the limit.
    mutating func hash(_ node: Node) -> String? {
        appendHash(of: node)
        return stepsLeft < 0 ? nil : text.bytes(0, text.used).string
    }

    private mutating func appendHash(of node: Node) {
        if node.isAbsent { return }
        stepsLeft -= 1
        if stepsLeft < 0 { return }
        let start = text.used
        if node.hasPriority {
            append("priority:")
            append(leaf: node.priority)
            append(0x3A)
        }
        if node.isMap {
            appendChildren(of: node)
        } else {
            append(leaf: node)
        }
        if stepsLeft >= 0 { replaceByDigest(from: start) }
    }

    private mutating func appendChildren(of node: Node) {
        if let children = reordered(node) {
            for (key, child) in children { key.withBytes { append($0, child) } }
            return
        }
        node.visitChildren { key, child in
            append(key, child)
            return stepsLeft >= 0
        }
    }

    private mutating func append(_ key: Bytes, _ child: Node) {
        append(0x3A)
        append(key)
        append(0x3A)
        appendHash(of: child)
    }

    /// The children by priority; nil where that is key order, or key order is asked for.
    private func reordered(_ node: Node) -> [(Key, Node)]? {
        var withPriority = 0
        node.visitChildren { _, child in
            if child.hasPriority { withPriority += 1 }
            return true
        }
        if withPriority == 0 || order == .key && withPriority == node.childCount { return nil }
        if node.childCount > stepsLeft { return nil }
        var children: [(key: Key, priority: Node, child: Node)] = []
        children.reserveCapacity(node.childCount)
        node.visitChildren { key, child in
            children.append((Key(key), child.priority, child))
            return true
        }
        children.sort { a, b in
            let order = Node.comparePriorities(a.priority, b.priority)
            return order == 0 ? a.key < b.key : order < 0
        }
        return children.map { ($0.key, $0.child) }
    }

    /// `number:` and 16 hex digits of the double, `string:` and the raw text, or `boolean:`.
    private mutating func append(leaf: Node) {
        if let flag = leaf.boolean {
            flag ? append("boolean:true") : append("boolean:false")
        } else if let number = leaf.number {
            append("number:")
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: number.bitPattern >> UInt64(shift)) & 15
                append(digit < 10 ? 48 + digit : 87 + digit)
            }
        } else {
            append("string:")
            leaf.withText { append($0) }
        }
    }

    private mutating func append(_ byte: UInt8) {
        text.reserve(to: text.used + 1)
        text.base[text.used] = byte
        text.used += 1
    }

    private mutating func append(_ bytes: Bytes) {
        text.reserve(to: text.used + bytes.count)
        text.append(bytes.place, bytes.count)
    }

    private mutating func append(_ word: StaticString) {
        unsafe append(Bytes(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    /// Puts the base64 of the SHA-1 of what was written since `start` in its place.
    private mutating func replaceByDigest(from start: Int) {
        // Behind the text and behind the characters that are to stand at its start.
        let place = max(text.used, start + NodeHasher.characterCount)
        text.reserve(to: place + NodeHasher.digestByteCount)
        let digest = text.base + place
        unsafe _ = SHA1((text.base + start).pointer, text.used - start, digest.pointer)
        text.used = start
        appendBase64(digest.place.bytes(NodeHasher.digestByteCount))
    }

    private static let digestByteCount = 20
    private static let characterCount = 28

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// The standard alphabet, with padding.
    private mutating func appendBase64(_ bytes: Bytes) {
        let alphabet = NodeHasher.alphabet
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var bits: UInt32 = 0
            for offset in 0..<3 {
                bits = bits << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0)
            }
            for place in 0..<4 {
                let digit = alphabet[Int(bits >> UInt32(18 - 6 * place)) & 63]
                append(place <= count ? digit : 0x3D)
            }
        }
    }
}
