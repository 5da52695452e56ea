/// A tree in the plainest form there is: nested dictionaries, nothing shared, nothing clever.
///
/// The twin of `Node`, and with server values in its leaves of `Draft`. Invariant: no child is
/// absent, a node with children has no leaf, and an absent node has no priority (only a draft may).
package struct NaiveNode: Equatable, Sendable {
    /// What stands at a place that has no children.
    package enum Leaf: Hashable, Sendable {
        case boolean(Bool)
        case number(Double)
        case string(String)
        /// Drafts only: the commit's time.
        case timestamp
        /// Drafts only: the number that is there plus this one.
        case increment(Double)
    }

    package var leaf: Leaf?
    package var children: [String: NaiveNode] = [:]
    package var priority: Leaf?

    package init(_ leaf: Leaf? = nil, priority: Leaf? = nil) {
        self.leaf = leaf
        self.priority = priority
    }

    package static let absent = NaiveNode()

    package var isAbsent: Bool { leaf == nil && children.isEmpty }

    /// The node at a path below this one.
    package subscript(path: NaivePath) -> NaiveNode {
        var node = self
        for key in path { node = node.children[key] ?? .absent }
        return node
    }

    /// Replaces the node at `path`, priority included; maps left empty vanish.
    package mutating func set(_ node: NaiveNode, at path: NaivePath) {
        guard let key = path.first else {
            self = node.isAbsent ? .absent : node
            return
        }
        // In place: a list of thousands is not copied.
        children[key, default: .absent].set(node, at: Array(path.dropFirst()))
        if children[key]?.isAbsent ?? true {
            children[key] = nil
        } else {
            leaf = nil
        }
        if isAbsent { priority = nil }
    }

    /// Sets or clears the priority of the node at `path`; nothing happens where there is no node.
    package mutating func setPriority(_ priority: Leaf?, at path: NaivePath) {
        var node = self[path]
        if node.isAbsent { return }
        node.priority = priority
        set(node, at: path)
    }

    /// Writes a node, or the leaf that is a priority.
    package mutating func write(_ write: NaiveWrite) {
        if write.target.isPriority {
            setPriority(write.node.leaf, at: write.target.path)
        } else {
            set(write.node, at: write.target.path)
        }
    }

    /// This draft with its server values filled in, given what stands at its place.
    package func resolved(existing: NaiveNode, now: Int64) -> NaiveNode {
        var result = NaiveNode(leaf?.resolved(existing: existing.leaf, now: now))
        for (key, child) in children {
            let old = existing.children[key] ?? .absent
            let new = child.resolved(existing: old, now: now)
            if !new.isAbsent { result.children[key] = new }
        }
        if !result.isAbsent {
            result.priority = priority?.resolved(existing: existing.priority, now: now)
        }
        return result
    }
}

/// Keys from the root down.
package typealias NaivePath = [String]

/// A node, or the priority of one.
package struct NaiveTarget: Equatable, Sendable {
    package var path: NaivePath
    package var isPriority = false

    /// Whether a write here covers one there.
    func covers(_ other: NaiveTarget) -> Bool {
        self == other || (!isPriority && other.path.starts(with: path))
    }

    /// `a/b` or `a/b/.priority`.
    var text: String { (path + (isPriority ? [".priority"] : [])).joined(separator: "/") }

    /// Reads what `text` writes.
    init(text: String) {
        path = text.split(separator: "/").map(String.init)
        isPriority = path.last == ".priority"
        if isPriority { path.removeLast() }
    }

    package init(path: NaivePath, isPriority: Bool = false) {
        self.path = path
        self.isPriority = isPriority
    }
}

extension NaiveNode.Leaf {
    func resolved(existing: Self?, now: Int64) -> Self {
        switch self {
        case .boolean, .number, .string: return self
        case .timestamp: return .number(Double(now))
        case .increment(let amount):
            guard case .number(let number) = existing else { return .number(amount) }
            return .number(number + amount)
        }
    }

    var json: JSONText {
        switch self {
        case .boolean(let flag): .boolean(flag)
        case .number(let number): .number(number)
        case .string(let text): .string(text)
        case .timestamp: .object([(".sv", .string("timestamp"))])
        case .increment(let amount):
            .object([(".sv", .object([("increment", .number(amount))]))])
        }
    }
}

extension NaiveNode {
    /// The first place where this node is not `right`, in words; nil when there is none.
    package func difference(from right: NaiveNode, at path: NaivePath = []) -> String? {
        if self == right { return nil }
        for key in Set(children.keys).union(right.children.keys).sorted() {
            let child = children[key] ?? .absent
            let rightChild = right.children[key] ?? .absent
            if child == rightChild { continue }
            if child.isAbsent || rightChild.isAbsent {
                return "\((path + [key]).joined(separator: "/")) is \(child.json.text), "
                    + "not \(rightChild.json.text)"
            }
            return child.difference(from: rightChild, at: path + [key])
        }
        return "\(path.joined(separator: "/")) is \(json.text), not \(right.json.text)"
    }
}

// MARK: - JSON

extension NaiveNode {
    /// The export form, priorities included.
    package var json: JSONText {
        if isAbsent { return .null }
        if let leaf, priority == nil { return leaf.json }
        var members: [(name: String, value: JSONText)] = []
        if let leaf { members.append((".value", leaf.json)) }
        for (key, child) in children { members.append((key, child.json)) }
        if let priority { members.append((".priority", priority.json)) }
        return .object(members.sorted { $0.name < $1.name })
    }

    /// Reads the export form, and drafts.
    package init(_ json: JSONText) {
        self.init()
        if let value = json[".sv"] {
            leaf = value["increment"]?.number.map { .increment($0) } ?? .timestamp
            return
        }
        switch json {
        case .null: break
        case .boolean(let flag): leaf = .boolean(flag)
        case .number(let number): leaf = .number(number)
        case .string(let text): leaf = .string(text)
        case .array(let items):
            for (index, item) in items.enumerated() { adopt(String(index), item) }
        case .object(let members):
            for member in members { adopt(member.name, member.value) }
        }
    }

    private mutating func adopt(_ name: String, _ json: JSONText) {
        let node = NaiveNode(json)
        switch name {
        case ".value": leaf = node.leaf
        case ".priority": priority = node.leaf
        default: if !node.isAbsent { children[name] = node }
        }
    }
}
