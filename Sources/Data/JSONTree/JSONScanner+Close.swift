/// Turning the members in scratch memory into a map.
extension JSONScanner {
    /// Ends an object or array: its entries become an embedded map, or blocks and a `0A`.
    mutating func close(_ values: inout ValueReader, _ map: OpenMap) {
        if !map.isInOrder || map.hasAbsent { arrange(&values, map) }
        let count = values.memberCount - map.firstMember
        if count == 0 {
            scratch.used = map.start
            return
        }
        let end = scratch.used
        let header = Size.mapHeader + 2 * count
        let size = header + end - map.start
        if size > Size.embedded || values.references.count > map.firstReference {
            return closeInBlocks(&values, map)
        }
        scratch.move(map.start..<end, by: header)
        let to = scratch.base + map.start
        to.writeHeader(TypeByte.map, size: size, count: count)
        for index in 0..<count {
            let offset = values.members[map.firstMember + index].offset - map.start + header
            to.store16(offset, Size.mapHeader + 2 * index)
        }
        values.memberCount = map.firstMember
        scratch.used = map.start + size
    }

    /// Makes blocks of the entries and leaves `0A` instead.
    private mutating func closeInBlocks(_ values: inout ValueReader, _ map: OpenMap) {
        let members = values.memberCount
        var pages: [Block] = []
        var first = map.firstMember
        while first < members {
            let start = values.members[first].offset
            var next = first + 1
            while next < members {
                let size =
                    Size.mapHeader + 2 * (next + 1 - first) + values.members[next].end - start
                let references =
                    values.members[next].endReference - values.members[first].firstReference
                if size > Size.page || references > Size.fanOut { break }
                next += 1
            }
            pages.append(makePage(&values, first..<next, start..<values.members[next - 1].end))
            first = next
        }
        while pages.count > 1 { pages = Block.branches(over: pages) }
        values.memberCount = map.firstMember
        values.references.removeSubrange(map.firstReference...)
        values.references.append(pages[0])
        let to = scratch.base + map.start
        to[0] = TypeByte.reference
        to.store16(0, 1)
        scratch.used = map.start + 3
    }

    private func makePage(
        _ values: inout ValueReader,
        _ range: Range<Int>,
        _ bytes: Range<Int>
    ) -> Block {
        let firstReference = Int(values.members[range.lowerBound].firstReference)
        let endReference = Int(values.members[range.upperBound - 1].endReference)
        let header = Size.mapHeader + 2 * range.count
        let block = Block.make(
            byteCount: header + bytes.count,
            childCount: range.count,
            referenceCount: endReference - firstReference
        )
        for index in firstReference..<endReference {
            block.setReference(index - firstReference, values.references[index])
        }
        let to = block.mutableStart
        to.writeHeader(TypeByte.map, size: header + bytes.count, count: range.count)
        for index in range {
            let offset = values.members[index].offset - bytes.lowerBound + header
            to.store16(offset, Size.mapHeader + 2 * (index - range.lowerBound))
        }
        (to + header).copy(from: scratch.base.pointer + bytes.lowerBound, count: bytes.count)
        block.numberReferences()
        return block
    }

    /// Puts the entries in key order, keeps the last of equal keys and drops the absent ones.
    private mutating func arrange(_ values: inout ValueReader, _ map: OpenMap) {
        if !map.isInOrder { sortMembers(&values, from: map.firstMember) }
        let end = scratch.used
        scratch.reserve(to: end + (end - map.start))
        let hasReferences = values.references.count > map.firstReference
        var references: [Block] = []
        var kept = map.firstMember
        for index in map.firstMember..<values.memberCount {
            var member = values.members[index]
            if index + 1 < values.memberCount,
                isSameKey(member.offset, values.members[index + 1].offset)
            {
                for dropped in member.serverValueRange {
                    values.serverValues[dropped].isDropped = true
                }
                continue
            }
            if member.isAbsent { continue }
            let moved = scratch.used
            scratch.append(scratch.base.pointer + member.offset, member.end - member.offset)
            member.offset = map.start + moved - end
            member.end = map.start + scratch.used - end
            if hasReferences {
                let first = map.firstReference + references.count
                references.append(contentsOf: values.references[member.referenceRange])
                member.firstReference = UInt32(first)
                member.endReference = UInt32(map.firstReference + references.count)
            }
            values.members[kept] = member
            kept += 1
        }
        scratch.move(end..<scratch.used, by: map.start - end)
        scratch.used = map.start + scratch.used - end
        values.memberCount = kept
        if hasReferences {
            values.references.replaceSubrange(map.firstReference..., with: references)
        }
    }

    /// Sorts by key; equal keys stay in the order of the text.
    private func sortMembers(_ values: inout ValueReader, from first: Int) {
        let scratch = scratch
        if values.memberCount - first > 32 {
            values.members[first..<values.memberCount].sort { isBefore(scratch, $0, $1) }
            return
        }
        for index in first + 1..<values.memberCount {
            let member = values.members[index]
            var slot = index
            while slot > first, isBefore(scratch, member, values.members[slot - 1]) {
                values.members[slot] = values.members[slot - 1]
                slot -= 1
            }
            values.members[slot] = member
        }
    }

    private func isSameKey(_ a: Int, _ b: Int) -> Bool {
        scratch.entryKey(a) == scratch.entryKey(b)
    }

    /// Makes a node of the value that lies in the scratch memory from `start` on.
    mutating func finish(_ values: inout ValueReader, from start: Int = 0) -> Node {
        defer { scratch.used = start }
        if scratch.used == start { return .absent }
        let pointer = scratch.base.pointer + start
        if values.references.isEmpty {
            switch pointer[0] {
            case TypeByte.shortText, TypeByte.longText, TypeByte.map, TypeByte.priority:
                return Node(Block.copy(of: pointer))
            default: return Node(scalar: pointer)
            }
        }
        if pointer[0] == TypeByte.reference { return Node(values.references[0]) }
        // A priority, then the value; the blocks of both are in that order.
        let size = scratch.used - start
        let childCount = values.references[values.references.count - 1].childCount
        let block = Block.make(
            byteCount: size,
            childCount: childCount,
            referenceCount: values.references.count
        )
        for (index, reference) in values.references.enumerated() {
            block.setReference(index, reference)
        }
        block.mutableStart.copy(from: pointer, count: size)
        block.numberOwnReferences()
        if block.start[block.start.prefixSize] != TypeByte.reference {
            block.childCount = Block.childCount(ofEmbedded: block.start)
        }
        return Node(block)
    }
}

private func isBefore(_ scratch: Scratch, _ a: Member, _ b: Member) -> Bool {
    let order = Key.compare(scratch.entryKey(a.offset), scratch.entryKey(b.offset))
    return order == 0 ? a.offset < b.offset : order < 0
}

extension Block {
    /// Branches over `blocks`, filled evenly.
    static func branches(over blocks: [Block]) -> [Block] {
        let count = (blocks.count + Size.fanOut - 1) / Size.fanOut
        return (0..<count).map { index in
            let first = index * blocks.count / count
            let next = (index + 1) * blocks.count / count
            return Block.branch(Array(blocks[first..<next]))
        }
    }
}
