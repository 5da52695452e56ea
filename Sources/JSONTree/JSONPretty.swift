extension Node {
    /// The node as JSON text for people, ending in a line break.
    ///
    /// Two spaces a level, ` : ` between name and value, arrays on one line `[ 1, 2 ]`: the layout of
    /// the hosted service under `print=pretty`.
    package func prettyJSON(_ form: JSONForm) -> [UInt8] {
        var writer = JSONWriter(form)
        writer.writePretty(self, indent: 0)
        writer.write(0x0A)
        var out: [UInt8] = []
        writer.take(into: &out)
        return out
    }
}

extension JSONWriter {
    /// Writes a node, its lines after the first indented by `indent` levels.
    fileprivate mutating func writePretty(_ node: Node, indent: Int) {
        if !node.isMap {
            let priority = node.priority
            if form == .value || priority.isAbsent { return write(leaf: node.withoutPriority) }
            write(0x7B)
            writeLine("\".value\"", indent: indent + 1)
            write(leaf: node.withoutPriority)
            write(0x2C)
            writeLine("\".priority\"", indent: indent + 1)
            write(leaf: priority)
            return endObject(indent)
        }
        if form == .value, let last = ArrayRule.lastIndex(node) {
            return writePrettyArray(node, last, indent: indent)
        }
        write(0x7B)
        var isFirst = true
        node.visitChildren { key, child in
            if !isFirst { write(0x2C) }
            isFirst = false
            startLine(indent + 1)
            writeString(key)
            write(" : ")
            writePretty(child, indent: indent + 1)
            return true
        }
        if form == .export, node.hasPriority {
            write(0x2C)
            writeLine("\".priority\"", indent: indent + 1)
            write(leaf: node.priority)
        }
        endObject(indent)
    }

    private mutating func writePrettyArray(_ node: Node, _ last: Int, indent: Int) {
        write("[ ")
        var next = 0
        node.visitChildren { key, child in
            let index = ArrayRule.index(key) ?? next
            while next < index {
                write("null, ")
                next += 1
            }
            writePretty(child, indent: indent)
            next += 1
            if index < last { write(", ") }
            return true
        }
        write(" ]")
    }

    private mutating func writeLine(_ name: StaticString, indent: Int) {
        startLine(indent)
        write(name)
        write(" : ")
    }

    private mutating func endObject(_ indent: Int) {
        startLine(indent)
        write(0x7D)
    }

    private mutating func startLine(_ indent: Int) {
        write(0x0A)
        for _ in 0..<indent { write("  ") }
    }
}
