/// Some members of one object or array, read one after the other.
struct MemberRun {
    /// A member without a node: it is null, or holds server values.
    struct Absence {
        let key: [UInt8]
        /// Its part of the run's server values.
        let serverValues: Range<Int>
        let isAbsent: Bool
    }

    /// The map of the members; absent when none has a value.
    let node: Node
    /// Paths are counted from the object or array that the run is of.
    let serverValues: [RecordedServerValue]
    let absences: [Absence]
    /// The least and the greatest key, null members included.
    let firstKey: [UInt8]
    let lastKey: [UInt8]
    /// Whether the keys are in order; else one may occur twice.
    let isInOrder: Bool
    /// Whether some member had a value, also one that a later member of its name replaced.
    let isAlive: Bool
    /// Keys on the longest path down, relative to the whole value.
    let deepest: Int
    /// The members as those of a JSON object; empty when the text is not kept.
    var text: [UInt8] = []

    /// A name as it begins a member.
    static func text(_ key: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(.export)
        key.withBytes { writer.writeString($0) }
        writer.write(0x3A)
        var text: [UInt8] = []
        writer.take(into: &text)
        return text
    }
}

extension JSONScanner {
    /// Reads members up to `cut`, or up to the first whose name starts with a dot and means something.
    ///
    /// Such a member is read alone, into the container. The comma or bracket at `cut` is not consumed;
    /// `cut` is `.max` when the text ends before there is one. `start` is the offset of the container's
    /// bracket, below 0. Nil when no member with a key was read.
    mutating func readRun(
        _ container: inout JSONCutter.Container,
        _ isFirst: Bool,
        cut: Int,
        _ start: Int,
        _ keepsText: Bool
    ) throws(JSONError) -> MemberRun? {
        var values = ValueReader()
        var map = values.openMap(at: 0)
        var run: [UInt8] = []
        var isFirst = isFirst
        let closing: UInt8 = container.isArray ? 0x5D : 0x7D
        while true {
            let byte = try peek()
            if byte == closing && isFirst { break }
            if container.isArray ? byte == closing : byte != 0x22 {
                throw error(.unexpectedByte(byte))
            }
            isFirst = false
            let member = offset
            if !container.isArray, offset + 1 < count,
                text[offset + 1] == 0x2E || text[offset + 1] == 0x5C
            {
                if values.memberCount > 0 {
                    if try isDotMember() { break }
                } else if try readDotMember(&container.dots, depth: container.depth) {
                    if offset >= cut { break }
                    if try peek() == closing { break }
                    if offset == cut { break }
                    try expect(0x2C)
                    continue
                }
            }
            if container.depth == Limits.depth { throw error(.tooDeep, at: start) }
            values.openMember(at: scratch.used)
            if container.isArray {
                appendIndex(container.nextIndex)
                if keepsText { run += Array("\"\(container.nextIndex)\":".utf8) }
                container.nextIndex += 1
            } else {
                try readName(&values, &map)
                try expect(0x3A)
            }
            try readMemberValue(&values, &map, depth: container.depth)
            if keepsText { run += (text + member).bytes(offset - member) }
            if try peek() == closing { break }
            if offset == cut { break }
            try expect(0x2C)
            if keepsText { run.append(0x2C) }
        }
        if values.memberCount == 0 { return nil }
        if run.last == 0x2C { run.removeLast() }
        container.memberCount += values.memberCount
        return finishRun(&values, map, text: run)
    }

    mutating func readMember(_ key: [UInt8], depth: Int) throws(JSONError) -> MemberRun {
        var values = ValueReader()
        var map = values.openMap(at: 0)
        values.openMember(at: 0)
        scratch.reserve(to: entryHeaderSize(key.count))
        key.withBytes { _ = scratch.base.writeKey($0) }
        scratch.used = entryHeaderSize(key.count)
        try readMemberValue(&values, &map, depth: depth)
        return finishRun(&values, map, text: [])
    }

    /// Whether the next name is one of those that start with a dot and mean something.
    private mutating func isDotMember() throws(JSONError) -> Bool {
        let quote = offset
        offset += 1
        let byteCount = try copyText(to: scratch.used)
        let isDot = DotMembers.isName(scratch.bytes(scratch.used, byteCount).array)
        offset = quote
        return isDot
    }

    private mutating func finishRun(
        _ values: inout ValueReader,
        _ map: OpenMap,
        text: [UInt8]
    ) -> MemberRun {
        var first = 0
        var last = values.memberCount - 1
        if !map.isInOrder {
            for index in 0..<values.memberCount {
                let key = scratch.entryKey(values.members[index].offset)
                if Key.compare(key, scratch.entryKey(values.members[first].offset)) < 0 {
                    first = index
                }
                if Key.compare(key, scratch.entryKey(values.members[last].offset)) > 0 {
                    last = index
                }
            }
        }
        let firstKey = scratch.entryKey(values.members[first].offset).array
        let lastKey = scratch.entryKey(values.members[last].offset).array
        var absences: [MemberRun.Absence] = []
        if map.hasAbsent || !values.serverValues.isEmpty {
            for member in values.members[..<values.memberCount]
            where member.isAbsent || !member.serverValueRange.isEmpty {
                absences.append(
                    MemberRun.Absence(
                        key: scratch.entryKey(member.offset).array,
                        serverValues: member.serverValueRange,
                        isAbsent: member.isAbsent
                    )
                )
            }
        }
        let isAlive = values.members[..<values.memberCount].contains { !$0.isAbsent }
        close(&values, map)
        let node = finish(&values)
        return MemberRun(
            node: node,
            serverValues: values.serverValues,
            absences: absences,
            firstKey: firstKey,
            lastKey: lastKey,
            isInOrder: map.isInOrder,
            isAlive: isAlive,
            deepest: values.deepest,
            text: text
        )
    }

    /// Reads members of an update's own object up to `cut`.
    mutating func readEntries(
        _ isFirst: Bool,
        cut: Int
    ) throws(JSONError) -> [(path: String, draft: Draft)] {
        var entries: [(path: String, draft: Draft)] = []
        var isFirst = isFirst
        while true {
            let byte = try peek()
            if byte == 0x7D && isFirst { break }
            if byte != 0x22 { throw error(.unexpectedByte(byte)) }
            isFirst = false
            let path = try readString()
            try expect(0x3A)
            entries.append((path, try readDraft()))
            if try peek() == 0x7D { break }
            if offset == cut { break }
            try expect(0x2C)
        }
        return entries
    }
}
