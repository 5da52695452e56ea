package import JSONTree

/// The keys of a path given to `child()`: pieces between slashes, empty ones dropped.
///
/// A piece that cannot be a key is kept and matches nothing. A text without pieces gives one empty
/// key, which names nothing either; see decision 0004.
func forEachChildKey(_ text: Bytes, _ body: (Bytes) -> Void) {
    var start = 0
    var isEmpty = true
    for offset in 0...text.count
    where offset == text.count || text[offset] == UInt8(ascii: "/") {
        if offset > start {
            body(text.slice(start..<offset))
            isEmpty = false
        }
        start = offset + 1
    }
    if isEmpty { body(.empty) }
}

/// The largest number of keys that `forEachChildKey` gives for a text.
func childKeyLimit(_ text: Bytes) -> Int {
    var count = 1
    for byte in text where byte == UInt8(ascii: "/") { count += 1 }
    return count
}

/// The same as a list.
package func childKeys(_ text: [UInt8]) -> [Key] {
    var keys: [Key] = []
    text.withBytes { text in forEachChildKey(text) { keys.append(Key($0)) } }
    return keys
}

/// Whether data could ever hold this key.
package func isPossible(_ key: Key) -> Bool {
    if key.utf8.isEmpty || key.utf8.count > Limits.keyByteCount { return false }
    return key.utf8.allSatisfy { byte in
        switch byte {
        case 0..<0x20, 0x23, 0x24, 0x2E, 0x2F, 0x5B, 0x5D, 0x7F: false
        default: true
        }
    }
}

/// UTF-16 code units of a UTF-8 text.
func codeUnitCount(_ text: Bytes) -> Int {
    // Without checks per byte the loop takes many bytes at a time; the buffer is borrowed from `text` for the call.
    let count = unsafe text.withContiguousStorageIfAvailable { buffer in
        var count = 0
        for index in 0..<buffer.count {
            let byte = unsafe buffer[index]
            count += (byte & 0xC0 != 0x80 ? 1 : 0) + (byte >= 0xF0 ? 1 : 0)
        }
        return count
    }
    return count ?? 0
}

/// The order of UTF-16 code units, computed on UTF-8: negative, 0 or positive.
///
/// Byte order, but for scalars above U+FFFF, which come before U+E000...U+FFFF.
func compareCodeUnits(_ a: Bytes, _ b: Bytes) -> Int {
    for index in 0..<min(a.count, b.count) where a[index] != b[index] {
        return codeUnitRank(a[index]) - codeUnitRank(b[index])
    }
    return a.count - b.count
}

private func codeUnitRank(_ byte: UInt8) -> Int {
    if byte < 0xEE { return Int(byte) }
    return byte < 0xF0 ? Int(byte) + 5 : Int(byte) - 2
}

/// Plain text search that counts the bytes it compares.
struct TextSearch {
    /// Comparisons that cost one step of a request.
    static let comparisonsPerStep = 64

    /// Bytes that may still be compared; the search gives up at 0.
    private(set) var comparisonsLeft: Int

    /// Whether no comparison is left: then nothing more is found.
    var isExhausted: Bool { comparisonsLeft <= 0 }

    init(comparisonLimit: Int) {
        comparisonsLeft = comparisonLimit
    }

    /// Counts what the caller does with a location as much as 128 comparisons, and each byte that it
    /// builds there as one.
    mutating func countOccurrence(building byteCount: Int) {
        comparisonsLeft -= 128 + byteCount
    }

    /// The first offset at or after `start` with `needle`; nil when there is none, or when
    /// `comparisonsLeft` ran out. An empty needle matches everywhere.
    mutating func find(_ needle: Bytes, in text: Bytes, from start: Int) -> Int? {
        if needle.isEmpty { return start }
        // Checks per byte would be most of the work; both buffers are borrowed for the call.
        let offset = unsafe needle.withContiguousStorageIfAvailable { needle in
            unsafe text.withContiguousStorageIfAvailable { text in
                unsafe findUnchecked(needle, in: text, from: start)
            } ?? nil
        }
        return offset ?? nil
    }

    private mutating func findUnchecked(
        _ needle: UnsafeBufferPointer<UInt8>,
        in text: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) -> Int? {
        var offset = start
        while offset + needle.count <= text.count {
            var matched = 0
            let limit = min(needle.count, comparisonsLeft)
            while matched < limit {
                if unsafe text[offset + matched] != needle[matched] { break }
                matched += 1
            }
            comparisonsLeft -= matched + 1
            if matched == needle.count { return offset }
            if comparisonsLeft <= 0 { return nil }
            offset += 1
        }
        return nil
    }
}

/// A number as JavaScript prints it: `5`, `1.5`, `1e+21`, `NaN`, `Infinity`.
package func numberText(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
    if value == 0 { return "0" }
    let (digits, point) = shortestDigits(value.magnitude)
    let text: String
    if point > 21 || point < -5 {
        let fraction = digits.dropFirst()
        let exponent = point - 1
        text =
            digits.prefix(1) + (fraction.isEmpty ? "" : "." + fraction) + "e"
            + (exponent < 0 ? "-" : "+") + String(exponent.magnitude)
    } else if point <= 0 {
        text = "0." + String(repeating: "0", count: -point) + digits
    } else if point >= digits.count {
        text = digits + String(repeating: "0", count: point - digits.count)
    } else {
        text = digits.prefix(point) + "." + digits.dropFirst(point)
    }
    return value < 0 ? "-" + text : text
}

/// The fewest digits that read back as the same number, and how many stand before the point.
///
/// The value is `0.digits * 10^point`; digits neither begin nor end with 0. Takes the digits from
/// Swift's own shortest form, such as `5.0`, `1.5e-07` or `1e+16`.
private func shortestDigits(_ value: Double) -> (digits: String, point: Int) {
    let parts = value.description.split(separator: "e")
    let exponent = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
    let halves = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let whole = halves[0]
    let fraction = halves.count == 2 ? halves[1] : ""
    var digits = whole + fraction
    var point = whole.count + exponent
    while digits.first == "0" {
        digits.removeFirst()
        point -= 1
    }
    while digits.last == "0" { digits.removeLast() }
    return (String(digits), point)
}
