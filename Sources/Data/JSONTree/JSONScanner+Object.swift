extension JSONScanner {
    /// Encodes an object whose `{` is next.
    mutating func readObject(_ values: inout ValueReader, depth: Int) throws(JSONError) {
        let start = offset
        offset += 1
        var map = values.openMap(at: scratch.used)
        var dots = DotMembers()
        var isFirst = true
        while true {
            let byte = try peek()
            if byte == 0x7D && isFirst { break }
            if byte != 0x22 { throw error(.unexpectedByte(byte)) }
            isFirst = false
            if !allowsAnyKey, offset + 1 < count,
                text[offset + 1] == 0x2E || text[offset + 1] == 0x5C,
                try readDotMember(&dots, depth: depth)
            {
                // A member with a meaning of its own: it is in `dots`.
            } else {
                if depth == Limits.depth { throw error(.tooDeep, at: start) }
                values.openMember(at: scratch.used)
                try readName(&values, &map)
                try expect(0x3A)
                try readMemberValue(&values, &map, depth: depth)
            }
            if try peek() == 0x7D { break }
            try expect(0x2C)
        }
        offset += 1
        if dots.isEmpty { return close(&values, map) }
        try close(&values, map, dots, objectStart: start)
    }

    /// Writes `n key` of a member's name and compares it with the name before.
    @inline(__always)
    mutating func readName(_ values: inout ValueReader, _ map: inout OpenMap)
        throws(JSONError)
    {
        let quote = offset
        offset += 1
        let start = scratch.used
        let byteCount = try copyText(to: start + 1)
        let key = scratch.bytes(start + 1, byteCount)
        if let fault = (allowsAnyKey ? KeyRule.anyText : .legal).fault(in: key) {
            throw error(.badKey(fault), at: quote)
        }
        if byteCount < 255 {
            scratch.base[start] = UInt8(byteCount)
            scratch.used = start + 1 + byteCount
        } else {
            scratch.move(start + 1..<start + 1 + byteCount, by: 2)
            scratch.base[start] = 255
            scratch.base.store16(byteCount, start + 1)
            scratch.used = start + 3 + byteCount
        }
        let count = values.memberCount
        if map.isInOrder, count - map.firstMember > 1 {
            let previous = scratch.entryKey(values.members[count - 2].offset)
            map.isInOrder = Key.compare(previous, scratch.entryKey(start)) < 0
        }
    }

    /// Reads a member named `.value`, `.priority` or `.sv`; false, with nothing consumed, for any other.
    mutating func readDotMember(_ dots: inout DotMembers, depth: Int) throws(JSONError) -> Bool {
        let quote = offset
        offset += 1
        let byteCount = try copyText(to: scratch.used)
        let name = scratch.bytes(scratch.used, byteCount)
        if name.elementsEqual(".value".utf8) {
            try expect(0x3A)
            dots.value = try readDotValue(orElse: .badValue)
        } else if name.elementsEqual(".priority".utf8) {
            try expect(0x3A)
            dots.priority = try readDotValue(orElse: .badPriority)
            if dots.priority?.node.kind == .boolean { throw error(.badPriority, at: quote) }
        } else if name.elementsEqual(".sv".utf8) {
            try expect(0x3A)
            dots.serverValue = try readServerValue(from: quote)
        } else {
            offset = quote
            return false
        }
        return true
    }

    /// A boolean, number, string or null, or an object that is a server value.
    private mutating func readDotValue(
        orElse reason: JSONError.Reason
    ) throws(JSONError) -> DotValue {
        let byte = try peek()
        let start = offset
        if byte == 0x5B { throw error(reason) }
        if byte != 0x7B {
            var values = ValueReader()
            let saved = scratch.used
            try readValue(&values, depth: 0)
            let node = finish(&values, from: saved)
            return DotValue(node: node, serverValue: nil)
        }
        offset += 1
        let quote = offset
        if try peek() == 0x22 {
            offset += 1
            let byteCount = try copyText(to: scratch.used)
            if scratch.bytes(scratch.used, byteCount).elementsEqual(".sv".utf8) {
                try expect(0x3A)
                let serverValue = try readServerValue(from: quote)
                if try peek() != 0x7D { throw error(.badServerValue, at: start) }
                offset += 1
                return DotValue(node: .absent, serverValue: serverValue)
            }
        }
        throw error(reason, at: start)
    }

    /// `"timestamp"` or `{"increment":number}`.
    private mutating func readServerValue(from start: Int) throws(JSONError) -> ServerValue {
        let byte = try peek()
        if byte == 0x22 {
            if try readString() == "timestamp" { return .timestamp }
        } else if byte == 0x7B {
            offset += 1
            if try peek() == 0x22, try readString() == "increment" {
                try expect(0x3A)
                let next = try peek()
                if next == 0x2D || next &- 48 <= 9 {
                    let step = try readNumber()
                    if try peek() == 0x7D {
                        offset += 1
                        return .increment(step)
                    }
                }
            }
        }
        throw error(.badServerValue, at: start)
    }

    /// Ends an object that has members with a dot.
    private mutating func close(
        _ values: inout ValueReader,
        _ map: OpenMap,
        _ dots: DotMembers,
        objectStart: Int
    ) throws(JSONError) {
        let members = map.firstMember..<values.memberCount
        let hasServerValues = values.serverValues.count > map.firstServerValue
        let fault = dots.fault(
            memberCount: members.count,
            isAlive: hasServerValues || values.members[members].contains { !$0.isAbsent }
        )
        if let fault { throw error(fault, at: objectStart) }
        if let serverValue = dots.serverValue {
            values.serverValues.append(RecordedServerValue(value: serverValue))
            return
        }
        let priority = dots.priority?.node ?? .absent
        if let value = dots.value, !value.isNull {
            scratch.used = map.start
            values.memberCount = map.firstMember
            if let serverValue = value.serverValue {
                values.serverValues.append(
                    RecordedServerValue(value: serverValue, priority: priority)
                )
            } else {
                appendValue(value.node.settingPriority(priority), &values)
            }
        } else {
            close(&values, map)
            if !priority.isAbsent, scratch.used == map.start, hasServerValues {
                values.serverValues.append(
                    RecordedServerValue(value: nil, priority: priority, isPriority: true)
                )
            } else if !priority.isAbsent {
                addPriority(priority, &values, from: map.start, firstReference: map.firstReference)
            }
        }
        if let serverValue = dots.priority?.serverValue {
            values.serverValues.append(RecordedServerValue(value: serverValue, isPriority: true))
        }
    }

    /// Writes a finished node as an entry holds it.
    private mutating func appendValue(_ node: Node, _ values: inout ValueReader) {
        Node.withEncoded(node) { bytes, references in
            scratch.reserve(to: scratch.used + bytes.count)
            scratch.append(bytes.pointer, bytes.count)
            if let first = references.first { values.references.append(first) }
            if let second = references.second { values.references.append(second) }
        }
    }

    /// Puts a priority before the value just written.
    private mutating func addPriority(
        _ priority: Node,
        _ values: inout ValueReader,
        from start: Int,
        firstReference: Int
    ) {
        let end = scratch.used
        if end == start { return }
        var block: Block?
        var prefix: [UInt8] = [TypeByte.priority]
        Node.withEncoded(priority) { bytes, references in
            prefix.append(contentsOf: bytes)
            block = references.second
        }
        scratch.move(start..<end, by: prefix.count)
        for (index, byte) in prefix.enumerated() { scratch.base[start + index] = byte }
        scratch.used = end + prefix.count
        if let block { values.references.insert(block, at: firstReference) }
    }
}

/// The members of one object whose names start with a dot.
struct DotMembers {
    var value: DotValue?
    var priority: DotValue?
    var serverValue: ServerValue?

    var isEmpty: Bool { value == nil && priority == nil && serverValue == nil }

    /// Whether a member of that name has a meaning of its own.
    static func isName(_ name: [UInt8]) -> Bool {
        [".value", ".priority", ".sv"].contains { name.elementsEqual($0.utf8) }
    }
}

/// What `.value` or `.priority` holds.
struct DotValue {
    let node: Node
    let serverValue: ServerValue?

    var isNull: Bool { node.isAbsent && serverValue == nil }
}
