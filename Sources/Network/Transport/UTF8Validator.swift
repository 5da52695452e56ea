/// Checks UTF-8 that arrives in pieces (Unicode 15, table 3-7). Fails at the first wrong byte.
package struct UTF8Validator {
    /// Continuation bytes still due in the current character.
    private var dueCount = 0
    /// The least next continuation byte; after some first bytes the range is narrower than 80...BF.
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xbf

    init() {}

    /// Whether `bytes` are UTF-8 from begin to end.
    package static func accepts(_ bytes: [UInt8]) -> Bool {
        var validator = UTF8Validator()
        let isValid = bytes.withUnsafeBufferPointer { validator.accept($0) }
        return isValid && validator.isAtBoundary
    }

    /// Whether the pieces so far end between two characters.
    var isAtBoundary: Bool { dueCount == 0 }

    /// Takes the next piece; false when no text can go on like this.
    mutating func accept(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            if dueCount == 0 {
                index = skipASCII(bytes, from: index)
                guard index < bytes.count else { return true }
                guard begin(bytes[index]) else { return false }
            } else {
                guard bytes[index] >= lower && bytes[index] <= upper else { return false }
                (lower, upper) = (0x80, 0xbf)
                dueCount -= 1
            }
            index += 1
        }
        return true
    }

    private func skipASCII(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        let raw = UnsafeRawBufferPointer(bytes)
        while index + 8 <= bytes.count {
            let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard word & 0x8080_8080_8080_8080 == 0 else { break }
            index += 8
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xc2...0xdf: dueCount = 1
        case 0xe0: (dueCount, lower) = (2, 0xa0)
        case 0xed: (dueCount, upper) = (2, 0x9f)
        case 0xe1...0xef: dueCount = 2
        case 0xf0: (dueCount, lower) = (3, 0x90)
        case 0xf1...0xf3: dueCount = 3
        case 0xf4: (dueCount, upper) = (3, 0x8f)
        default: return false
        }
        return true
    }
}
