import JSONTree

/// The tree as nested dictionaries, everything recomputed: what the real one is compared with.
struct NaiveTree: Equatable {
    enum Value: Equatable {
        case leaf(String)
        case map([[UInt8]: NaiveTree])
    }

    var value: Value
    /// As JSON text.
    var priority: String?

    /// Replaces the tree at `keys` below `tree`; nil removes it.
    static func set(_ tree: inout NaiveTree?, _ keys: ArraySlice<[UInt8]>, _ new: NaiveTree?) {
        guard let key = keys.first else {
            tree = new
            return
        }
        var children: [[UInt8]: NaiveTree] = [:]
        if case .map(let map)? = tree?.value { children = map } else if new == nil { return }
        set(&children[key], keys.dropFirst(), new)
        tree = children.isEmpty ? nil : NaiveTree(value: .map(children), priority: tree?.priority)
    }

    static func setPriority(
        _ tree: inout NaiveTree?,
        _ keys: ArraySlice<[UInt8]>,
        _ priority: String?
    ) {
        guard let key = keys.first else {
            tree?.priority = priority
            return
        }
        guard case .map(var children)? = tree?.value else { return }
        setPriority(&children[key], keys.dropFirst(), priority)
        tree?.value = .map(children)
    }

    var children: [[UInt8]: NaiveTree] {
        if case .map(let children) = value { children } else { [:] }
    }

    var sortedKeys: [[UInt8]] { children.keys.sorted(by: NaiveTree.isBefore) }

    /// Export form.
    var text: String {
        switch value {
        case .leaf(let text):
            guard let priority else { return text }
            return #"{".value":\#(text),".priority":\#(priority)}"#
        case .map(let children):
            var members = sortedKeys.map { key in
                "\"\(Self.escaped(key))\":\(children[key]?.text ?? "")"
            }
            if let priority { members.append(#"".priority":\#(priority)"#) }
            return "{" + members.joined(separator: ",") + "}"
        }
    }

    private static func escaped(_ key: [UInt8]) -> String {
        let marks = [UInt8(ascii: "\""), UInt8(ascii: "\\")]
        let bytes = key.flatMap { marks.contains($0) ? [marks[1], $0] : [$0] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Key order, straight from its definition.
    static func isBefore(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        let (x, y) = (integer(a), integer(b))
        if let x, let y, x != y || a.count != b.count { return x != y ? x < y : a.count < b.count }
        if (x == nil) != (y == nil) { return x != nil }
        return String(decoding: a, as: UTF8.self).utf16
            .lexicographicallyPrecedes(String(decoding: b, as: UTF8.self).utf16)
    }

    private static func integer(_ key: [UInt8]) -> Int32? {
        let text = String(decoding: key, as: UTF8.self)
        guard text.wholeMatch(of: /-?0*[0-9]{1,10}/) != nil else { return nil }
        return Int32(text)
    }
}

/// A small seeded generator (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    mutating func element<T>(_ values: [T]) -> T { values[below(values.count)] }
}
