import JSONTree
import Simulation
import TestSupport
import Testing

/// A random history of writes, applied to the tree and to its naive twin.
private struct History {
    var random: SeededRandom
    var node = Node.absent
    var twin: NaiveTree?

    private static let tops = ["messages", "7", "-12", "é", "😀", "～"].map { Array($0.utf8) }

    /// By the top level: the keys below it, in the order in which they mostly come, and the next of them.
    private var lists: [(keys: [[UInt8]], next: Int)] = []
    /// Keys of members of what stands in a list.
    private var inner: [[UInt8]] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        let orders = KeyOrder.allCases
        for place in Self.tops.indices {
            // Another half of them for the next seed.
            let order = orders[(Int(seed) * Self.tops.count + place) % orders.count]
            lists.append((order.keys(300, &random).map { Array($0.utf8) }, 0))
        }
        let members = KeyOrder.unicode.keys(8, &random) + KeyOrder.integers.keys(4, &random)
        inner = members.map { Array($0.utf8) }
    }

    mutating func path() -> [[UInt8]] {
        let depth = [1, 2, 2, 2, 2, 2, 3, 3, 3][random.below(9)]
        let top = random.below(Self.tops.count)
        var path = [Self.tops[top]]
        if depth > 1 { path.append(listKey(top)) }
        if depth > 2 { path.append(random.element(inner)) }
        return path
    }

    /// The next key of a list, or any.
    private mutating func listKey(_ top: Int) -> [UInt8] {
        if random.below(2) == 0 { return random.element(lists[top].keys) }
        defer { lists[top].next = (lists[top].next + 1) % lists[top].keys.count }
        return lists[top].keys[lists[top].next]
    }

    mutating func scalar() -> String {
        switch random.below(12) {
        case 0: return "true"
        case 1: return "false"
        case 2: return "\(Int64(truncatingIfNeeded: random.next()))"
        case 3: return "\(random.below(300) - 150)"
        case 4: return "\(random.below(1_000_000))"
        case 5: return "\(Double(random.below(1000)) + 0.5)"
        case 6: return text(upTo: 3_000)
        case 7: return text(upTo: 600)
        default: return text(upTo: 80)
        }
    }

    mutating func text(upTo limit: Int) -> String {
        let count = random.below(limit)
        let characters = Array("abcdefghijklmnopqrstuvwxyz äö😀".unicodeScalars)
        var text = ""
        while text.utf8.count < count { text.unicodeScalars.append(random.element(characters)) }
        return "\"\(text)\""
    }

    mutating func priority() -> String? {
        switch random.below(6) {
        case 0: return nil
        case 1: return text(upTo: 900)
        case 2: return text(upTo: 12)
        default: return "\(random.below(100))"
        }
    }

    mutating func value(level: Int) -> NaiveTree {
        let priority = random.below(5) == 0 ? priority() : nil
        if random.below(3) > 0 { return NaiveTree(value: .leaf(scalar()), priority: priority) }
        var children: [[UInt8]: NaiveTree] = [:]
        let count = 1 + random.below(random.below(9) == 0 ? 40 : 4)
        for _ in 0..<count {
            children[random.element(inner)] =
                level < 2 ? value(level: level + 1) : NaiveTree(value: .leaf(scalar()))
        }
        return NaiveTree(value: .map(children), priority: priority)
    }

    mutating func step() throws {
        let keys = path()
        let path = Path(keys.map { Key(unchecked: $0) })
        switch random.below(10) {
        case 0...2:
            node.set(.absent, at: path)
            NaiveTree.set(&twin, keys[...], nil)
        case 3:
            let priority = priority()
            let leaf = try priority.map { try Node(json: $0) } ?? .absent
            node.setPriority(leaf, at: path)
            NaiveTree.setPriority(&twin, keys[...], priority)
        case 4 where random.below(20) == 0:
            let priority = priority()
            node.setPriority(try priority.map { try Node(json: $0) } ?? .absent, at: .root)
            NaiveTree.setPriority(&twin, [], priority)
        default:
            let new = value(level: 1)
            node.set(try Node(json: new.text), at: path)
            NaiveTree.set(&twin, keys[...], new)
        }
    }
}

@Suite("Random histories")
struct HistoryTests {
    @Test(
        "the tree and nested dictionaries agree after every history",
        arguments: TestSeed.seeds(3)
    )
    func agree(seed: UInt64) throws {
        var history = History(seed: seed)
        var old: [(node: Node, twin: NaiveTree?)] = []
        for step in 1...1_200 {
            try history.step()
            if step.isMultiple(of: 100) {
                old.append((history.node, history.twin))
                try expectSame(history.node, history.twin, "seed \(seed), step \(step)")
            }
        }
        for (index, root) in old.enumerated() {
            try expectSame(root.node, root.twin, "seed \(seed), root \(index)")
            try checkForms(root.node, "seed \(seed), root \(index)")
            if let twin = root.twin { checkReading(root.node, twin, "seed \(seed), root \(index)") }
        }
        let last = history.node
        let isLent = withExtendedLifetime(last) { isSame(BorrowedNode(last), last) }
        #expect(isLent, "seed \(seed)")
        #expect(last.weight(upTo: .max) == weight(last), "seed \(seed)")
        #expect(last.weight(upTo: 3) == 3, "seed \(seed)")
        for (index, (a, b)) in zip(old, old.dropFirst()).enumerated() {
            checkDifferences(a.node, a.twin, b.node, b.twin, "seed \(seed), root \(index)")
        }
    }

    /// Compares as text, and shows where the texts part instead of the whole of both.
    private func expectSame(_ node: Node, _ twin: NaiveTree?, _ context: Comment) throws {
        let (a, b) = (Array(node.text.utf8), Array((twin?.text ?? "null").utf8))
        let isSame = a == b
        let offset = zip(a, b).prefix { $0 == $1 }.count
        let parts = [a, b].map {
            String(decoding: $0.dropFirst(max(0, offset - 60)).prefix(160), as: UTF8.self)
        }
        try #require(isSame, "\(context.rawValue): \(parts[0]) instead of \(parts[1])")
    }

    /// Text, pieces of text, bytes and a rebuilt copy all give the node back.
    private func checkForms(_ node: Node, _ context: Comment) throws {
        let text = node.json(.export)
        let read = try Node(json: text)
        let isEqual = read == node && node == read
        #expect(isEqual, context)
        #expect(read.hash() == node.hash(), context)
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        let decoded = try bytes.withBytes { try Node(decoding: $0) }
        let isDecoded = decoded == node && decoded.json(.export) == text
        #expect(isDecoded, context)
        var stream = JSONStream(node, .export)
        var pieces: [UInt8] = []
        while stream.next(into: &pieces, atLeast: 50) {}
        let isWhole = pieces == text
        #expect(isWhole, context)
    }

    /// Whether a borrowed node, and all below it, reads like the node that it was borrowed from.
    private func isSame(_ lent: BorrowedNode, _ node: Node) -> Bool {
        let isContent =
            switch lent.content {
            case .absent: node.isAbsent
            case .boolean(let value): node.boolean == value
            case .number(let value): node.number == value
            case .string(let text): node.withText { $0 == text } ?? false
            case .map: node.isMap
            }
        let own = node.priority
        let hasPriority = withExtendedLifetime(own) {
            own.isAbsent ? lent.priority.isAbsent : isSame(lent.priority, own)
        }
        if !isContent || !hasPriority || lent.kind != node.kind || lent.isMap != node.isMap {
            return false
        }
        var lentKeys: [[UInt8]] = []
        lent.visitChildren { key, _ in
            lentKeys.append(Array(key))
            return true
        }
        var keys: [[UInt8]] = []
        var areSame = true
        node.visitChildren { key, child in
            keys.append(Array(key))
            areSame = areSame && isSame(lent.child(key), child)
            return true
        }
        return areSame && keys == lentKeys && lent.child(.empty).isAbsent
    }

    private func weight(_ node: Node) -> Int {
        var total = node.isAbsent ? 0 : 1
        let byteCount = node.string?.utf8.count ?? 0
        if byteCount >= 256 { total += byteCount / 256 }
        node.visitChildren { _, child in
            total += weight(child)
            return true
        }
        return total
    }

    /// Counts, order, look-ups and both directions of a visit, for the top two levels.
    private func checkReading(_ node: Node, _ twin: NaiveTree, _ context: Comment, level: Int = 0) {
        let keys = twin.sortedKeys
        #expect(node.childCount == keys.count, context)
        var seen: [[UInt8]] = []
        node.visitChildren { key, _ in
            seen.append(Array(key))
            return true
        }
        #expect(seen == keys, context)
        for index in [0, keys.count / 3, keys.count / 2, keys.count - 1] where index < keys.count {
            #expect(node.key(at: index)?.utf8 == (index < 0 ? nil : keys[index]), context)
        }
        if let middle = keys.dropFirst(keys.count / 2).first {
            var down: [[UInt8]] = []
            node.visitChildren(from: Key(unchecked: middle), backwards: true) { key, _ in
                down.append(Array(key))
                return true
            }
            #expect(down == keys.prefix(keys.count / 2 + 1).reversed(), context)
        }
        checkStart(node, keys, context)
        if level == 2 { return }
        for (key, child) in twin.children {
            let found = node.child(Key(unchecked: key))
            let isSame = found.priority.text == child.priority ?? "null"
            #expect(isSame, context)
            checkReading(found, child, context, level: level + 1)
        }
    }

    /// A visit may start at a key that is not there, from either side.
    private func checkStart(_ node: Node, _ keys: [[UInt8]], _ context: Comment) {
        for absent in ["!", "-1", "00", "150", "-Nx5", "long long z", "é!", "😀0", "\u{10FFFF}"] {
            let start = Array(absent.utf8)
            var up: [[UInt8]] = []
            node.visitChildren(from: Key(unchecked: start)) { key, _ in
                up.append(Array(key))
                return up.count < 3
            }
            var down: [[UInt8]] = []
            node.visitChildren(from: Key(unchecked: start), backwards: true) { key, _ in
                down.append(Array(key))
                return down.count < 3
            }
            let (above, below) = (
                keys.filter { !NaiveTree.isBefore($0, start) },
                keys.filter { !NaiveTree.isBefore(start, $0) }
            )
            #expect(up == Array(above.prefix(3)), context)
            #expect(down == below.suffix(3).reversed(), context)
        }
    }

    private func checkDifferences(
        _ old: Node,
        _ oldTwin: NaiveTree?,
        _ new: Node,
        _ newTwin: NaiveTree?,
        _ context: Comment
    ) {
        var seen: [[UInt8]] = []
        Node.visitDifferences(old, new) { key, a, b in
            seen.append(Array(key))
            let isSame =
                a.text == oldTwin?.children[Array(key)]?.text ?? "null"
                && b.text == newTwin?.children[Array(key)]?.text ?? "null"
            #expect(isSame, context)
            checkInner(a, b, oldTwin?.children[Array(key)], newTwin?.children[Array(key)], context)
            return true
        }
        #expect(seen == differingKeys(oldTwin, newTwin), context)
    }

    private func checkInner(
        _ a: Node,
        _ b: Node,
        _ old: NaiveTree?,
        _ new: NaiveTree?,
        _ context: Comment
    ) {
        var seen: [[UInt8]] = []
        Node.visitDifferences(a, b) { key, _, _ in
            seen.append(Array(key))
            return true
        }
        #expect(seen == differingKeys(old, new), context)
    }

    private func differingKeys(_ old: NaiveTree?, _ new: NaiveTree?) -> [[UInt8]] {
        let (a, b) = (old?.children ?? [:], new?.children ?? [:])
        return Set(a.keys).union(b.keys).filter { a[$0] != b[$0] }.sorted(by: NaiveTree.isBefore)
    }
}
