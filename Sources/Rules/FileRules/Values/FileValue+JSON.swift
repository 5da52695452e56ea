package import JSONTree

extension FileValue {
    /// Reads JSON: whole numbers of 64 bits become ints, other numbers floats, lists stay lists.
    ///
    /// - Throws: `JSONError`; also for more than `FileRulesLimits.valueDepth` brackets, one inside another.
    package init(json: [UInt8]) throws(JSONError) {
        self = try json.withBytes { (bytes) throws(JSONError) in
            var scanner = JSONScanner(bytes)
            let value = try FileValue.read(&scanner, depth: 0)
            try scanner.expectEnd()
            return value
        }
    }

    private static func read(
        _ scanner: inout JSONScanner,
        depth: Int
    ) throws(JSONError) -> FileValue {
        if depth >= FileRulesLimits.valueDepth { throw JSONError(.tooDeep, offset: scanner.offset) }
        switch try scanner.peek() {
        case 0x7B:
            var members: [(key: [UInt8], value: FileValue)] = []
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                members.append((Array(name.utf8), try read(&scanner, depth: depth + 1)))
            }
            return .map(FileMap(members))
        case 0x5B:
            var elements: [FileValue] = []
            try scanner.enterArray()
            while try scanner.nextElement() {
                elements.append(try read(&scanner, depth: depth + 1))
            }
            return .list(FileList(elements))
        case 0x22: return .text(try scanner.readString())
        case 0x74, 0x66: return .bool(try scanner.readBoolean())
        case 0x6E:
            try scanner.readNull()
            return .null
        default: return FileValue(leaf: try scanner.readNode(anyKeys: true))
        }
    }

    /// The value of a boolean, number or string of a tree; null for anything else.
    private init(leaf node: Node) {
        if let value = node.boolean {
            self = .bool(value)
        } else if let value = node.integer, value.magnitude <= 1 << 53 {
            self = .int(value)
        } else if let value = node.number {
            self = .float(value)
        } else {
            self = node.withText { .string(Array($0)) } ?? .null
        }
    }

    /// Copies a part of a database: null where nothing is, else a leaf, or a map of what has children.
    ///
    /// Each node takes 16 bytes, its key and its text of `bytesLeft`, which is below 0 afterwards when it was not enough;
    /// then the value is not whole.
    init(_ node: Node, bytesLeft: inout Int) {
        bytesLeft -= 16
        if !node.isMap {
            bytesLeft -= node.withText { $0.count } ?? 0
            self = bytesLeft < 0 ? .null : FileValue(leaf: node)
            return
        }
        var members: [(key: [UInt8], value: FileValue)] = []
        // Depth is at most `Limits.depth`.
        node.visitChildren { key, child in
            bytesLeft -= key.count
            if bytesLeft >= 0 {
                members.append((Array(key), FileValue(child, bytesLeft: &bytesLeft)))
            }
            return bytesLeft >= 0
        }
        self = .map(FileMap(members))
    }
}
