#if canImport(CommonCrypto)
    internal import CommonCrypto
#else
    internal import COpenSSL
#endif

extension Node {
    /// The form of the text that is hashed.
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
        var hasher = NodeHasher(form)
        return hasher.hash(self) ?? ""
    }

    /// The hash; `asked` instead if a client computes that one for this data in one of these forms.
    ///
    /// Nil when `isCancelled`, which is called every 4,096 nodes, returns true. O(size).
    package func hash(
        like asked: String?,
        in forms: [HashForm] = [.iOS, .javaScript],
        isCancelled: (() -> Bool)? = nil
    ) -> String? {
        guard let (hash, otherForms) = hashWithForms(isCancelled: isCancelled) else { return nil }
        guard let asked, asked != hash else { return hash }
        for form in otherForms where forms.contains(form) {
            guard let found = self.hash(form, isCancelled: isCancelled) else { return nil }
            if found == asked { return asked }
        }
        return hash
    }

    /// The hash in the standard form, and the other forms in which this node may have another one; nil once cancelled.
    package func hashWithForms(
        isCancelled: (() -> Bool)? = nil
    ) -> (hash: String, forms: [HashForm])? {
        var hasher = NodeHasher(.standard, isCancelled)
        return hasher.hash(self).map { ($0, hasher.otherForms) }
    }

    /// The hash in a form; nil once cancelled.
    package func hash(_ form: HashForm, isCancelled: (() -> Bool)?) -> String? {
        var hasher = NodeHasher(form, isCancelled)
        return hasher.hash(self)
    }

    /// Whether a client that sent `hash` has exactly this data.
    ///
    /// An empty hash matches nothing. The form of the JavaScript SDK does not count: two numbers may share a hash
    /// there, and different data must not match. O(size).
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
    private let form: Node.HashForm
    /// Nodes hashed so far.
    private var nodeCount = 0
    /// Whether a node was found whose children all have priorities: iOS clients hash such nodes differently.
    private var dependsOnOrder = false
    /// Whether a number was met that the JavaScript SDK hashes otherwise.
    private var dependsOnNumbers = false
    private let isCancelled: (() -> Bool)?
    /// Whether it was cancelled.
    private var isOver = false
    private var text = Scratch()

    init(_ form: Node.HashForm, _ isCancelled: (() -> Bool)? = nil) {
        self.form = form
        self.isCancelled = isCancelled
    }

    /// The forms that differ from the standard one for the hashed data.
    var otherForms: [Node.HashForm] {
        (dependsOnOrder ? [.iOS] : []) + (dependsOnNumbers ? [.javaScript] : [])
    }

    /// The 28 base64 characters, none for an absent node, nil once cancelled.
    mutating func hash(_ node: Node) -> String? {
        appendHash(of: node)
        return isOver ? nil : text.bytes(0, text.used).string
    }

    private mutating func appendHash(of node: Node) {
        if node.isAbsent { return }
        nodeCount += 1
        if nodeCount & 0xFFF == 0xFFF, isCancelled?() == true { isOver = true }
        if isOver { return }
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
        if !isOver { replaceByDigest(from: start) }
    }

    private mutating func appendChildren(of node: Node) {
        if let children = reordered(node) {
            for (key, child) in children { key.withBytes { appendChild($0, child) } }
            return
        }
        node.visitChildren { key, child in
            appendChild(key, child)
            return !isOver
        }
    }

    private mutating func appendChild(_ key: Bytes, _ child: Node) {
        text.append(0x3A)
        text.append(key)
        text.append(0x3A)
        appendHash(of: child)
    }

    /// The children by priority; nil where that is key order, or the form wants key order.
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
        var children: [(key: Key, priority: Node, child: Node)] = []
        children.reserveCapacity(node.childCount)
        node.visitChildren { key, child in
            children.append((Key(key), child.priority, child))
            return true
        }
        children.sort { a, b in
            let order = Node.compareValues(a.priority, b.priority)
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
            appendNumber(number)
        } else {
            text.append("string:")
            leaf.withText { text.append($0) }
        }
    }

    private mutating func appendNumber(_ number: Double) {
        if number.isWrongByLogarithm {
            let foreign = number.bitsOfJavaScriptSDK
            if form == .javaScript { return text.appendHex(foreign) }
            if foreign != number.bitPattern { dependsOnNumbers = true }
        }
        text.appendHex(number.bitPattern)
    }

    /// Replaces the text written since `start` by the base64 of its SHA-1.
    private mutating func replaceByDigest(from start: Int) {
        // Behind the text, and behind the room for the characters that replace it.
        let target = max(text.used, start + NodeHasher.characterCount)
        text.reserve(to: target + NodeHasher.digestByteCount)
        let digest = text.base + target
        let byteCount = text.used - start
        #if canImport(CommonCrypto)
            // Never built or run; texts of 4 GiB and more trap.
            unsafe _ = CC_SHA1((text.base + start).address, CC_LONG(byteCount), digest.address)
        #else
            unsafe _ = SHA1((text.base + start).address, byteCount, digest.address)
        #endif
        text.used = start
        text.appendBase64(digest.pointer.bytes(NodeHasher.digestByteCount))
    }

    private static let digestByteCount = 20
    private static let characterCount = 28
}
