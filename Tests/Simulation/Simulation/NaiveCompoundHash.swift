/// The hashes that iOS and Android clients make of the parts of their data.
///
/// As they do it, with their fault if wanted: the priority of a map is only noticed in front of a key
/// that sorts behind `.priority`.
package struct NaiveCompoundHash: Sendable {
    /// The last leaf of each part; `.priority` is the last key of one that is a map's priority.
    package private(set) var ends: [NaivePath] = []
    /// One more than there are ends, the last empty.
    package private(set) var hashes: [String] = []

    private let splitLength: Int
    private let noticesAllPriorities: Bool
    private var path: NaivePath = []
    private var lastLeaf: NaivePath = []
    /// The text of the part under way; nil between two.
    private var text: String?
    private var needsComma = true

    /// Hashes `node` in parts that end with the first leaf, no priority of a map, at which the text
    /// of a part is longer than `splitLength` UTF-16 units.
    package init(of node: NaiveNode, splitLength: Int, noticesAllPriorities: Bool = false) {
        self.splitLength = splitLength
        self.noticesAllPriorities = noticesAllPriorities
        if !node.isAbsent { append(node) }
        endPart()
        hashes.append("")
    }

    /// The same with the length that clients choose.
    package init(of node: NaiveNode) {
        let size = Double(NaiveCompoundHash.estimatedSize(of: node) * 100)
        self.init(of: node, splitLength: max(512, Int(size.squareRoot())))
    }

    /// As requests carry it.
    package var json: JSONText {
        .object([
            ("hs", .array(hashes.map(JSONText.string))),
            ("ps", .array(ends.map { .string($0.isEmpty ? "/" : $0.joined(separator: "/")) })),
        ])
    }

    // MARK: Parts

    private mutating func append(_ node: NaiveNode) {
        if let leaf = node.leaf { return append(leaf, priority: node.priority) }
        var isPriorityDue = node.priority != nil
        for key in node.children.keys.sorted(by: { NaiveOrder.ofKeys($0, $1) < 0 }) {
            if isPriorityDue, NaiveOrder.ofKeys(key, ".priority") > 0 {
                isPriorityDue = false
                append(".priority", NaiveNode(node.priority))
            }
            append(key, node.children[key] ?? .absent)
        }
        if isPriorityDue, noticesAllPriorities { append(".priority", NaiveNode(node.priority)) }
    }

    private mutating func append(_ key: String, _ child: NaiveNode) {
        beginPart()
        if needsComma { text?.append(",") }
        text?.append(Self.quoted(key) + ":(")
        path.append(key)
        needsComma = false
        append(child)
        path.removeLast()
        text?.append(")")
        needsComma = true
    }

    private mutating func append(_ leaf: NaiveNode.Leaf, priority: NaiveNode.Leaf?) {
        beginPart()
        lastLeaf = path
        if let priority { text?.append("priority:" + Self.text(of: priority) + ":") }
        text?.append(Self.text(of: leaf))
        needsComma = true
        if path.last != ".priority", (text ?? "").utf16.count > splitLength { endPart() }
    }

    private mutating func beginPart() {
        if text != nil { return }
        text = "(" + path.map { Self.quoted($0) + ":(" }.joined()
        needsComma = false
    }

    private mutating func endPart() {
        guard let text else { return }
        let closed = text + String(repeating: ")", count: path.count + 1)
        hashes.append(NaiveDigest.sha1Base64(closed))
        ends.append(lastLeaf)
        self.text = nil
    }

    // MARK: Text

    private static func text(of leaf: NaiveNode.Leaf) -> String {
        switch leaf {
        case .boolean(let flag): return flag ? "boolean:true" : "boolean:false"
        case .number(let number):
            let digits = String(number.bitPattern, radix: 16)
            return "number:" + String(repeating: "0", count: 16 - digits.count) + digits
        case .string(let text): return "string:" + quoted(text)
        case .timestamp, .increment: preconditionFailure("data holds no server values")
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }

    private static func estimatedSize(of node: NaiveNode) -> Int {
        if let leaf = node.leaf {
            let size = estimatedSize(of: leaf)
            return node.priority.map { 24 + size + estimatedSize(of: $0) } ?? size
        }
        if node.isAbsent { return 4 }
        let priority = node.priority.map { 13 + estimatedSize(of: $0) } ?? 0
        return node.children.reduce(1 + priority) { size, child in
            size + child.key.utf16.count + 4 + estimatedSize(of: child.value)
        }
    }

    private static func estimatedSize(of leaf: NaiveNode.Leaf) -> Int {
        switch leaf {
        case .boolean: 4
        case .number, .timestamp, .increment: 8
        case .string(let text): 2 + text.utf16.count
        }
    }
}
