package import JSONTree

extension Draft {
    /// Appends the value as JSON text that reads back as this draft.
    ///
    /// Members that hold server values follow the others, in the order in which the draft lists
    /// them, so that the draft that is read lists them alike. O(size).
    package func appendJSON(to out: inout [UInt8]) {
        guard !serverValues.isEmpty else { return node.appendJSON(to: &out, .export) }
        let text = DraftText(draft: self)
        let all = DraftText.Indexes(
            serverValues: Array(serverValues.indices),
            priorities: Array(priorities.indices)
        )
        text.append(node, depth: 0, all, to: &out)
    }
}

/// Writes a node together with the server values that belong into it.
private struct DraftText {
    let draft: Draft

    /// The indexes of the draft's server values and priorities at or below one location.
    struct Indexes {
        var serverValues: [Int] = []
        var priorities: [Int] = []
    }

    /// The parts at one location besides the node.
    private struct Here {
        var value: DraftServerValue?
        var priorityValue: ServerValue?
        var priority: Node
        /// Children that hold server values, in the order in which the draft lists those.
        var children: [(key: Key, indexes: Indexes)] = []
        var childIndexes: [Key: Int] = [:]

        /// The index of a child, which is added if it is new.
        mutating func child(_ key: Key) -> Int {
            if let index = childIndexes[key] { return index }
            childIndexes[key] = children.count
            children.append((key, Indexes()))
            return children.count - 1
        }
    }

    /// Appends the value at a location `depth` keys down; `node` is the value there without server values.
    func append(_ node: Node, depth: Int, _ indexes: Indexes, to out: inout [UInt8]) {
        let here = sort(indexes, depth, node.priority)
        if let value = here.value {
            append(value, here, to: &out)
        } else if node.isMap || !here.children.isEmpty {
            appendMap(node, depth, here, to: &out)
        } else if let priority = here.priorityValue {
            out.append(text: "{")
            if !node.isAbsent {
                out.append(text: #"".value":"#)
                node.appendJSON(to: &out, .export)
                out.append(text: ",")
            }
            out.append(text: #"".priority":"#)
            Self.append(priority, to: &out)
            out.append(text: "}")
        } else {
            node.appendJSON(to: &out, .export)
        }
    }

    private func sort(_ indexes: Indexes, _ depth: Int, _ priority: Node) -> Here {
        var here = Here(priority: priority)
        for index in indexes.serverValues {
            let entry = draft.serverValues[index]
            if entry.target.path.keyCount > depth {
                let child = here.child(entry.target.path.key(at: depth))
                here.children[child].indexes.serverValues.append(index)
            } else if entry.target.isPriority {
                here.priorityValue = entry.value
            } else {
                here.value = entry
            }
        }
        for index in indexes.priorities {
            let entry = draft.priorities[index]
            if entry.path.keyCount > depth {
                let child = here.child(entry.path.key(at: depth))
                here.children[child].indexes.priorities.append(index)
            } else {
                here.priority = entry.priority
            }
        }
        return here
    }

    /// A leaf that is a server value.
    private func append(_ value: DraftServerValue, _ here: Here, to out: inout [UInt8]) {
        if value.priority.isAbsent && here.priorityValue == nil {
            return Self.append(value.value, to: &out)
        }
        out.append(text: #"{".value":"#)
        Self.append(value.value, to: &out)
        out.append(text: #",".priority":"#)
        if let priority = here.priorityValue {
            Self.append(priority, to: &out)
        } else {
            value.priority.appendJSON(to: &out, .export)
        }
        out.append(text: "}")
    }

    private func appendMap(_ node: Node, _ depth: Int, _ here: Here, to out: inout [UInt8]) {
        var separator = "{"
        node.visitChildren { key, child in
            guard here.childIndexes.isEmpty || here.childIndexes[Key(key)] == nil else {
                return true
            }
            out.append(text: separator)
            appendJSONString(key, to: &out)
            out.append(text: ":")
            child.appendJSON(to: &out, .export)
            separator = ","
            return true
        }
        for (key, indexes) in here.children {
            out.append(text: separator)
            key.withBytes { appendJSONString($0, to: &out) }
            out.append(text: ":")
            append(node.child(key), depth: depth + 1, indexes, to: &out)
            separator = ","
        }
        if let priority = here.priorityValue {
            out.append(text: #",".priority":"#)
            Self.append(priority, to: &out)
        } else if !here.priority.isAbsent {
            out.append(text: #",".priority":"#)
            here.priority.appendJSON(to: &out, .export)
        }
        out.append(text: "}")
    }

    private static func append(_ value: ServerValue, to out: inout [UInt8]) {
        switch value {
        case .timestamp: out.append(text: #"{".sv":"timestamp"}"#)
        case .increment(let step):
            out.append(text: #"{".sv":{"increment":"#)
            step.appendJSON(to: &out, .export)
            out.append(text: "}}")
        }
    }
}
