import JSONTree
import Queries
import TestSupport

/// A leaf's value; cases and values are in value order.
enum PlainScalar: Comparable, Hashable {
    case no, yes
    case number(Int)
    case text(String)

    var node: Node {
        switch self {
        case .no: Node(false)
        case .yes: Node(true)
        case .number(let number): Node(integer: Int64(number))
        case .text(let text): Node(string: text)
        }
    }

    init?(_ node: Node) {
        if let flag = node.boolean {
            self = flag ? .yes : .no
        } else if let number = node.integer {
            self = .number(Int(number))
        } else if let text = node.string {
            self = .text(text)
        } else {
            return nil
        }
    }
}

/// A node as nested dictionaries, for models that recompute everything.
struct Plain: Equatable {
    var scalar: PlainScalar?
    var children: [String: Plain] = [:]
    var priority: PlainScalar?

    static let absent = Plain()

    var isAbsent: Bool { scalar == nil && children.isEmpty }
    var isMap: Bool { !children.isEmpty }

    init(_ scalar: PlainScalar? = nil, priority: PlainScalar? = nil) {
        self.scalar = scalar
        self.priority = priority
    }

    init(_ node: Node) {
        node.visitChildren { key, child in
            children[Key(key).string] = Plain(child)
            return true
        }
        if !node.isMap { scalar = PlainScalar(node) }
        priority = PlainScalar(node.priority)
    }

    var node: Node {
        var node = scalar?.node ?? .absent
        for (key, child) in children { node.set(child.node, at: Plain.path([key])) }
        return node.settingPriority(priority?.node ?? .absent)
    }

    static func path(_ keys: [String]) -> Path {
        Path(keys.map { Key(unchecked: Array($0.utf8)) })
    }

    static func keys(_ path: Path) -> [String] {
        (0..<path.keyCount).map { path.key(at: $0).string }
    }

    func child(_ key: String) -> Plain { children[key] ?? .absent }

    subscript(_ path: some Collection<String>) -> Plain { path.reduce(self) { $0.child($1) } }

    mutating func set(_ value: Plain, at path: ArraySlice<String>) {
        guard let key = path.first else {
            self = value
            return
        }
        var child = child(key)
        child.set(value, at: path.dropFirst())
        if scalar != nil && child.isAbsent { return }
        scalar = nil
        children[key] = child.isAbsent ? nil : child
        if children.isEmpty { priority = nil }
    }

    mutating func write(_ place: PlainPlace) {
        if !place.isPriority {
            set(place.value, at: place.path[...])
            return
        }
        var node = self[place.path]
        if node.isAbsent { return }
        node.priority = place.value.scalar
        set(node, at: place.path[...])
    }

    /// Writes several places as one change.
    mutating func write(_ places: [PlainPlace]) {
        for place in places where !place.isPriority && !place.value.isAbsent { write(place) }
        for place in places where !place.isPriority && place.value.isAbsent { write(place) }
        for place in places where place.isPriority { write(place) }
    }
}

/// What a write or a push says of one place.
struct PlainPlace {
    var path: [String]
    var isPriority = false
    var value: Plain

    var target: WriteTarget { WriteTarget(path: Plain.path(path), isPriority: isPriority) }
    var node: Node { value.node }

    func covers(_ other: [String]) -> Bool { !isPriority && other.starts(with: path) }

    /// Whether it says something of the node at a path.
    func concerns(_ other: [String]) -> Bool { covers(other) || path.starts(with: other) }
}

/// Key order and queries, by sorting everything.
enum PlainOrder {
    static func isBefore(_ a: String, _ b: String) -> Bool {
        switch (Int32(a), Int32(b)) {
        case (let x?, let y?): x != y ? x < y : a.utf8.count < b.utf8.count
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): a < b
        }
    }

    /// Index values: maps come last and are all equal, nothing comes first.
    private static func compare(_ a: Plain, _ b: Plain) -> Int {
        func rank(_ value: Plain) -> Int { value.isAbsent ? 0 : value.isMap ? 2 : 1 }
        if rank(a) != rank(b) { return rank(a) - rank(b) }
        guard let x = a.scalar, let y = b.scalar else { return 0 }
        return x == y ? 0 : x < y ? -1 : 1
    }

    static func value(_ child: Plain, _ index: QuerySpec.Index) -> Plain {
        switch index {
        case .key: .absent
        case .value: Plain(child.scalar).withChildren(of: child)
        case .priority: Plain(child.priority)
        case .child(let path): child[Plain.keys(path)]
        }
    }

    static func isMoved(_ old: Plain, _ new: Plain, _ index: QuerySpec.Index) -> Bool {
        compare(value(old, index), value(new, index)) != 0
    }

    /// Compares a child with a bound: by index value, then by key if the bound has one.
    private static func compare(
        _ key: String,
        _ child: Plain,
        _ bound: QuerySpec.Bound,
        _ index: QuerySpec.Index,
        keyless: Int,
    ) -> Int {
        if index == .key {
            let other = bound.value.string ?? ""
            return key == other ? 0 : isBefore(key, other) ? -1 : 1
        }
        let order = compare(value(child, index), Plain(bound.value))
        if order != 0 { return order }
        guard case .key(let bytes) = bound.key else { return keyless }
        let other = String(decoding: bytes, as: UTF8.self)
        return key == other ? 0 : isBefore(key, other) ? -1 : 1
    }

    /// The children of a node in the order of an index.
    static func sorted(_ node: Plain, _ index: QuerySpec.Index) -> [(key: String, child: Plain)] {
        node.children.map { (key: $0.key, child: $0.value) }.sorted { a, b in
            let order = compare(value(a.child, index), value(b.child, index))
            return order != 0 ? order < 0 : isBefore(a.key, b.key)
        }
    }

    /// The children that a query selects, in its order.
    static func selected(_ node: Plain, _ spec: QuerySpec) -> [(key: String, child: Plain)] {
        let inside = sorted(node, spec.index).filter { key, child in
            if let start = spec.start {
                let order = compare(key, child, start, spec.index, keyless: 1)
                if order < 0 || order == 0 && !start.isInclusive { return false }
            }
            if let end = spec.end {
                let order = compare(key, child, end, spec.index, keyless: -1)
                if order > 0 || order == 0 && !end.isInclusive { return false }
            }
            return true
        }
        guard let limit = spec.limit else { return inside }
        return spec.side == .first ? Array(inside.prefix(limit)) : inside.suffix(limit)
    }

    /// What a query selects, as one node; all of it if the query loads everything.
    static func result(_ node: Plain, _ spec: QuerySpec) -> Plain {
        if spec.loadsEverything { return node }
        var result = Plain.absent
        for (key, child) in selected(node, spec) { result.children[key] = child }
        return result
    }
}

extension Plain {
    fileprivate func withChildren(of other: Plain) -> Plain {
        var copy = self
        copy.children = other.children
        return copy
    }
}
