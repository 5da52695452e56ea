import JSONTree
import Queries

/// The twin of a node's children: plain values in a dictionary, everything recomputed each time.
///
/// Its orders are written anew from their definition, on UTF-16 units, and share nothing with the
/// code under test.
struct NaiveChildren {
    indirect enum Value: Equatable {
        case boolean(Bool)
        case number(Int)
        case string(String)
        case map([String: Value])
    }

    struct Child: Equatable {
        var value: Value
        var priority: Value?
    }

    var children: [String: Child] = [:]

    /// The keys a query selects, in index order.
    func selectedKeys(_ spec: QuerySpec) -> [String] {
        let sorted = children.sorted { left, right in
            Self.order(spec, left.key, left.value, right.key, right.value) < 0
        }
        let inBounds = sorted.filter { contains(spec, $0.key, $0.value) }.map(\.key)
        guard let limit = spec.limit else { return inBounds }
        return Array(spec.side == .first ? inBounds.prefix(limit) : inBounds.suffix(limit))
    }

    /// The children a query selects, as a node.
    func filtered(_ spec: QuerySpec) -> Node {
        var result = Node.absent
        for key in selectedKeys(spec) {
            if let child = children[key] { result.set(Self.node(child), at: Self.path(key)) }
        }
        return result
    }

    static func path(_ key: String) -> Path { Path([Key(unchecked: Array(key.utf8))]) }

    static func node(_ child: Child) -> Node {
        node(child.value).settingPriority(child.priority.map(node) ?? .absent)
    }

    static func node(_ value: Value) -> Node {
        switch value {
        case .boolean(let boolean): return Node(boolean)
        case .number(let number): return Node(integer: Int64(number))
        case .string(let string): return Node(string: string)
        case .map(let members):
            var result = Node.absent
            for (key, member) in members { result.set(node(member), at: path(key)) }
            return result
        }
    }

    static func value(_ node: Node) -> Value? {
        if let boolean = node.boolean { return .boolean(boolean) }
        if let integer = node.integer { return .number(Int(integer)) }
        return node.string.map { .string($0) }
    }

    // MARK: Orders

    private static func indexValue(_ spec: QuerySpec, _ child: Child) -> Value? {
        switch spec.index {
        case .key: return nil
        case .value: return child.value
        case .priority: return child.priority
        case .child(let path):
            var value: Value? = child.value
            for index in 0..<path.keyCount {
                guard case .map(let members) = value else { return nil }
                value = members[path.key(at: index).string]
            }
            return value
        }
    }

    private static func order(
        _ spec: QuerySpec,
        _ leftKey: String,
        _ left: Child,
        _ rightKey: String,
        _ right: Child,
    ) -> Int {
        let order = valueOrder(indexValue(spec, left), indexValue(spec, right))
        return order != 0 ? order : keyOrder(leftKey, rightKey)
    }

    private func contains(_ spec: QuerySpec, _ key: String, _ child: Child) -> Bool {
        let value = Self.indexValue(spec, child)
        if let start = spec.start {
            let order = Self.order(spec, key, value, start, keyless: 1)
            if order < 0 || (order == 0 && !start.isInclusive) { return false }
        }
        if let end = spec.end {
            let order = Self.order(spec, key, value, end, keyless: -1)
            if order > 0 || (order == 0 && !end.isInclusive) { return false }
        }
        return true
    }

    private static func order(
        _ spec: QuerySpec,
        _ key: String,
        _ value: Value?,
        _ bound: QuerySpec.Bound,
        keyless: Int,
    ) -> Int {
        var boundKey = bound.key
        if spec.index == .key {
            switch bound.value.string {
            case "[MIN_NAME]": boundKey = .minimum
            case "[MAX_NAME]": boundKey = .maximum
            case let text: boundKey = .key(Array((text ?? "").utf8))
            }
        } else {
            let order = valueOrder(value, Self.value(bound.value))
            if order != 0 { return order }
        }
        switch boundKey {
        case nil: return keyless
        case .minimum: return 1
        case .maximum: return -1
        case .key(let bytes): return keyOrder(key, String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func valueOrder(_ left: Value?, _ right: Value?) -> Int {
        func rank(_ value: Value?) -> Int {
            switch value {
            case nil: 0
            case .boolean(false): 1
            case .boolean(true): 2
            case .number: 3
            case .string: 4
            case .map: 5
            }
        }
        switch (left, right) {
        case (.number(let left), .number(let right)): return left - right
        case (.string(let left), .string(let right)): return unitOrder(left, right)
        default: return rank(left) - rank(right)
        }
    }

    static func keyOrder(_ left: String, _ right: String) -> Int {
        switch (integer(left), integer(right)) {
        case (let left?, let right?) where left != right: return left < right ? -1 : 1
        case (.some, .some): return left.utf8.count - right.utf8.count
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

/// A small seeded generator, so that a failure is a number.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
