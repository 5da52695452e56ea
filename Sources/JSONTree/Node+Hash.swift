#if canImport(CommonCrypto)
    internal import CommonCrypto
#else
    internal import COpenSSL
#endif

extension Node {
    /// How the text of which a hash is made is written.
    package enum HashForm: Sendable {
        /// Children by priority, ties by key; numbers as their IEEE bits: the rule.
        case standard
        /// The same, but children by key where every one of them has a priority: iOS clients do so.
        case iOS
        /// The same, but some numbers as other bits: see `Double.bitsOfJavaScriptSDK`.
        case javaScript
    }

    /// The hash by which clients compare data: base64 of a SHA-1, 28 characters; empty when absent.
    ///
    /// O(size). See the wire protocol, "Node hash".
    package func hash(_ form: HashForm = .standard) -> String {
        hash(form, stepLimit: .max) ?? ""
    }

    /// The same; nil when more than `stepLimit` nodes would have to be hashed.
    package func hash(_ form: HashForm = .standard, stepLimit: Int) -> String? {
        var hasher = NodeHasher(form: form, stepsLeft: stepLimit)
        return hasher.hash(self)
    }

    /// The hash; `asked` in its place if that is the one that a client computes of this data in one of these forms.
    ///
    /// Nil once `isCancelled`, which is asked every 4,096 nodes. O(size).
    package func hash(
        like asked: String?,
        in forms: [HashForm] = [.iOS, .javaScript],
        isCancelled: (() -> Bool)? = nil
    ) -> String? {
        var hasher = NodeHasher(form: .standard, stepsLeft: .max)
        hasher.isCancelled = isCancelled
        guard let hash = hasher.hash(self) else { return nil }
        guard let asked, asked != hash else { return hash }
        for form in hasher.otherForms where forms.contains(form) {
            var other = NodeHasher(form: form, stepsLeft: .max)
            other.isCancelled = isCancelled
            guard let found = other.hash(self) else { return nil }
            if found == asked { return asked }
        }
        return hash
    }

    /// Whether a client that sent `hash` has this very data.
    ///
    /// An empty hash stands for nothing. The form of the JavaScript SDK does not count: there two numbers may have one
    /// hash, and data that differs must not be taken for the same. O(size).
    package func matches(hash: String) -> Bool {
        if hash.isEmpty || isAbsent { return hash.isEmpty && isAbsent }
        return self.hash(like: hash, in: [.iOS]) == hash
    }
}

/// Hashes a node from its leaves up.
///
/// The text to hash is built at the end of one buffer and replaced there by its hash, which is part
/// of the parent's text: no allocation for a node.
private struct NodeHasher {
    let form: Node.HashForm
    /// Nodes that may still be hashed; below 0 once the limit is passed.
    var stepsLeft: Int
    /// Whether a node was met whose children all have priorities: there iOS clients hash otherwise.
    private var dependsOnOrder = false
    /// Whether a number was met that the JavaScript SDK hashes otherwise.
    private var dependsOnNumbers = false
    /// Asked now and then; a hash that is cancelled has no steps left.
    var isCancelled: (() -> Bool)?
    private var text = Scratch()

    init(form: Node.HashForm, stepsLeft: Int) {
        self.form = form
        self.stepsLeft = stepsLeft
    }

    /// The forms that differ from the standard one for what was hashed.
    var otherForms: [Node.HashForm] {
        (dependsOnOrder ? [.iOS] : []) + (dependsOnNumbers ? [.javaScript] : [])
    }

    /// The 28 base64 characters, none for an absent node, nil past the limit.
    mutating func hash(_ node: Node) -> String? {
        appendHash(of: node)
        return stepsLeft < 0 ? nil : text.bytes(0, text.used).string
    }

    private mutating func appendHash(of node: Node) {
        if node.isAbsent { return }
        stepsLeft -= 1
        if stepsLeft & 0xFFF == 0, stepsLeft > 0, isCancelled?() == true { stepsLeft = -1 }
        if stepsLeft < 0 { return }
        let start = text.used
        if node.hasPriority {
            text.append("priority:")
            append(leaf: node.priority)
            text.append(0x3A)
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
        text.append(0x3A)
        text.append(key)
        text.append(0x3A)
        appendHash(of: child)
    }

    /// The children by priority; nil where that is key order, or key order is asked for.
    private mutating func reordered(_ node: Node) -> [(Key, Node)]? {
        var withPriority = 0
        node.visitChildren { _, child in
            if child.hasPriority { withPriority += 1 }
            return true
        }
        if withPriority == 0 { return nil }
        if withPriority == node.childCount {
            dependsOnOrder = true
            if form == .iOS { return nil }
        }
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
            text.append(flag ? "boolean:true" : "boolean:false")
        } else if let number = leaf.number {
            text.append("number:")
            append(number)
        } else {
            text.append("string:")
            leaf.withText { text.append($0) }
        }
    }

    private mutating func append(_ number: Double) {
        if number.isMisjudgedByLogarithm {
            let foreign = number.bitsOfJavaScriptSDK
            if form == .javaScript { return text.appendHex(foreign) }
            if foreign != number.bitPattern { dependsOnNumbers = true }
        }
        text.appendHex(number.bitPattern)
    }

    /// Puts the base64 of the SHA-1 of what was written since `start` in its place.
    private mutating func replaceByDigest(from start: Int) {
        // Behind the text and behind the characters that are to stand at its start.
        let place = max(text.used, start + NodeHasher.characterCount)
        text.reserve(to: place + NodeHasher.digestByteCount)
        let digest = text.base + place
        let byteCount = text.used - start
        #if canImport(CommonCrypto)
            // Never built or run; texts of 4 GiB and more trap.
            unsafe _ = CC_SHA1((text.base + start).pointer, CC_LONG(byteCount), digest.pointer)
        #else
            unsafe _ = SHA1((text.base + start).pointer, byteCount, digest.pointer)
        #endif
        text.used = start
        text.appendBase64(digest.place.bytes(NodeHasher.digestByteCount))
    }

    private static let digestByteCount = 20
    private static let characterCount = 28
}
