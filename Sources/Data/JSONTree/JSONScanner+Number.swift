extension JSONScanner {
    /// Reads a number as a node: an integer where it is whole and exact, else a double.
    @inline(__always)
    mutating func readNumber() throws(JSONError) -> Node {
        let first = try peek()
        let start = offset
        let isNegative = first == 0x2D
        if isNegative { offset += 1 }
        let digits = offset
        var value: Int64 = 0
        // 18 digits cannot overflow; more are left to the slow reader.
        while offset < count && offset - digits < 18 {
            let digit = text[offset] &- 48
            if digit > 9 { break }
            value = value &* 10 &+ Int64(digit)
            offset += 1
        }
        if offset == digits { throw numberError(start) }
        let isPlain = offset == count || JSONScanner.endsNumber(text[offset])
        let hasLeadingZero = text[digits] == 48 && offset - digits > 1
        if !isPlain || hasLeadingZero || (isNegative && value == 0) {
            return try readLongNumber(from: start)
        }
        return Node(integer: isNegative ? -value : value)
    }

    @inline(__always)
    private static func endsNumber(_ byte: UInt8) -> Bool {
        byte == 0x2C || byte == 0x7D || byte == 0x5D || byte <= 0x20
    }

    private func numberError(_ start: Int) -> JSONError {
        if offset == count { return error(.unexpectedEnd) }
        return error(offset == start ? .unexpectedByte(text[offset]) : .badNumber, at: start)
    }

    /// Fractions, exponents, -0 and numbers that may not fit 64 bits.
    @inline(never)
    private mutating func readLongNumber(from start: Int) throws(JSONError) -> Node {
        offset = start + (text[start] == 0x2D ? 1 : 0)
        let digits = offset
        try skipDigits(start)
        if text[digits] == 48 && offset - digits > 1 { throw error(.badNumber, at: start) }
        var isWhole = true
        if offset < count, text[offset] == 0x2E {
            isWhole = false
            offset += 1
            try skipDigits(start)
        }
        if offset < count, text[offset] | 0x20 == 0x65 {
            isWhole = false
            offset += 1
            if offset < count, text[offset] == 0x2B || text[offset] == 0x2D { offset += 1 }
            try skipDigits(start)
        }
        let number = (text + start).bytes(offset - start).string
        if isWhole, number != "-0", let integer = Int64(number) { return Node(integer: integer) }
        guard let double = Double(number) else { throw error(.badNumber, at: start) }
        if !double.isFinite { throw error(.numberOutOfRange, at: start) }
        return Node(double: double)
    }

    /// At least one digit.
    private mutating func skipDigits(_ start: Int) throws(JSONError) {
        let first = offset
        while offset < count, text[offset] &- 48 <= 9 { offset += 1 }
        if offset > first { return }
        if offset == count { throw error(.unexpectedEnd) }
        throw error(.badNumber, at: start)
    }
}
