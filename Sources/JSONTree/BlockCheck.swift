/// Checks that bytes from outside are what a block must hold; see `Encoding.swift`.
///
/// Every length, offset, order, tag, number, key and text. Nothing is read before its length is
/// known to lie within the bytes.
struct BlockCheck {
    /// The longest block: a string with its header, and before it the longest priority.
    static let byteCountLimit = Limits.stringByteCount + 1024

    /// The largest page: a cut leaves less than (page + entry) / 2 + entry bytes, an entry is less
    /// than 1.8 KiB. Lengths of maps are 16-bit, so an edit of a page this size cannot overflow.
    static let pageByteCountLimit = 4 * Size.page

    private let bytes: Bytes
    private let references: [Block]
    private let keys: KeyRule
    private var referencesUsed = 0

    /// Children of the map that the block is the top of.
    private(set) var childCount = 0
    /// Levels of branches.
    private(set) var height = 0
    /// Levels of maps and blocks below; at first those below the references.
    var depth = 0

    init(_ bytes: Bytes, references: [Block], keys: KeyRule = .legal) {
        self.bytes = bytes
        self.references = references
        self.keys = keys
    }

    /// Checks the whole block.
    mutating func run() throws(NodeDecodingError) {
        let below = depth
        do throws(NodeCheckError) {
            if bytes.count > 0, bytes[0] == Tag.branch {
                try checkBranch()
            } else {
                let (body, end) = try checkTop()
                if end != bytes.count { throw NodeCheckError(.badLength, end) }
                childCount = topChildCount(body)
            }
            if referencesUsed != references.count { throw NodeCheckError(.badReference, 0) }
            depth = max(depth, below + 1)
            if depth > Limits.encodingDepth { throw NodeCheckError(.tooDeep, 0) }
        } catch {
            throw .badBlock(error.fault, offset: error.offset)
        }
    }

    private func topChildCount(_ body: Int) -> Int {
        switch bytes[body] {
        case Tag.reference: references[references.count - 1].childCount
        case Tag.map: bytes.place.load16(body + 3)
        default: 0
        }
    }

    /// Checks a text, a map, or a priority and its value; returns where the body is and ends.
    private mutating func checkTop() throws(NodeCheckError) -> (body: Int, end: Int) {
        try need(0, 1)
        switch bytes[0] {
        case Tag.shortText, Tag.longText: return (0, try checkText(0, limit: .max))
        case Tag.map: return (0, try checkMap(0, level: 0, limit: BlockCheck.pageByteCountLimit))
        case Tag.priority:
            let body = try checkPriority(1, mayRefer: true)
            try need(body, 1)
            if bytes[body] == Tag.reference { return (body, try checkReference(body)) }
            // Level 2: a map beside a priority is bytes alone.
            return (body, try checkBody(body, level: 2))
        default: throw NodeCheckError(.badTag, 0)
        }
    }

    /// Checks a boolean or number that is a node by itself.
    mutating func runScalar() throws(NodeDecodingError) {
        do throws(NodeCheckError) {
            if try checkBody(0, level: 0) != bytes.count { throw NodeCheckError(.badLength, 0) }
        } catch {
            throw .badBlock(error.fault, offset: error.offset)
        }
    }

    /// Checks the value of an entry and returns where it ends.
    ///
    /// `level` is 1 for entries of the block's own map; only they refer to blocks.
    private mutating func checkValue(_ offset: Int, level: Int) throws(NodeCheckError) -> Int {
        try need(offset, 1)
        if bytes[offset] != Tag.priority { return try checkBody(offset, level: level) }
        let body = try checkPriority(offset + 1, mayRefer: level == 1)
        return try checkBody(body, level: level)
    }

    private mutating func checkPriority(
        _ offset: Int,
        mayRefer: Bool
    ) throws(NodeCheckError) -> Int {
        try need(offset, 1)
        switch bytes[offset] {
        case Tag.integer8, Tag.integer32, Tag.integer64, Tag.double: return try checkNumber(offset)
        case Tag.shortText, Tag.longText: return try checkText(offset, limit: Size.embedded)
        case Tag.reference where mayRefer:
            let end = try checkReference(offset)
            if references[referencesUsed - 1].childCount > 0 {
                throw NodeCheckError(.badReference, offset)
            }
            return end
        default: throw NodeCheckError(.badTag, offset)
        }
    }

    private mutating func checkBody(_ offset: Int, level: Int) throws(NodeCheckError) -> Int {
        try need(offset, 1)
        switch bytes[offset] {
        case Tag.no, Tag.yes: return offset + 1
        case Tag.integer8, Tag.integer32, Tag.integer64, Tag.double: return try checkNumber(offset)
        case Tag.shortText, Tag.longText: return try checkText(offset, limit: Size.embedded)
        case Tag.map: return try checkMap(offset, level: level, limit: Size.embedded)
        case Tag.reference where level == 1: return try checkReference(offset)
        default: throw NodeCheckError(.badTag, offset)
        }
    }

    private mutating func checkReference(_ offset: Int) throws(NodeCheckError) -> Int {
        try need(offset, 3)
        let number = bytes.place.load16(offset + 1)
        if number != referencesUsed || number >= references.count {
            throw NodeCheckError(.badReference, offset)
        }
        if references[number].start[0] == Tag.priority {
            throw NodeCheckError(.badReference, offset)
        }
        referencesUsed += 1
        return offset + 3
    }

    /// Numbers are in their shortest form and finite; whole doubles up to 2^53 are integers.
    private func checkNumber(_ offset: Int) throws(NodeCheckError) -> Int {
        let size: Int
        switch bytes[offset] {
        case Tag.integer8: size = 2
        case Tag.integer32: size = 5
        default: size = 9
        }
        try need(offset, size)
        let place = bytes.place + offset
        if bytes[offset] == Tag.double {
            let number = Double(bitPattern: place.load64(1))
            if !number.isFinite { throw NodeCheckError(.badNumber, offset) }
            if case .integer = Node(double: number).storage {
                throw NodeCheckError(.badNumber, offset)
            }
        } else if case .integer(let number) = Node(scalar: place).storage {
            let shortest = Int8(exactly: number) != nil ? 2 : Int32(exactly: number) != nil ? 5 : 9
            if shortest != size { throw NodeCheckError(.badNumber, offset) }
        }
        return offset + size
    }

    private func checkText(_ offset: Int, limit: Int) throws(NodeCheckError) -> Int {
        let isShort = bytes[offset] == Tag.shortText
        let header = isShort ? 2 : 5
        try need(offset, header)
        let place = bytes.place + offset
        let byteCount = isShort ? Int(place[1]) : Int(place.load32(1))
        if byteCount > Limits.stringByteCount { throw NodeCheckError(.badLength, offset) }
        if !isShort && byteCount < 256 { throw NodeCheckError(.badLength, offset) }
        if header + byteCount > limit { throw NodeCheckError(.badLength, offset) }
        try need(offset + header, byteCount)
        let text = (place + header).bytes(byteCount)
        if UTF8Validity.prefixLength(text) != byteCount { throw NodeCheckError(.badText, offset) }
        return offset + header + byteCount
    }

    private mutating func checkMap(
        _ offset: Int,
        level: Int,
        limit: Int
    ) throws(NodeCheckError) -> Int {
        if level >= Limits.encodingDepth { throw NodeCheckError(.tooDeep, offset) }
        depth = max(depth, level + 1)
        let (end, count) = try checkHeader(offset)
        if end - offset > limit { throw NodeCheckError(.badLength, offset) }
        var place = offset + Size.mapHeader + 2 * count
        var previous: Bytes?
        for index in 0..<count {
            if bytes.place.load16(offset + Size.mapHeader + 2 * index) != place - offset {
                throw NodeCheckError(.badOffset, offset)
            }
            let key = try checkKey(&place, after: previous)
            previous = key
            place = try checkValue(place, level: level + 1)
        }
        if place != end { throw NodeCheckError(.badLength, offset) }
        return end
    }

    /// Checks size and count of a map or branch; returns its end and the count.
    private func checkHeader(_ offset: Int) throws(NodeCheckError) -> (end: Int, count: Int) {
        try need(offset, Size.mapHeader)
        let place = bytes.place + offset
        let size = place.load16(1)
        let count = place.load16(3)
        if count == 0 || size < Size.mapHeader + 2 * count {
            throw NodeCheckError(.badLength, offset)
        }
        try need(offset, size)
        return (offset + size, count)
    }

    /// Reads the key at `place`, moves behind it, and checks that it comes after `previous`.
    private func checkKey(
        _ place: inout Int,
        after previous: Bytes?
    ) throws(NodeCheckError) -> Bytes {
        let start = place
        try need(place, 1)
        var byteCount = Int(bytes[place])
        place += 1
        if byteCount == 255 {
            try need(place, 2)
            byteCount = bytes.place.load16(place)
            place += 2
            if byteCount < 255 { throw NodeCheckError(.badLength, start) }
        }
        try need(place, byteCount)
        let key = bytes.slice(place..<place + byteCount)
        place += byteCount
        if keys.fault(in: key) != nil || Key.encodingFault(in: key) != nil {
            throw NodeCheckError(.badKey, start)
        }
        if let previous, Key.compare(previous, key) >= 0 { throw NodeCheckError(.badOrder, start) }
        return key
    }

    /// A branch's keys from the second on are in order and each bounds the pages on both of its
    /// sides; the first bounds nothing, see `Tag`.
    private mutating func checkBranch() throws(NodeCheckError) {
        let (end, count) = try checkHeader(0)
        if end != bytes.count { throw NodeCheckError(.badLength, end) }
        if count != references.count || count > Size.fanOut {
            throw NodeCheckError(.badReference, 0)
        }
        referencesUsed = count
        var place = Size.mapHeader + 2 * count
        var previous: Bytes?
        height = references[0].height + 1
        for index in 0..<count {
            if bytes.place.load16(Size.mapHeader + 2 * index) != place {
                throw NodeCheckError(.badOffset, place)
            }
            let start = place
            let key = try checkKey(&place, after: previous)
            if index > 0 { previous = key }
            let page = references[index]
            if !page.isMap || page.height + 1 != height {
                throw NodeCheckError(.badReference, start)
            }
            if index > 0 {
                let isBelow = references[index - 1].withLastKey { Key.compare($0, key) < 0 }
                let isAbove = page.withFirstKey { Key.compare($0, key) >= 0 }
                if !isBelow || !isAbove { throw NodeCheckError(.badOrder, start) }
            }
            childCount += page.childCount
        }
        if place != end { throw NodeCheckError(.badLength, place) }
    }

    private func need(_ offset: Int, _ byteCount: Int) throws(NodeCheckError) {
        if offset + byteCount > bytes.count { throw NodeCheckError(.badLength, offset) }
    }
}

/// A fault and where in the block it is.
struct NodeCheckError: Error {
    let fault: NodeFault
    let offset: Int

    init(_ fault: NodeFault, _ offset: Int) {
        self.fault = fault
        self.offset = offset
    }
}

extension Block {
    /// Lends the first key of the map that this is the top or a page of.
    func withFirstKey<R>(_ body: (Bytes) -> R) -> R {
        if isBranch { return withReference(0) { $0.withFirstKey(body) } }
        return withExtendedLifetime(self) { body(Entries(start).key(0)) }
    }

    /// Lends the last key of the map that this is the top or a page of.
    func withLastKey<R>(_ body: (Bytes) -> R) -> R {
        if isBranch { return withReference(referenceCount - 1) { $0.withLastKey(body) } }
        return withExtendedLifetime(self) {
            let entries = Entries(start)
            return body(entries.key(entries.count - 1))
        }
    }
}
