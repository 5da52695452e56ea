/// A value that the server computes when it commits.
package enum ServerValue: Sendable, Equatable {
    /// The commit's time in milliseconds.
    case timestamp
    /// The existing number plus this one; this one without an existing number.
    case increment(Node)

    /// The value to store, given the node at the same location before the request.
    ///
    /// Integers add as 64-bit; on overflow, and beside a double, as doubles. A sum too large for a
    /// double stays at the largest one.
    package func resolved(existing: Node, now: Timestamp) -> Node {
        switch self {
        case .timestamp: Node(integer: now.milliseconds)
        case .increment(let step): ServerValue.sum(existing.withoutPriority, step)
        }
    }

    private static func sum(_ existing: Node, _ step: Node) -> Node {
        if let a = existing.integer, let b = step.integer {
            let (total, overflow) = a.addingReportingOverflow(b)
            if !overflow { return Node(integer: total) }
        }
        guard let a = existing.number, let b = step.number else { return step }
        let limit = Double.greatestFiniteMagnitude
        return Node(double: min(max(a + b, -limit), limit))
    }
}

/// Where a draft holds a server value.
package struct DraftServerValue: Sendable, Equatable {
    /// The location below the draft's own.
    package let target: WriteTarget

    /// The value to compute there.
    package let value: ServerValue

    /// The literal priority beside a `.value` that is a server value, else absent.
    package let priority: Node

    /// Makes the entry of a server value at `target`.
    package init(target: WriteTarget, value: ServerValue, priority: Node = .absent) {
        self.target = target
        self.value = value
        self.priority = priority
    }
}

/// The literal priority of a map that exists only with its server values.
package struct DraftPriority: Sendable, Equatable {
    /// The map, counted from the draft's own path.
    package let path: Path

    /// The priority that it then has.
    package let priority: Node

    /// Makes the entry of the map at `path`.
    package init(path: Path, priority: Node) {
        self.path = path
        self.priority = priority
    }
}

/// A value as a client sent it: the node without its server values, and their locations.
package struct Draft: Sendable, Equatable {
    /// The value; locations that hold a server value are absent from it.
    package var node: Node

    /// In the order of the text, a node before its priority.
    package var serverValues: [DraftServerValue]

    /// Literal priorities of maps that hold nothing but server values and so are absent from `node`.
    package var priorities: [DraftPriority] = []

    /// Keys on the longest way down through the value, server values included.
    ///
    /// At most `Limits.depth`; with the keys of the path it is written to it must not be more.
    package let depth: Int

    /// A draft of a node without server values.
    package init(_ node: Node) {
        self.init(node: node, depth: node.depth)
    }

    init(node: Node, depth: Int) {
        self.node = node
        self.depth = depth
        serverValues = []
    }

    /// The value to store.
    ///
    /// - Parameters:
    ///   - existing: The node now at the location that the draft is written to; increments read it.
    ///   - now: The commit's time.
    /// - Returns: The node with every server value filled in.
    package func resolved(existing: Node, now: Timestamp) -> Node {
        guard let node = resolved(existing: existing, now: now, isCancelled: { false }) else {
            preconditionFailure("it is never cancelled")
        }
        return node
    }

    /// The same; nil once `isCancelled`, which is called every 1,024 server values.
    package func resolved(existing: Node, now: Timestamp, isCancelled: () -> Bool) -> Node? {
        if serverValues.isEmpty { return node }
        var result = node
        for (index, entry) in serverValues.enumerated() where !entry.target.isPriority {
            if index & 0x3FF == 0x3FF, isCancelled() { return nil }
            let old = existing.descendant(at: entry.target.path)
            let value = entry.value.resolved(existing: old, now: now)
            result.set(value.settingPriority(entry.priority), at: entry.target.path)
        }
        // Priorities last: one may belong to a map that server values make.
        for entry in serverValues where entry.target.isPriority {
            let old = existing.descendant(at: entry.target.path).priority
            let value = entry.value.resolved(existing: old, now: now)
            result.setPriority(value, at: entry.target.path)
        }
        for entry in priorities { result.setPriority(entry.priority, at: entry.path) }
        return result
    }
}

extension Node {
    /// Keys on the longest way down; 0 for a leaf. O(size).
    package var depth: Int {
        var deepest = 0
        visitChildren { _, child in
            deepest = max(deepest, 1 + child.depth)
            return true
        }
        return deepest
    }
}
