import JSONTree

/// A scalar of the oracle's data.
enum OracleScalar: Hashable {
    case boolean(Bool)
    case number(Double)
    case string(String)

    var json: String {
        switch self {
        case .boolean(let value): return "\(value)"
        case .number(let value):
            return value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
        case .string(let text):
            // Most are plain, and a debug build is slow at the other way.
            if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
                return "\"\(text)\""
            }
            var out: [UInt8] = []
            appendJSONString(text, to: &out)
            return String(decoding: out, as: UTF8.self)
        }
    }
}

/// The oracle's data: nested dictionaries, copied and walked from the top every time.
struct OracleNode: Equatable {
    var value: OracleScalar?
    var children: [String: OracleNode] = [:]
    var priority: OracleScalar?

    static let absent = OracleNode()

    var isAbsent: Bool { value == nil && children.isEmpty }

    /// The node below; keys that no data could have are in no dictionary.
    func at(_ path: [String]) -> OracleNode {
        var node = self
        for key in path { node = node.children[key] ?? .absent }
        return node
    }

    /// Replaces what is at `path`. Nulls vanish, and what they leave empty; a leaf above gives way
    /// to its new child and keeps its priority.
    mutating func set(_ node: OracleNode, at path: ArraySlice<String>) {
        guard let key = path.first else {
            self = node.isAbsent ? .absent : node
            return
        }
        var child = children[key] ?? .absent
        child.set(node, at: path.dropFirst())
        if child.isAbsent {
            children[key] = nil
            if isAbsent { priority = nil }
        } else {
            children[key] = child
            value = nil
        }
    }

    /// Changes the priority of what is at `path`, if anything is.
    mutating func setPriority(_ priority: OracleScalar?, at path: ArraySlice<String>) {
        guard let key = path.first else {
            if !isAbsent { self.priority = priority }
            return
        }
        children[key]?.setPriority(priority, at: path.dropFirst())
    }

    /// Keys in key order: integers first by value, then the rest by UTF-16 code unit.
    var sortedKeys: [String] { children.keys.sorted(by: OracleNode.comesBefore) }

    static func comesBefore(_ a: String, _ b: String) -> Bool {
        switch (Int32(a), Int32(b)) {
        case (let x?, let y?): x < y
        case (nil, nil): a.utf16.lexicographicallyPrecedes(b.utf16)
        case (let x, _): x != nil
        }
    }

    /// In the form that is written, priorities included.
    var json: String {
        if let value {
            guard let priority else { return value.json }
            return "{\".value\":\(value.json),\".priority\":\(priority.json)}"
        }
        if children.isEmpty { return "null" }
        var members = children.map { "\(OracleScalar.string($0.key).json):\($0.value.json)" }
        if let priority { members.append("\".priority\":\(priority.json)") }
        return "{\(members.joined(separator: ","))}"
    }

    /// The same node of the server, taken apart.
    init(_ node: Node) {
        value = OracleNode.scalar(node)
        priority = OracleNode.scalar(node.priority)
        node.visitChildren { key, child in
            children[key.string] = OracleNode(child)
            return true
        }
    }

    init(value: OracleScalar? = nil, children: [String: OracleNode] = [:]) {
        self.value = value
        self.children = children
    }

    private static func scalar(_ node: Node) -> OracleScalar? {
        if let boolean = node.boolean { return .boolean(boolean) }
        if let number = node.number { return .number(number) }
        return node.string.map { .string($0) }
    }
}

/// What a write carries: data in which the server has values to fill in.
indirect enum OracleDraft {
    case null
    case scalar(OracleScalar)
    case timestamp
    case increment(Double)
    case map([String: OracleDraft])
    /// A value, or a map, with a priority.
    case prioritized(OracleDraft, OracleScalar)

    /// The data that is stored; `old` is what the same place held before the request.
    func resolved(old: OracleNode, now: Double) -> OracleNode {
        switch self {
        case .null: return .absent
        case .scalar(let value): return OracleNode(value: value)
        case .timestamp: return OracleNode(value: .number(now))
        case .increment(let step):
            guard case .number(let number) = old.value else {
                return OracleNode(value: .number(step))
            }
            return OracleNode(value: .number(number + step))
        case .map(let members):
            var children: [String: OracleNode] = [:]
            for (key, draft) in members {
                let child = draft.resolved(old: old.children[key] ?? .absent, now: now)
                if !child.isAbsent { children[key] = child }
            }
            return OracleNode(children: children)
        case .prioritized(let draft, let priority):
            var node = draft.resolved(old: old, now: now)
            if !node.isAbsent { node.priority = priority }
            return node
        }
    }

    var json: String {
        switch self {
        case .null: return "null"
        case .scalar(let value): return value.json
        case .timestamp: return "{\".sv\":\"timestamp\"}"
        case .increment(let step):
            return "{\".sv\":{\"increment\":\(OracleScalar.number(step).json)}}"
        case .map(let members): return "{\(OracleDraft.members(members))}"
        case .prioritized(.map(let members), let priority):
            let separator = members.isEmpty ? "" : ","
            return "{\(OracleDraft.members(members))\(separator)\".priority\":\(priority.json)}"
        case .prioritized(let draft, let priority):
            return "{\".value\":\(draft.json),\".priority\":\(priority.json)}"
        }
    }

    private static func members(_ members: [String: OracleDraft]) -> String {
        members.map { "\(OracleScalar.string($0.key).json):\($0.value.json)" }
            .joined(separator: ",")
    }
}
