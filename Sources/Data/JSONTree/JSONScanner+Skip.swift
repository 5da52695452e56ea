extension JSONScanner {
    /// Checks the next value and passes over it; returns where its text lies.
    ///
    /// Brackets may nest `Limits.textNesting` deep; nothing recurses.
    package mutating func skipValue() throws(JSONError) -> Range<Int> {
        _ = try peek()
        let start = offset
        var closings: [UInt8] = []
        repeat {
            let byte = try peek()
            if byte == 0x7B || byte == 0x5B {
                if closings.count == Limits.textNesting { throw error(.tooDeep) }
                offset += 1
                closings.append(byte + 2)
                if try peek() != byte + 2 {
                    if byte == 0x7B { try skipName() }
                    continue
                }
            } else {
                try skipScalar(byte)
            }
            try skipClosings(&closings)
        } while !closings.isEmpty
        return start..<offset
    }

    /// Behind a value: passes the brackets that close here, then the comma before the next value.
    private mutating func skipClosings(_ closings: inout [UInt8]) throws(JSONError) {
        while let closing = closings.last {
            let byte = try peek()
            if byte == closing {
                offset += 1
                closings.removeLast()
                continue
            }
            try expect(0x2C)
            if closing == 0x7D { try skipName() }
            return
        }
    }

    private mutating func skipName() throws(JSONError) {
        try expect(0x22)
        _ = try copyText(to: scratch.used)
        try expect(0x3A)
    }

    private mutating func skipScalar(_ byte: UInt8) throws(JSONError) {
        switch byte {
        case 0x22:
            offset += 1
            _ = try copyText(to: scratch.used)
        case 0x74: try expect(word: "true")
        case 0x66: try expect(word: "false")
        case 0x6E: try expect(word: "null")
        default: _ = try readNumber()
        }
    }
}
