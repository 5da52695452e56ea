/// Follows the brackets and strings of JSON text that arrives in parts, to find where it may be cut.
///
/// It checks nothing. While the text is JSON it knows the depth; invalid text is found out by the
/// scanner, which reads every byte in order and never beyond a cut. Offsets count from the start of
/// the whole text. One pass, eight bytes at a time inside strings.
struct JSONLexer {
    /// A bracket that is open.
    struct Level {
        let start: Int
        /// Where the last comma between its items is; -1 without one.
        var comma = -1
    }

    /// Open brackets that are tracked; deeper values cannot be stored.
    private static let levelLimit = 2 * Limits.depth

    /// Open brackets, outermost first.
    private(set) var levels: [Level] = []
    /// Open brackets beyond `levelLimit`.
    private var excess = 0
    /// Bytes looked at.
    private(set) var offset = 0
    /// The offset of the bracket that closes the requested container; nil before it is found.
    private(set) var closing: Int?
    /// Whether the outermost bracket was closed.
    private(set) var isClosed = false
    /// Where the string, number or word begins that is or was looked at last.
    private(set) var tokenStart = -1
    private(set) var isInToken = false
    /// Whether a token was found that is longer than anything storable; nothing is looked at behind it.
    private(set) var isOverlong = false

    private var isInString = false
    private var isEscaped = false
    /// Bytes of the token that add no byte of their own.
    private var escapeByteCount = 0

    /// Forgets the innermost level, whose closing bracket was found.
    mutating func close() {
        levels.removeLast()
        closing = nil
        offset += 1
    }

    /// Looks at text up to `limit`, or to the bracket that closes level `current`.
    ///
    /// `text` begins at `base` and reaches at least to `limit`.
    mutating func advance(_ text: Bytes, base: Int, to limit: Int, current: Int) {
        if closing != nil || isOverlong { return }
        let pointer = text.pointer
        while offset < limit {
            if isInString {
                advanceString(pointer, base, limit)
                if isOverlong { return }
                continue
            }
            let byte = pointer[offset - base]
            switch byte {
            case 0x22:
                begin()
                isInString = true
            case 0x7B, 0x5B:
                isInToken = false
                if levels.count < JSONLexer.levelLimit {
                    levels.append(Level(start: offset))
                } else {
                    excess += 1
                }
            case 0x7D, 0x5D:
                isInToken = false
                if excess > 0 {
                    excess -= 1
                } else if current >= 0, levels.count - 1 == current {
                    closing = offset
                    return
                } else if !levels.isEmpty {
                    levels.removeLast()
                    isClosed = isClosed || levels.isEmpty
                }
            case 0x2C:
                isInToken = false
                if excess == 0 && !levels.isEmpty { levels[levels.count - 1].comma = offset }
            case 0x20, 0x0A, 0x0D, 0x09, 0x3A: isInToken = false
            default:
                if !isInToken { begin() }
                checkLength()
                if isOverlong { return }
            }
            offset += 1
        }
    }

    private mutating func begin() {
        isInToken = true
        tokenStart = offset
        escapeByteCount = 0
    }

    /// An escape of six bytes stands for one at least, one of two for one.
    private mutating func checkLength() {
        let byteCount = offset - tokenStart - escapeByteCount - 2
        isOverlong = byteCount > Limits.stringByteCount
    }

    private mutating func advanceString(_ pointer: BytePointer, _ base: Int, _ limit: Int) {
        let ones: UInt64 = 0x0101_0101_0101_0101
        if isEscaped, offset < limit {
            isEscaped = false
            escapeByteCount += pointer[offset - base] == 0x75 ? 5 : 1
            offset += 1
        }
        while offset + 8 <= limit {
            let word = pointer.load64(offset - base)
            let quote = word ^ (0x22 &* ones)
            let backslash = word ^ (0x5C &* ones)
            let found =
                (((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & (0x80 &* ones)
            if found != 0 {
                offset += found.trailingZeroBitCount >> 3
                break
            }
            offset += 8
        }
        checkLength()
        if isOverlong { return }
        while offset < limit {
            let byte = pointer[offset - base]
            offset += 1
            if byte == 0x22 {
                isInString = false
                isInToken = false
                return
            }
            if byte == 0x5C {
                isEscaped = true
                return
            }
        }
    }
}
