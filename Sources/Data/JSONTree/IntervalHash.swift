/// The hashes of the intervals that some leaves cut a node into, and further facts about them after
/// the one pass that made them.
///
///     ends:    p0        p1              the last leaf of each interval but the last
///     hashes:  (start,p0] (p0,p1] (p1,end)
package struct IntervalHashes: Sendable {
    /// One more than there are ends; empty where the node has no leaf in the interval.
    package internal(set) var hashes: [String]

    /// Whether an interval must be sent if the next one is, and the other way round; one for each end.
    ///
    /// A map's priority cannot be sent without one of its children, and clients lose it when the
    /// children they have are all replaced while it stays. So an interval that holds the priority
    /// of a map but no leaf below it is joined to the next leaf of that map, on whichever side.
    package internal(set) var isJoined: [Bool]

    /// Whether a key was met that clients sort otherwise: a number of more than 11 characters is
    /// text to iOS and Android. Their intervals are then not these.
    package internal(set) var hasForeignOrder = false

    /// Whether a map's priority was met behind all of its keys: iOS and Android leave it out, so
    /// their hash of the interval is another although the data is the same.
    package internal(set) var hasUnseenPriority = false
}

extension Node {
    /// Hashes the intervals that end with these leaves, and the rest behind the last of them.
    ///
    /// The hash of an interval is the base64 of the SHA-1 of a text like
    /// `("a":("b":(number:3ff0000000000000),".priority":(string:"x")),"c":(boolean:true))`. `ends`
    /// are counted from this node and ascend as leaves do (`WriteTarget.precedesAsLeaf`).
    /// One pass in key order, O(size) time and O(depth) memory. Source: wire protocol, 9.2.
    package func intervalHashes(endingAt ends: [WriteTarget]) -> IntervalHashes {
        var hasher = IntervalHasher(ends: ends)
        hasher.append(self)
        return hasher.finish()
    }
}

/// Writes the leaves of a node as text, interval by interval.
///
/// The text follows the leaves: a map without a leaf in an interval does not appear in that interval's text.
private struct IntervalHasher: ~Copyable {
    /// A map's priority whose interval holds no leaf of the map, as far as is known.
    private struct LonePriority {
        let interval: Int
        /// The interval of the map's last leaf before the priority; nil when there is none.
        let leafBefore: Int?
        /// Keys down to the map.
        let depth: Int
    }

    private let ends: [WriteTarget]
    private var result: IntervalHashes
    private var path = KeyStack()

    /// The interval the walk is in: an index of `result.hashes`.
    private var interval = 0
    /// How many keys of the path, from its first, are those of the interval's end.
    ///
    /// The path leads to or is the end when this is its depth; otherwise all below it is inside.
    /// -1 in the last interval, which has no end.
    private var sharedCount: Int

    private var digest = DigestStream()
    private var text = Scratch()
    private var isTextOpen = false
    /// How many keys of the path are open in the text.
    private var openCount = 0
    private var needsComma = false

    private var leafCount = 0
    /// The interval of the last leaf that is not a priority of a map.
    private var leafInterval = 0
    private var lonePriorities: [LonePriority] = []

    init(ends: [WriteTarget]) {
        self.ends = ends
        result = IntervalHashes(
            hashes: Array(repeating: "", count: ends.count + 1),
            isJoined: Array(repeating: false, count: ends.count)
        )
        sharedCount = ends.isEmpty ? -1 : 0
    }

    mutating func finish() -> IntervalHashes {
        endText()
        return result
    }

    /// Walks a node in key order, a map's priority at its position among the children.
    mutating func append(_ node: Node) {
        if node.isAbsent { return }
        guard node.isMap else {
            noteLeaf()
            return appendLeaf(node)
        }
        let priority = node.priority
        let leafCountBefore = leafCount
        var isPriorityDue = !priority.isAbsent
        node.visitChildren { key, child in
            if isPriorityDue, IntervalHasher.isBehindPriority(key) {
                isPriorityDue = false
                append(priority: priority, hasLeafBefore: leafCount > leafCountBefore)
            }
            if key.count > IntervalHasher.integerCharacterCount, Key.integer(key) != nil {
                result.hasForeignOrder = true
            }
            enter(key)
            append(child)
            leave()
            return true
        }
        if isPriorityDue {
            result.hasUnseenPriority = true
            append(priority: priority, hasLeafBefore: true)
        }
        settleLonePriority()
    }

    /// Characters of the longest key that iOS and Android take for a number.
    private static let integerCharacterCount = 11

    private static func isBehindPriority(_ key: Bytes) -> Bool {
        WriteTarget.priorityKey.withBytes { Key.compare(key, $0) } > 0
    }

    private mutating func append(priority: Node, hasLeafBefore: Bool) {
        let depth = path.count
        WriteTarget.priorityKey.withBytes { enter($0) }
        let before = hasLeafBefore ? leafInterval : nil
        if before != interval {
            let lone = LonePriority(interval: interval, leafBefore: before, depth: depth)
            lonePriorities.append(lone)
        }
        appendLeaf(priority)
        leave()
    }
}

// MARK: Intervals

extension IntervalHasher {
    private mutating func enter(_ key: Bytes) {
        let isTowardsEnd = sharedCount == path.count
        path.push(key)
        if isTowardsEnd { findInterval() }
    }

    /// Moves on to the interval of the path.
    private mutating func findInterval() {
        while interval < ends.count {
            let end = ends[interval]
            var order = 0
            while sharedCount < path.count, sharedCount < end.componentCount {
                order = end.withComponent(at: sharedCount) { component in
                    Key.compare(path.key(sharedCount), component)
                }
                if order != 0 { break }
                sharedCount += 1
            }
            if order < 0 || sharedCount == path.count { return }
            endText()
            interval += 1
            sharedCount = 0
        }
        sharedCount = -1
    }

    private mutating func leave() {
        path.pop()
        sharedCount = min(sharedCount, path.count)
        if openCount > path.count {
            appendToText(0x29)
            openCount = path.count
            needsComma = true
        }
    }

    private mutating func noteLeaf() {
        leafCount += 1
        leafInterval = interval
        for lone in lonePriorities where lone.interval != interval {
            join(
                lone.leafBefore ?? lone.interval,
                lone.leafBefore == nil ? interval : lone.interval
            )
        }
        lonePriorities.removeAll(keepingCapacity: true)
    }

    /// At the end of a map: its priority came behind all its leaves.
    private mutating func settleLonePriority() {
        guard let lone = lonePriorities.last, lone.depth == path.count else { return }
        join(lone.leafBefore ?? lone.interval, lone.interval)
        lonePriorities.removeLast()
    }

    private mutating func join(_ first: Int, _ last: Int) {
        for index in first..<last { result.isJoined[index] = true }
    }
}

// MARK: Text

extension IntervalHasher {
    /// `[priority:P:]number:16 hex digits`, `string:"text"` or `boolean:true`, and around it the
    /// keys that lead here: `"a":("b":(`.
    private mutating func appendLeaf(_ leaf: Node) {
        if !isTextOpen {
            isTextOpen = true
            appendToText(0x28)
        }
        while openCount < path.count {
            if needsComma { appendToText(0x2C) }
            appendQuoted(path.key(openCount))
            text.append(":(")
            openCount += 1
            needsComma = false
        }
        if leaf.hasPriority {
            text.append("priority:")
            appendScalar(leaf.priority)
            text.append(0x3A)
        }
        appendScalar(leaf)
    }

    private mutating func appendScalar(_ leaf: Node) {
        if let flag = leaf.boolean {
            text.append(flag ? "boolean:true" : "boolean:false")
        } else if let number = leaf.number {
            text.append("number:")
            text.appendHex(number.bitPattern)
        } else {
            text.append("string:")
            leaf.withText { appendQuoted($0) }
        }
    }

    /// Quotes and backslashes escaped by a backslash, everything else unchanged.
    private mutating func appendQuoted(_ bytes: Bytes) {
        text.append(0x22)
        var start = 0
        for index in 0..<bytes.count where bytes[index] == 0x22 || bytes[index] == 0x5C {
            appendToText(bytes.slice(start..<index))
            appendToText(0x5C)
            start = index
        }
        appendToText(bytes.slice(start..<bytes.count))
        text.append(0x22)
    }

    /// Closes the text of the interval, if it has one, and keeps its hash.
    private mutating func endText() {
        guard isTextOpen else { return }
        for _ in 0...openCount { text.append(0x29) }
        digest.append(text.bytes(0, text.used))
        text.used = 0
        result.hashes[interval] = digest.finish()
        isTextOpen = false
        openCount = 0
        needsComma = false
    }

    /// Bytes of text that are kept before they are hashed.
    private static let keptByteCount = 16 * 1024

    private mutating func appendToText(_ byte: UInt8) {
        if text.used >= IntervalHasher.keptByteCount {
            digest.append(text.bytes(0, text.used))
            text.used = 0
        }
        text.append(byte)
    }

    /// Appends bytes that stay where they are if they are many.
    private mutating func appendToText(_ bytes: Bytes) {
        if bytes.count < IntervalHasher.keptByteCount { return text.append(bytes) }
        digest.append(text.bytes(0, text.used))
        text.used = 0
        digest.append(bytes)
    }
}

/// The keys from a node down to where a walk is, one behind the other.
private struct KeyStack {
    private var bytes = Scratch()
    private var ends: [Int] = []

    var count: Int { ends.count }

    mutating func push(_ key: Bytes) {
        bytes.append(key)
        ends.append(bytes.used)
    }

    mutating func pop() {
        ends.removeLast()
        bytes.used = ends.last ?? 0
    }

    /// The key at `index`, borrowed until the next push.
    func key(_ index: Int) -> Bytes {
        let start = index == 0 ? 0 : ends[index - 1]
        return bytes.bytes(start, ends[index] - start)
    }
}
