/// Checks that bytes are well-formed UTF-8: no overlong forms, no surrogates, at most U+10FFFF.
enum UTF8Validity {
    /// How many bytes at the start of `bytes` are well-formed; `bytes.count` when all are.
    static func prefixLength(_ bytes: Bytes) -> Int {
        let pointer = bytes.pointer
        var index = 0
        while index < bytes.count {
            if index + 8 <= bytes.count, pointer.load64(index) & 0x8080_8080_8080_8080 == 0 {
                index += 8
                continue
            }
            let length = sequenceLength(pointer + index, bytes.count - index)
            if length == 0 { return index }
            index += length
        }
        return index
    }

    /// Bytes of the scalar that starts at `pointer`; 0 when it is malformed or cut off.
    @inline(__always)
    static func sequenceLength(_ pointer: BytePointer, _ available: Int) -> Int {
        let lead = pointer[0]
        if lead < 0x80 { return 1 }
        if lead < 0xC2 { return 0 }
        if lead < 0xE0 {
            return available >= 2 && isContinuation(pointer[1]) ? 2 : 0
        }
        if lead < 0xF0 {
            if available < 3 || !isContinuation(pointer[1]) || !isContinuation(pointer[2]) {
                return 0
            }
            if lead == 0xE0 && pointer[1] < 0xA0 { return 0 }
            return lead == 0xED && pointer[1] >= 0xA0 ? 0 : 3
        }
        if lead > 0xF4 || available < 4 { return 0 }
        if !isContinuation(pointer[1]) || !isContinuation(pointer[2]) { return 0 }
        if !isContinuation(pointer[3]) { return 0 }
        if lead == 0xF0 && pointer[1] < 0x90 { return 0 }
        return lead == 0xF4 && pointer[1] >= 0x90 ? 0 : 4
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
