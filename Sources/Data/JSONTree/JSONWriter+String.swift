extension JSONWriter {
    /// Writes a quoted string: quote, backslash and controls escaped, everything else unchanged.
    @inline(__always)
    mutating func writeString(_ bytes: Bytes) {
        write(0x22)
        writeStringPart(bytes)
        write(0x22)
    }

    /// Writes the text between the quotes of a string, or a part of it.
    @inline(__always)
    mutating func writeStringPart(_ bytes: Bytes) {
        let from = bytes.pointer
        text.reserve(to: text.used + bytes.count + 8)
        let start = text.used
        var index = 0
        while index + 8 <= bytes.count {
            let word = from.load64(index)
            if word.escapeMarks != 0 { break }
            text.base.store64(word, start + index)
            index += 8
        }
        while index < bytes.count {
            let byte = from[index]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C {
                text.used = start + index
                return writeEscaped(bytes, from: index)
            }
            text.base[start + index] = byte
            index += 1
        }
        text.used = start + index
    }

    /// The rest of a string from its first byte that needs an escape.
    @inline(never)
    private mutating func writeEscaped(_ bytes: Bytes, from start: Int) {
        let from = bytes.pointer
        for index in start..<bytes.count {
            text.reserve(to: text.used + 8)
            switch from[index] {
            case 0x22: write("\\\"")
            case 0x5C: write("\\\\")
            case 0x08: write("\\b")
            case 0x0C: write("\\f")
            case 0x0A: write("\\n")
            case 0x0D: write("\\r")
            case 0x09: write("\\t")
            case let byte where byte < 0x20:
                write("\\u00")
                write(JSONWriter.hexDigit(byte >> 4))
                write(JSONWriter.hexDigit(byte & 15))
            case let byte: write(byte)
            }
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
}

extension UInt64 {
    /// Marks with its highest bit each byte that is a quote, a backslash or a control; exact for the lowest marked
    /// byte.
    @inlinable @inline(__always)
    package var escapeMarks: UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = self ^ (0x22 &* ones)
        let backslash = self ^ (0x5C &* ones)
        let found =
            ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
            | ((self &- (0x20 &* ones)) & ~self)
        return found & (0x80 &* ones)
    }
}

/// Appends `text` to `out` as a quoted JSON string.
package func appendJSONString(_ text: Bytes, to out: inout [UInt8]) {
    if !text.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) {
        out.append(0x22)
        out.append(contentsOf: text)
        out.append(0x22)
        return
    }
    var writer = JSONWriter(.value)
    writer.writeString(text)
    writer.take(into: &out)
}

/// Appends `text` to `out` as a quoted JSON string.
package func appendJSONString(_ text: String, to out: inout [UInt8]) {
    text.withBytes { appendJSONString($0, to: &out) }
}
