/// What a scanner keeps beside the scratch memory while it encodes one value.
struct ValueReader {
    /// The members of all objects and arrays now open, outermost first; what lies behind
    /// `memberCount` is left over. Cheaper than removing elements at every closing bracket.
    var members: [Member] = []
    var memberCount = 0

    /// Blocks that the encoding refers to, in the order of their locations in it.
    var references: [Block] = []

    /// In the order of the text.
    var serverValues: [RecordedServerValue] = []

    /// Keys on the longest way down so far.
    var deepest = 0

    /// Starts an object or array whose first entry will begin at `start` of the scratch memory.
    @inline(__always)
    func openMap(at start: Int) -> OpenMap {
        OpenMap(
            start: start,
            firstMember: memberCount,
            firstReference: references.count,
            firstServerValue: serverValues.count
        )
    }

    /// Starts a member whose entry begins at `offset` of the scratch memory.
    @inline(__always)
    mutating func openMember(at offset: Int) {
        let member = Member(
            offset: offset,
            firstReference: references.count,
            firstServerValue: serverValues.count
        )
        if memberCount < members.count {
            members[memberCount] = member
        } else {
            // One allocation for most messages.
            if members.isEmpty { members.reserveCapacity(16) }
            members.append(member)
        }
        memberCount += 1
    }

    @inline(__always)
    mutating func closeMember(at end: Int, isAbsent: Bool) {
        let last = memberCount - 1
        members[last].end = end
        members[last].endReference = UInt32(references.count)
        members[last].endServerValue = UInt32(serverValues.count)
        members[last].isAbsent = isAbsent
    }

    /// Puts the key of the member opened last before the paths of its server values.
    mutating func addKey(_ scratch: Scratch, toServerValuesFrom first: Int) {
        let key = Array(scratch.entryKey(members[memberCount - 1].offset))
        for index in first..<serverValues.count { serverValues[index].reversedKeys.append(key) }
    }
}

/// One member of an open object or array.
struct Member {
    /// Where its entry begins and ends.
    var offset: Int
    var end = 0
    /// Its part of `references`.
    var firstReference: UInt32
    var endReference: UInt32 = 0
    /// Its part of `serverValues`.
    let firstServerValue: UInt32
    var endServerValue: UInt32 = 0
    /// The entry has a key and no value: the member is null, or a server value.
    var isAbsent = false

    init(offset: Int, firstReference: Int, firstServerValue: Int) {
        self.offset = offset
        self.firstReference = UInt32(firstReference)
        self.firstServerValue = UInt32(firstServerValue)
    }

    var referenceRange: Range<Int> { Int(firstReference)..<Int(endReference) }

    var serverValueRange: Range<Int> { Int(firstServerValue)..<Int(endServerValue) }
}

/// An object or array being read.
struct OpenMap {
    /// Where its first entry begins.
    let start: Int
    let firstMember: Int
    let firstReference: Int
    let firstServerValue: Int
    /// No member so far is at or before the one before it in key order.
    var isInOrder = true
    var hasAbsent = false
}

/// A server value and the keys that lead to it, collected from the inside out.
struct RecordedServerValue {
    /// Nil for the literal priority of a map that has only server values, and so no node yet.
    let value: ServerValue?
    var priority = Node.absent
    var isPriority = false
    var reversedKeys: [[UInt8]] = []
    /// Whether a later member of the same name replaces it.
    var isDropped = false

    var target: WriteTarget {
        let path = Path(reversedKeys.reversed().map { Key(unchecked: $0) })
        return WriteTarget(path: path, isPriority: isPriority)
    }
}
