extension JSONScanner {
    /// Copies the string whose opening quote is consumed to `start` of the scratch memory.
    ///
    /// Eight bytes at a time; where one needs care (quote, backslash, control, not ASCII) it is
    /// looked at alone. Returns how many bytes were written; `scratch.used` is left alone.
    @inline(__always)
    mutating func copyText(to start: Int) throws(JSONError) -> Int {
        var write = start
        while true {
            // Up to 7 plain bytes of a word, then one scalar of 4.
            scratch.reserve(to: write + 12)
            if offset + 8 <= count {
                let word = text.load64(offset)
                scratch.base.store64(word, write)
                let special = word.escapeMarks | word & 0x8080_8080_8080_8080
                if special == 0 {
                    offset += 8
                    write += 8
                    continue
                }
                let plain = special.trailingZeroBitCount >> 3
                offset += plain
                write += plain
            } else if offset == count {
                throw error(.unexpectedEnd)
            }
            if text[offset] == 0x22 {
                offset += 1
                return write - start
            }
            try copyCarefully(&write)
        }
    }

    /// Copies one byte, escape or scalar that is not a closing quote.
    private mutating func copyCarefully(_ write: inout Int) throws(JSONError) {
        let byte = text[offset]
        if byte == 0x5C { return try copyEscape(&write) }
        if byte < 0x20 { throw error(.controlCharacter) }
        let length = UTF8Validity.sequenceLength(text + offset, count - offset)
        if length == 0 { throw error(.invalidUTF8) }
        for index in 0..<length { scratch.base[write + index] = text[offset + index] }
        offset += length
        write += length
    }

    private mutating func copyEscape(_ write: inout Int) throws(JSONError) {
        if offset + 1 >= count { throw error(.unexpectedEnd, at: count) }
        let plain: UInt8
        switch text[offset + 1] {
        case 0x22: plain = 0x22
        case 0x5C: plain = 0x5C
        case 0x2F: plain = 0x2F
        case 0x62: plain = 0x08
        case 0x66: plain = 0x0C
        case 0x6E: plain = 0x0A
        case 0x72: plain = 0x0D
        case 0x74: plain = 0x09
        case 0x75: return try copyUnicodeEscape(&write)
        default: throw error(.badEscape)
        }
        scratch.base[write] = plain
        write += 1
        offset += 2
    }

    /// `\uXXXX`, or two of them for one scalar above U+FFFF; a lone surrogate becomes U+FFFD.
    private mutating func copyUnicodeEscape(_ write: inout Int) throws(JSONError) {
        let unit = try escapedUnit(at: offset)
        offset += 6
        var scalar = Unicode.Scalar(unit) ?? "\u{FFFD}"
        if unit & 0xFC00 == 0xD800, offset + 1 < count, text[offset] == 0x5C,
            text[offset + 1] == 0x75
        {
            let low = try escapedUnit(at: offset)
            let value = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(low & 0x3FF))
            if low & 0xFC00 == 0xDC00, let pair = Unicode.Scalar(value) {
                scalar = pair
                offset += 6
            }
        }
        for byte in String(scalar).utf8 {
            scratch.base[write] = byte
            write += 1
        }
    }

    private func escapedUnit(at start: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for index in start + 2..<start + 6 {
            if index == count { throw error(.unexpectedEnd, at: count) }
            guard let digit = Character(Unicode.Scalar(text[index])).hexDigitValue,
                text[index] < 0x80
            else { throw error(.badEscape, at: start) }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
