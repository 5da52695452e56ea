/// From text straight to the encoding: no tree in between, one allocation for a small value.
///
/// Each value is appended to the scratch memory. An absent value (null, an object without live
/// members) writes nothing. What an entry refers to waits in `references`, in the order of the
/// text; the numbers of references stay 0 until a page is made of them.
extension JSONScanner {
    /// Reads a value in the form that writes take.
    ///
    /// Scalars, objects, arrays (indexes become keys), `.value`, `.priority` and `.sv`. Depth is at
    /// most `Limits.depth` keys; of equal members the last one counts.
    package mutating func readDraft() throws(JSONError) -> Draft {
        allowsAnyKey = false
        var values = ValueReader()
        try readValue(&values, depth: 0)
        let node = finish(&values)
        return Draft(node: node, depth: values.deepest, recorded: values.serverValues)
    }

    /// Reads a value without server values.
    ///
    /// - Parameter anyKeys: Takes every member name of at most `Limits.keyByteCount` bytes as a key,
    ///   with no meaning for dots: the form of token claims.
    /// - Returns: The node; absent for null and for an object without live members.
    /// - Throws: `JSONError` with the offset of the fault.
    package mutating func readNode(anyKeys: Bool = false) throws(JSONError) -> Node {
        _ = try peek()
        let start = offset
        if !anyKeys {
            let draft = try readDraft()
            if !draft.serverValues.isEmpty { throw error(.unexpectedServerValue, at: start) }
            return draft.node
        }
        allowsAnyKey = true
        var values = ValueReader()
        try readValue(&values, depth: 0)
        return finish(&values)
    }

    /// Encodes the next value, `depth` keys below the top.
    mutating func readValue(_ values: inout ValueReader, depth: Int) throws(JSONError) {
        switch try peek() {
        case 0x22: try readText(&values)
        case 0x7B: try readObject(&values, depth: depth)
        case 0x5B: try readArray(&values, depth: depth)
        case 0x74:
            try expect(word: "true")
            append(Node(true))
        case 0x66:
            try expect(word: "false")
            append(Node(false))
        case 0x6E: try expect(word: "null")
        default: append(try readNumber())
        }
    }

    @inline(__always)
    private mutating func append(_ scalar: Node) {
        scratch.reserve(to: scratch.used + 9)
        scratch.used += Node.encodeScalar(scalar, scratch.base + scratch.used)
    }

    private mutating func readText(_ values: inout ValueReader) throws(JSONError) {
        let quote = offset
        offset += 1
        let start = scratch.used
        let byteCount = try copyText(to: start + 2)
        if byteCount > Limits.stringByteCount { throw error(.stringTooLong, at: quote) }
        if byteCount < 256 {
            scratch.base[start] = TypeByte.shortText
            scratch.base[start + 1] = UInt8(byteCount)
            scratch.used = start + 2 + byteCount
            return
        }
        if byteCount + 5 > Size.embedded {
            appendReference(Node(text: scratch.bytes(start + 2, byteCount)), &values)
            return
        }
        scratch.move(start + 2..<start + 2 + byteCount, by: 3)
        scratch.base[start] = TypeByte.longText
        scratch.base.store32(UInt32(byteCount), start + 1)
        scratch.used = start + 5 + byteCount
    }

    /// Writes `0A` for a value in a block of its own.
    private mutating func appendReference(_ node: Node, _ values: inout ValueReader) {
        guard case .packed(let block, 0) = node.storage else {
            preconditionFailure("only whole blocks are referred to")
        }
        values.references.append(block)
        scratch.reserve(to: scratch.used + 3)
        scratch.base[scratch.used] = TypeByte.reference
        scratch.base.store16(0, scratch.used + 1)
        scratch.used += 3
    }

    private mutating func readArray(_ values: inout ValueReader, depth: Int) throws(JSONError) {
        let start = offset
        offset += 1
        var map = values.openMap(at: scratch.used)
        var index = 0
        var isFirst = true
        while true {
            if try peek() == 0x5D {
                if !isFirst { throw error(.unexpectedByte(0x5D)) }
                break
            }
            isFirst = false
            if depth == Limits.depth { throw error(.tooDeep, at: start) }
            values.openMember(at: scratch.used)
            appendIndex(index)
            try readMemberValue(&values, &map, depth: depth)
            index += 1
            let next = try peek()
            if next == 0x5D { break }
            try expect(0x2C)
        }
        offset += 1
        close(&values, map)
    }

    /// Writes `n key` for an array index.
    mutating func appendIndex(_ index: Int) {
        scratch.reserve(to: scratch.used + 24)
        let start = scratch.used
        var digits = 1
        var rest = index
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        scratch.base[start] = UInt8(digits)
        rest = index
        for offset in stride(from: start + digits, to: start, by: -1) {
            scratch.base[offset] = UInt8(48 + rest % 10)
            rest /= 10
        }
        scratch.used = start + 1 + digits
    }

    /// Reads the value of the member just opened; its entry stays without a value when absent.
    mutating func readMemberValue(
        _ values: inout ValueReader,
        _ map: inout OpenMap,
        depth: Int
    ) throws(JSONError) {
        let valueStart = scratch.used
        let firstServerValue = values.serverValues.count
        try readValue(&values, depth: depth + 1)
        let hasServerValues = values.serverValues.count > firstServerValue
        if hasServerValues { values.addKey(scratch, toServerValuesFrom: firstServerValue) }
        let isAbsent = scratch.used == valueStart
        values.closeMember(at: scratch.used, isAbsent: isAbsent)
        if isAbsent { map.hasAbsent = true }
        if !isAbsent || hasServerValues { values.deepest = max(values.deepest, depth + 1) }
    }
}

extension Draft {
    /// The draft of a node and the reader's records.
    init(node: Node, depth: Int, recorded: [RecordedServerValue]) {
        self.init(node: node, depth: depth)
        for entry in recorded where !entry.isDropped {
            if let value = entry.value {
                serverValues.append(
                    DraftServerValue(target: entry.target, value: value, priority: entry.priority)
                )
            } else {
                priorities.append(DraftPriority(path: entry.target.path, priority: entry.priority))
            }
        }
    }
}
