import JSONTree
package import SecurityRules

/// Something wrong with a text that people wrote, at an offset in bytes.
package struct InputFault: Error, Equatable {
    /// In bytes.
    package let offset: Int
    /// What is wrong.
    package let message: String
    /// How to put it right; nil when the message says all.
    package let hint: String?

    /// Names a fault.
    package init(_ offset: Int, _ message: String, _ hint: String? = nil) {
        self.offset = offset
        self.message = message
        self.hint = hint
    }
}

/// Finds lines and columns in a text: lines end at LF, CR LF or CR, columns count Unicode scalars, both
/// from 1, as in rules.
package struct InputText: Sendable {
    private let bytes: [UInt8]
    /// Offsets of the first byte of each line, ascending, starting with 0.
    private let lineStarts: [Int]
    /// Scalars that begin before each piece of `pieceByteCount` bytes: files of cases may be one long line.
    private let scalarCounts: [Int]

    private static let pieceByteCount = 4_096

    /// Finds the lines of a text.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var starts = [0]
        var counts: [Int] = []
        var count = 0
        for (offset, byte) in bytes.enumerated() {
            if offset % Self.pieceByteCount == 0 { counts.append(count) }
            // Every scalar of UTF-8 has one byte that is not a continuation.
            if byte & 0xC0 != 0x80 { count += 1 }
            let isLoneReturn =
                byte == 0x0D && (offset + 1 == bytes.count || bytes[offset + 1] != 0x0A)
            if byte == 0x0A || isLoneReturn { starts.append(offset + 1) }
        }
        lineStarts = starts
        scalarCounts = counts
    }

    /// Line and column of a byte; O(log lines).
    package func position(of offset: Int) -> (line: Int, column: Int) {
        let offset = min(max(offset, 0), bytes.count)
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, scalarCount(before: offset) - scalarCount(before: lineStarts[low]) + 1)
    }

    private func scalarCount(before offset: Int) -> Int {
        let piece = min(offset / Self.pieceByteCount, scalarCounts.count - 1)
        if piece < 0 { return 0 }
        let rest = bytes[(piece * Self.pieceByteCount)..<offset]
        return scalarCounts[piece] + rest.count { $0 & 0xC0 != 0x80 }
    }

    /// A fault with its offset turned into line and column.
    package func resolved(_ fault: InputFault) -> RulesFault {
        let (line, column) = position(of: fault.offset)
        return RulesFault(line: line, column: column, message: fault.message, hint: fault.hint)
    }
}
