extension Key {
    /// Whether `a` comes before `b` in key order.
    @usableFromInline
    package static func < (a: Key, b: Key) -> Bool {
        a.withBytes { first in b.withBytes { compare(first, $0) } } < 0
    }

    /// Key order: negative when `a` comes first, 0 when the bytes are equal, else positive.
    ///
    /// Keys that are 32-bit integers (`-?0*[0-9]{1,10}` within range) come first, by value, equal
    /// values by length; all others follow by UTF-16 code unit.
    package static func compare(_ a: Bytes, _ b: Bytes) -> Int {
        if mayBeInteger(a) || mayBeInteger(b) { return compareIntegers(a, b) }
        return compareText(a, b)
    }

    /// Two bytes decide that nearly every key is not an integer: most push ids start with `-O` or the like.
    @inline(__always)
    private static func mayBeInteger(_ key: Bytes) -> Bool {
        if key.count == 0 { return false }
        let pointer = key.pointer
        if pointer[0] &- 48 < 10 { return true }
        return pointer[0] == 45 && key.count > 1 && pointer[1] &- 48 < 10
    }

    @inline(never)
    private static func compareIntegers(_ a: Bytes, _ b: Bytes) -> Int {
        switch (integer(a), integer(b)) {
        case (nil, nil): compareText(a, b)
        case (nil, _): 1
        case (_, nil): -1
        case (let x?, let y?): x != y ? (x < y ? -1 : 1) : compareEqualIntegers(a, b)
        }
    }

    /// `1` < `01`; `0` < `-0` < `00`: by length, then `-` (45) before digits (48 and up).
    private static func compareEqualIntegers(_ a: Bytes, _ b: Bytes) -> Int {
        a.count != b.count ? a.count - b.count : compareText(a, b)
    }

    /// The number a key stands for in key order; nil when it is not a 32-bit integer.
    package static func integer(_ key: Bytes) -> Int? {
        if key.count == 0 { return nil }
        let pointer = key.pointer
        let digits = pointer[0] == 45 ? 1 : 0
        if digits == key.count { return nil }
        var index = digits
        while index < key.count - 1, pointer[index] == 48 { index += 1 }
        if key.count - index > 10 { return nil }
        var value = 0
        while index < key.count {
            let digit = pointer[index] &- 48
            if digit > 9 { return nil }
            value = value * 10 + Int(digit)
            index += 1
        }
        if digits == 1 { value = -value }
        return value >= -2_147_483_648 && value <= 2_147_483_647 ? value : nil
    }
}

/// The order of UTF-16 code units, computed on UTF-8: negative, 0 or positive.
///
/// It is byte order except that lead bytes F0...F4 (above U+FFFF, so surrogates D800 and up in
/// UTF-16) come before EE and EF (U+E000 to U+FFFF).
func compareText(_ a: Bytes, _ b: Bytes) -> Int {
    let count = min(a.count, b.count)
    let p = a.pointer, q = b.pointer
    var index = 0
    while index + 8 <= count {
        let x = p.load64(index), y = q.load64(index)
        if x != y {
            let at = index + ((x ^ y).trailingZeroBitCount >> 3)
            return utf16Rank(p[at]) - utf16Rank(q[at])
        }
        index += 8
    }
    while index < count {
        if p[index] != q[index] { return utf16Rank(p[index]) - utf16Rank(q[index]) }
        index += 1
    }
    return a.count - b.count
}

@inline(__always)
private func utf16Rank(_ byte: UInt8) -> Int {
    if byte < 0xEE { return Int(byte) }
    return byte < 0xF0 ? Int(byte) + 5 : Int(byte) - 2
}
