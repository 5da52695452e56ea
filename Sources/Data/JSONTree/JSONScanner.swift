/// A reader over JSON text that is pulled piece by piece, in one pass.
///
/// Borrows the text: its owner keeps it alive while the scanner is used. Every function skips white
/// space first and leaves `offset` behind what it consumed; do not use the scanner after a throw.
/// Values go straight into the tree's encoding, see `JSONScanner+Value`.
package struct JSONScanner {
    let text: BytePointer
    let count: Int

    /// Bytes consumed so far.
    package internal(set) var offset = 0

    /// Whether the bracket just opened has had no member yet, so that no comma comes first.
    private var isFirst = true

    /// Where values are encoded.
    var scratch = Scratch()

    /// Whether any member name is a key, with no meaning for dots.
    var allowsAnyKey = false

    /// Makes a scanner at the start of `bytes`.
    package init(_ bytes: Bytes) {
        text = bytes.pointer
        count = bytes.count
    }

    /// The next byte that is not white space, not consumed.
    @inline(__always)
    package mutating func peek() throws(JSONError) -> UInt8 {
        while offset < count {
            let byte = text[offset]
            if byte > 0x20 { return byte }
            if byte != 0x20 && byte != 0x0A && byte != 0x0D && byte != 0x09 {
                throw error(.unexpectedByte(byte))
            }
            offset += 1
        }
        throw error(.unexpectedEnd)
    }

    /// Consumes `{`.
    package mutating func enterObject() throws(JSONError) {
        try expect(0x7B)
        isFirst = true
    }

    /// Consumes the next member's name and its colon; nil after consuming `}`.
    package mutating func nextMember() throws(JSONError) -> String? {
        if try !nextItem(closing: 0x7D) { return nil }
        let name = try readString()
        try expect(0x3A)
        return name
    }

    /// Consumes `[`.
    package mutating func enterArray() throws(JSONError) {
        try expect(0x5B)
        isFirst = true
    }

    /// Moves to the next element; false after consuming `]`.
    package mutating func nextElement() throws(JSONError) -> Bool {
        try nextItem(closing: 0x5D)
    }

    /// Reads a string; lone surrogates in it become U+FFFD.
    package mutating func readString() throws(JSONError) -> String {
        try expect(0x22)
        let start = scratch.used
        let byteCount = try copyText(to: start)
        return scratch.bytes(start, byteCount).string
    }

    /// Reads a number; nil when it is not a whole number of 64 bits.
    package mutating func readInteger() throws(JSONError) -> Int64? {
        try readNumber().integer
    }

    /// Reads `true` or `false`.
    package mutating func readBoolean() throws(JSONError) -> Bool {
        switch try peek() {
        case 0x74:
            try expect(word: "true")
            return true
        case 0x66:
            try expect(word: "false")
            return false
        case let byte: throw error(.unexpectedByte(byte))
        }
    }

    /// Reads `null`.
    package mutating func readNull() throws(JSONError) {
        _ = try peek()
        try expect(word: "null")
    }

    /// Checks that only white space is left.
    package mutating func expectEnd() throws(JSONError) {
        while offset < count {
            let byte = text[offset]
            if byte != 0x20 && byte != 0x0A && byte != 0x0D && byte != 0x09 {
                throw error(.trailingText)
            }
            offset += 1
        }
    }

    /// Consumes the next byte, which must be `byte`.
    @inline(__always)
    mutating func expect(_ byte: UInt8) throws(JSONError) {
        let found = try peek()
        if found != byte { throw error(.unexpectedByte(found)) }
        offset += 1
    }

    /// Consumes a literal word.
    mutating func expect(word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            if offset == count { throw error(.unexpectedEnd) }
            let expected = unsafe word.utf8Start[index]
            if text[offset] != expected { throw error(.unexpectedByte(text[offset])) }
            offset += 1
        }
    }

    mutating func nextItem(closing: UInt8) throws(JSONError) -> Bool {
        let byte = try peek()
        if byte == closing {
            offset += 1
            isFirst = false
            return false
        }
        if isFirst {
            isFirst = false
            return true
        }
        try expect(0x2C)
        let next = try peek()
        if next == closing { throw error(.unexpectedByte(next)) }
        return true
    }

    func error(_ reason: JSONError.Reason, at position: Int? = nil) -> JSONError {
        JSONError(reason, offset: position ?? offset)
    }
}
