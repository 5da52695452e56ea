import JSONTree
import Queries
import Simulation
import TestSupport

/// The twin of a node's children: plain values in a dictionary, everything recomputed each time.
///
/// Its orders are written anew from their definition, on UTF-16 units, and share nothing with the
/// code under test. Keys and leaves come from fixed lists, so that an order is worked out once.
struct NaiveChildren {
    /// A leaf by its place in `NaiveOrder.leaves`.
    typealias Leaf = Int

    struct Child {
        /// The leaf this is; nil for a map.
        var leaf: Leaf?
        /// Members of the map: `n`, `m/n`, and one that no query looks at.
        var n: Leaf?
        var mn: Leaf?
        var x = 0
        /// A number or a string.
        var priority: Leaf?
        /// The same as a node, made once.
        fileprivate(set) var node = Node.absent

        /// Makes the node anew after a change.
        func built() -> Child {
            var copy = self
            copy.node = body().settingPriority(priority.map { NaiveOrder.leaves[$0] } ?? .absent)
            return copy
        }

        private func body() -> Node {
            if let leaf { return NaiveOrder.leaves[leaf] }
            var map = Node.absent
            map.set(Node(integer: Int64(x)), at: NaiveChildren.path("x"))
            if let n { map.set(NaiveOrder.leaves[n], at: NaiveChildren.path("n")) }
            if let mn {
                let path = NaiveChildren.path("m").appending(NaiveChildren.path("n"))
                map.set(NaiveOrder.leaves[mn], at: path)
            }
            return map
        }

        /// The rank of the index value.
        func rank(_ index: QuerySpec.Index) -> Int {
            switch index {
            case .key: return 0
            case .value: return leaf.map { NaiveOrder.ranks[$0] } ?? NaiveOrder.mapRank
            case .priority: return priority.map { NaiveOrder.ranks[$0] } ?? 0
            case .child(let path):
                if leaf != nil { return 0 }
                let member = path.keyCount == 2 ? mn : n
                return member.map { NaiveOrder.ranks[$0] } ?? 0
            }
        }
    }

    /// By place of the key in `NaiveOrder.keys`.
    var children: [Int: Child] = [:]

    /// The places of the keys a query selects, in index order.
    func selected(_ query: NaiveQuery) -> [Int] {
        let spec = query.spec
        let ranked = children.map { place, child in
            (place, rank: child.rank(spec.index), keyRank: NaiveOrder.keyRanks[place])
        }
        let sorted = ranked.sorted { ($0.rank, $0.keyRank) < ($1.rank, $1.keyRank) }
        let inBounds = sorted.filter { entry in
            if let start = query.start {
                let order = start.compare(entry.rank, entry.keyRank)
                if order < 0 || (order == 0 && !start.isInclusive) { return false }
            }
            if let end = query.end {
                let order = end.compare(entry.rank, entry.keyRank)
                if order > 0 || (order == 0 && !end.isInclusive) { return false }
            }
            return true
        }
        let places = inBounds.map(\.0)
        guard let limit = spec.limit else { return places }
        return Array(spec.side == .first ? places.prefix(limit) : places.suffix(limit))
    }

    static func path(_ key: String) -> Path { Path([Key(unchecked: Array(key.utf8))]) }
}

/// A query and its bounds in ranks.
struct NaiveQuery {
    let spec: QuerySpec
    fileprivate let start: NaiveBound?
    fileprivate let end: NaiveBound?

    init(_ spec: QuerySpec) {
        self.spec = spec
        start = spec.start.map { NaiveBound(spec, $0, keyless: -1) }
        end = spec.end.map { NaiveBound(spec, $0, keyless: 1) }
    }
}

private struct NaiveBound {
    let rank: Int
    let keyRank: Int
    let isInclusive: Bool

    init(_ spec: QuerySpec, _ bound: QuerySpec.Bound, keyless: Int) {
        isInclusive = bound.isInclusive
        var key = bound.key
        if spec.index == .key {
            rank = 0
            switch bound.value.string {
            case "[MIN_NAME]": key = .minimum
            case "[MAX_NAME]": key = .maximum
            case let text: key = .key(Array((text ?? "").utf8))
            }
        } else {
            rank = bound.value.isAbsent ? 0 : NaiveOrder.rank(of: bound.value)
        }
        switch key {
        case nil: keyRank = keyless < 0 ? -1 : .max
        case .minimum: keyRank = -1
        case .maximum: keyRank = .max
        case .key(let bytes):
            keyRank = NaiveOrder.rank(ofKey: String(decoding: bytes, as: UTF8.self))
        }
    }

    func compare(_ otherRank: Int, _ otherKeyRank: Int) -> Int {
        if otherRank != rank { return otherRank < rank ? -1 : 1 }
        return otherKeyRank == keyRank ? 0 : (otherKeyRank < keyRank ? -1 : 1)
    }
}

/// The keys and leaves that tests draw from, and their orders.
enum NaiveOrder {
    /// Keys of children, then texts that only bounds have.
    static let keys = ownKeys + vocabulary
    static let boundKeys = keys + onlyBounds

    private static let ownKeys: [String] = [
        "1", "01", "2", "10", "-5", "00", "-0", "0", "2147483647", "2147483648", "-2147483648",
        "-2147483649", "a", "a-", "b", "é", "\u{1F600}", "\u{FF5E}", "z", "-",
        "0000000000000000012", "12",
    ]
    private static let onlyBounds = ["a ", "a\u{FFFF}", "3", "", "zz"]

    /// Some keys of every kind that applications put.
    private static let vocabulary: [String] = {
        var random = TestSeed.generator(1)
        var known = Set(ownKeys + onlyBounds)
        return KeyOrder.allCases.flatMap { $0.keys(14, &random).suffix(5) }
            .filter { known.insert($0).inserted }
    }()

    private static let x497 = String(repeating: "x", count: 497)

    static let leaves: [Node] =
        [false, true].map { Node($0) }
        + [0, 1, -1, 2, 1 << 53, 1 << 53 + 1, 1 << 53 + 2, .max, .max - 1, .min].map {
            Node(integer: $0)
        }
        + [
            -0.0, 0.5, -0.5, -1.5, 1e300, -1e300, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
            9_007_199_254_740_994,
            9_223_372_036_854_775_808,
        ].map { Node(double: $0) }
        + ([
            "", "10", "9", "a", "\0", "\u{1}", "a\0", "a\u{1}", "a\0b", "a\u{2}", "a ", "é",
            "e\u{301}", "\u{1F600}", "\u{FF5E}", "\u{FFFF}", x497, x497 + "xxx", x497 + "xxxa",
            x497 + "xxxb", x497 + "xxx\0", x497 + "xxx\u{1F600}", x497 + "xxx\u{FF5E}",
            x497 + "xxxa" + x497, x497 + "\u{FF5E}", x497 + "\u{1F600}", x497 + "\u{1F600}b",
            x497 + "x\u{1F600}", x497 + "x\u{1F601}", x497 + "xy", x497 + "\0\0\0\0",
        ] as [String]).map { Node(string: $0) }

    /// Places of leaves that may be priorities.
    static let priorities = leaves.indices.filter { leaves[$0].boolean == nil }

    /// For each leaf its rank in value order from 1, equal leaves alike; absent is 0.
    static let ranks: [Int] = leaves.map { leaf in
        1 + leaves.reduce(0) { $0 + (order($1, leaf) < 0 ? 1 : 0) }
    }
    static let mapRank = leaves.count + 1

    /// For each key of a child its rank in key order.
    static let keyRanks = keys.map { rank(ofKey: $0) }

    static func rank(of value: Node) -> Int {
        1 + leaves.reduce(0) { $0 + (order($1, value) < 0 ? 1 : 0) }
    }

    static func rank(ofKey key: String) -> Int {
        if let rank = boundKeyRanks[key] { return rank }
        preconditionFailure("bounds have keys of the list")
    }

    private static let boundKeyRanks = [String: Int](
        uniqueKeysWithValues: boundKeys.map { key in
            (key, boundKeys.reduce(0) { $0 + (keyOrder($1, key) < 0 ? 1 : 0) })
        }
    )

    private static func order(_ left: Node, _ right: Node) -> Int {
        func kind(_ node: Node) -> Int {
            node.boolean.map { $0 ? 1 : 0 } ?? (node.number != nil ? 2 : 3)
        }
        if kind(left) != kind(right) { return kind(left) - kind(right) }
        if let x = left.number, let y = right.number { return x < y ? -1 : (x == y ? 0 : 1) }
        if let x = left.string, let y = right.string { return unitOrder(x, y) }
        return 0
    }

    static func keyOrder(_ left: String, _ right: String) -> Int {
        switch (integer(left), integer(right)) {
        case (let x?, let y?) where x != y: return x < y ? -1 : 1
        case (.some, .some):
            let lengths = (left.utf8.count, right.utf8.count)
            return lengths.0 == lengths.1 ? unitOrder(left, right) : lengths.0 - lengths.1
        case (.some, nil): return -1
        case (nil, .some): return 1
        case (nil, nil): return unitOrder(left, right)
        }
    }

    private static func unitOrder(_ left: String, _ right: String) -> Int {
        if left.utf16.elementsEqual(right.utf16) { return 0 }
        return left.utf16.lexicographicallyPrecedes(right.utf16) ? -1 : 1
    }

    private static func integer(_ key: String) -> Int? {
        guard let match = key.wholeMatch(of: /-?0*[0-9]{1,10}/), let value = Int(match.output)
        else {
            return nil
        }
        return Int32(exactly: value).map { Int($0) }
    }
}
