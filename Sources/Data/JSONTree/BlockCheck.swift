/// Checks that bytes from outside form a valid block; see `Encoding.swift`.
///
/// Checks every length, offset, order, type byte, number, key and text. Reads nothing before its
/// length is known to fit.
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
        if bytes.count > 0, bytes[0] == TypeByte.branch {
            try checkBranch()
        } else {
            let (body, end) = try checkTop()
            if end != bytes.count { throw .badBlock(.badLength, offset: end) }
            childCount = topChildCount(body)
        }
        if referencesUsed != references.count { throw .badBlock(.badReference, offset: 0) }
        depth = max(depth, below + 1)
        if depth > Limits.encodingDepth { throw .badBlock(.tooDeep, offset: 0) }
    }

    private func topChildCount(_ body: Int) -> Int {
        switch bytes[body] {
        case TypeByte.reference: references[references.count - 1].childCount
        case TypeByte.map: bytes.pointer.load16(body + 3)
        default: 0
        }
    }

    /// Checks a text, a map, or a priority and its value; returns where the body is and ends.
    private mutating func checkTop() throws(NodeDecodingError) -> (body: Int, end: Int) {
        try need(0, 1)
        switch bytes[0] {
        case TypeByte.shortText, TypeByte.longText: return (0, try checkText(0, limit: .max))
        case TypeByte.map:
            return (0, try checkMap(0, level: 0, limit: BlockCheck.pageByteCountLimit))
        case TypeByte.priority:
            let body = try checkPriority(1, mayRefer: true)
            try need(body, 1)
            if bytes[body] == TypeByte.reference { return (body, try checkReference(body)) }
            // Level 2: a map beside a priority is only bytes.
            return (body, try checkBody(body, level: 2))
        default: throw .badBlock(.badTypeByte, offset: 0)
        }
    }

    /// Checks a boolean or number that is a node by itself.
    mutating func runScalar() throws(NodeDecodingError) {
        if try checkBody(0, level: 0) != bytes.count { throw .badBlock(.badLength, offset: 0) }
    }

    /// Checks the value of an entry and returns where it ends.
    ///
    /// `level` is 1 for entries of the block's own map; only they refer to blocks.
    private mutating func checkValue(_ offset: Int, level: Int) throws(NodeDecodingError) -> Int {
        try need(offset, 1)
        if bytes[offset] != TypeByte.priority { return try checkBody(offset, level: level) }
        let body = try checkPriority(offset + 1, mayRefer: level == 1)
        return try checkBody(body, level: level)
    }

    private mutating func checkPriority(
        _ offset: Int,
        mayRefer: Bool
    ) throws(NodeDecodingError) -> Int {
        try need(offset, 1)
        switch bytes[offset] {
        case TypeByte.integer8, TypeByte.integer32, TypeByte.integer64, TypeByte.double:
            return try checkNumber(offset)
        case TypeByte.shortText, TypeByte.longText:
            return try checkText(offset, limit: Size.embedded)
        case TypeByte.reference where mayRefer:
            let end = try checkReference(offset)
            if references[referencesUsed - 1].childCount > 0 {
                throw .badBlock(.badReference, offset: offset)
            }
            return end
        default: throw .badBlock(.badTypeByte, offset: offset)
        }
    }

    private mutating func checkBody(_ offset: Int, level: Int) throws(NodeDecodingError) -> Int {
        try need(offset, 1)
        switch bytes[offset] {
        case TypeByte.no, TypeByte.yes: return offset + 1
        case TypeByte.integer8, TypeByte.integer32, TypeByte.integer64, TypeByte.double:
            return try checkNumber(offset)
        case TypeByte.shortText, TypeByte.longText:
            return try checkText(offset, limit: Size.embedded)
        case TypeByte.map: return try checkMap(offset, level: level, limit: Size.embedded)
        case TypeByte.reference where level == 1: return try checkReference(offset)
        default: throw .badBlock(.badTypeByte, offset: offset)
        }
    }

    private mutating func checkReference(_ offset: Int) throws(NodeDecodingError) -> Int {
        try need(offset, 3)
        let number = bytes.pointer.load16(offset + 1)
        if number != referencesUsed || number >= references.count {
            throw .badBlock(.badReference, offset: offset)
        }
        if references[number].start[0] == TypeByte.priority {
            throw .badBlock(.badReference, offset: offset)
        }
        referencesUsed += 1
        return offset + 3
    }

    /// Numbers are in their shortest form and finite; whole doubles up to 2^53 are integers.
    private func checkNumber(_ offset: Int) throws(NodeDecodingError) -> Int {
        let pointer = bytes.pointer + offset
        let size = pointer.valueSize
        try need(offset, size)
        if bytes[offset] == TypeByte.double {
            let number = Double(bitPattern: pointer.load64(1))
            if !number.isFinite { throw .badBlock(.badNumber, offset: offset) }
            if case .integer = Node(double: number).storage {
                throw .badBlock(.badNumber, offset: offset)
            }
        } else if case .integer(let number) = Node(scalar: pointer).storage {
            let shortest = Int8(exactly: number) != nil ? 2 : Int32(exactly: number) != nil ? 5 : 9
            if shortest != size { throw .badBlock(.badNumber, offset: offset) }
        }
        return offset + size
    }

    private func checkText(_ offset: Int, limit: Int) throws(NodeDecodingError) -> Int {
        let isShort = bytes[offset] == TypeByte.shortText
        let header = isShort ? 2 : 5
        try need(offset, header)
        let pointer = bytes.pointer + offset
        let byteCount = isShort ? Int(pointer[1]) : Int(pointer.load32(1))
        if byteCount > Limits.stringByteCount { throw .badBlock(.badLength, offset: offset) }
        if !isShort && byteCount < 256 { throw .badBlock(.badLength, offset: offset) }
        if header + byteCount > limit { throw .badBlock(.badLength, offset: offset) }
        try need(offset + header, byteCount)
        let text = (pointer + header).bytes(byteCount)
        if UTF8Validity.prefixLength(text) != byteCount {
            throw .badBlock(.badText, offset: offset)
        }
        return offset + header + byteCount
    }

    private mutating func checkMap(
        _ offset: Int,
        level: Int,
        limit: Int
    ) throws(NodeDecodingError) -> Int {
        if level >= Limits.encodingDepth { throw .badBlock(.tooDeep, offset: offset) }
        depth = max(depth, level + 1)
        let (end, count) = try checkHeader(offset)
        if end - offset > limit { throw .badBlock(.badLength, offset: offset) }
        var position = offset + Size.mapHeader + 2 * count
        var previous: Bytes?
        for index in 0..<count {
            if bytes.pointer.load16(offset + Size.mapHeader + 2 * index) != position - offset {
                throw .badBlock(.badOffset, offset: offset)
            }
            let key = try checkKey(&position, after: previous)
            previous = key
            position = try checkValue(position, level: level + 1)
        }
        if position != end { throw .badBlock(.badLength, offset: offset) }
        return end
    }

    /// Checks size and count of a map or branch; returns its end and the count.
    private func checkHeader(_ offset: Int) throws(NodeDecodingError) -> (end: Int, count: Int) {
        try need(offset, Size.mapHeader)
        let pointer = bytes.pointer + offset
        let size = pointer.load16(1)
        let count = pointer.load16(3)
        if count == 0 || size < Size.mapHeader + 2 * count {
            throw .badBlock(.badLength, offset: offset)
        }
        try need(offset, size)
        return (offset + size, count)
    }

    /// Reads the key at `position`, moves behind it, and checks that it comes after `previous`.
    private func checkKey(
        _ position: inout Int,
        after previous: Bytes?
    ) throws(NodeDecodingError) -> Bytes {
        let start = position
        try need(position, 1)
        var byteCount = Int(bytes[position])
        position += 1
        if byteCount == 255 {
            try need(position, 2)
            byteCount = bytes.pointer.load16(position)
            position += 2
            if byteCount < 255 { throw .badBlock(.badLength, offset: start) }
        }
        try need(position, byteCount)
        let key = bytes.slice(position..<position + byteCount)
        position += byteCount
        if keys.fault(in: key) != nil || Key.encodingFault(in: key) != nil {
            throw .badBlock(.badKey, offset: start)
        }
        if let previous, Key.compare(previous, key) >= 0 {
            throw .badBlock(.badOrder, offset: start)
        }
        return key
    }

    /// A branch's keys from the second on are in order and each bounds the pages on both of its
    /// sides; the first bounds nothing, see `TypeByte`.
    private mutating func checkBranch() throws(NodeDecodingError) {
        let (end, count) = try checkHeader(0)
        if end != bytes.count { throw .badBlock(.badLength, offset: end) }
        if count != references.count || count > Size.fanOut {
            throw .badBlock(.badReference, offset: 0)
        }
        referencesUsed = count
        var position = Size.mapHeader + 2 * count
        var previous: Bytes?
        height = references[0].height + 1
        for index in 0..<count {
            if bytes.pointer.load16(Size.mapHeader + 2 * index) != position {
                throw .badBlock(.badOffset, offset: position)
            }
            let start = position
            let key = try checkKey(&position, after: previous)
            if index > 0 { previous = key }
            let page = references[index]
            if !page.isMap || page.height + 1 != height {
                throw .badBlock(.badReference, offset: start)
            }
            if index > 0 {
                let isBelow = references[index - 1].withLastKey { Key.compare($0, key) < 0 }
                let isAbove = page.withFirstKey { Key.compare($0, key) >= 0 }
                if !isBelow || !isAbove { throw .badBlock(.badOrder, offset: start) }
            }
            childCount += page.childCount
        }
        if position != end { throw .badBlock(.badLength, offset: position) }
    }

    private func need(_ offset: Int, _ byteCount: Int) throws(NodeDecodingError) {
        if offset + byteCount > bytes.count { throw .badBlock(.badLength, offset: offset) }
    }
}

extension Block {
    /// Passes the first key of the map that this is the top or a page of.
    func withFirstKey<R>(_ body: (Bytes) -> R) -> R {
        if isBranch { return withReference(0) { $0.withFirstKey(body) } }
        return withExtendedLifetime(self) { body(Entries(start).key(0)) }
    }

    /// Passes the last key of the map that this is the top or a page of.
    func withLastKey<R>(_ body: (Bytes) -> R) -> R {
        if isBranch { return withReference(referenceCount - 1) { $0.withLastKey(body) } }
        return withExtendedLifetime(self) {
            let entries = Entries(start)
            return body(entries.key(entries.count - 1))
        }
    }
}
