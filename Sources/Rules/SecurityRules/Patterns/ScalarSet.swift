/// The scalars that one position of a pattern matches.
struct ScalarSet: Sendable {
    /// Ranges as written, in any order, before negation and case.
    private let ranges: [ClosedRange<UInt32>]
    private let isNegated: Bool
    private let ignoresCase: Bool

    /// The result for U+0000...U+007F, one bit each.
    private let ascii: (UInt64, UInt64)

    /// The scalars of `ranges`, or all others.
    init(_ ranges: [ClosedRange<UInt32>], isNegated: Bool = false, ignoresCase: Bool = false) {
        self.ranges = ranges
        self.isNegated = isNegated
        self.ignoresCase = ignoresCase
        var bits: (UInt64, UInt64) = (0, 0)
        for value in UInt32(0)..<128
        where ScalarSet.decides(value, ranges, isNegated: isNegated, ignoresCase: ignoresCase) {
            if value < 64 {
                bits.0 |= 1 << UInt64(value)
            } else {
                bits.1 |= 1 << UInt64(value - 64)
            }
        }
        ascii = bits
    }

    /// Whether the set holds a scalar; O(1) in ASCII, else O(ranges).
    func contains(_ scalar: UInt32) -> Bool {
        if scalar < 64 { return ascii.0 >> UInt64(scalar) & 1 == 1 }
        if scalar < 128 { return ascii.1 >> UInt64(scalar - 64) & 1 == 1 }
        return ScalarSet.decides(scalar, ranges, isNegated: isNegated, ignoresCase: ignoresCase)
    }

    private static func decides(
        _ scalar: UInt32,
        _ ranges: [ClosedRange<UInt32>],
        isNegated: Bool,
        ignoresCase: Bool
    ) -> Bool {
        var isListed = ranges.contains { $0.contains(scalar) }
        if ignoresCase, !isListed {
            for variant in caseVariants(of: scalar) where !isListed {
                isListed = ranges.contains { $0.contains(variant) }
            }
        }
        return isListed != isNegated
    }

    /// `\d`: 0 to 9.
    static let digits: [ClosedRange<UInt32>] = [0x30...0x39]

    /// `\w`: ASCII letters, digits and `_`.
    static let word: [ClosedRange<UInt32>] = [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A]

    /// `\s`: the white space and line ends of JavaScript.
    static let space: [ClosedRange<UInt32>] = [
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
        0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ]

    /// Scalars that `.` does not match: the line ends of JavaScript.
    static let lineEnds: [ClosedRange<UInt32>] = [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029]

    /// All scalars that `ranges` do not hold, as ranges.
    static func complement(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        var start: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > start { result.append(start...range.lowerBound - 1) }
            start = max(start, range.upperBound + 1)
        }
        if start <= 0x10FFFF { result.append(start...0x10FFFF) }
        return result
    }
}

/// A scalar without its case: lower case of upper case, where each is one scalar.
private func foldingCase(_ scalar: UInt32) -> UInt32 {
    if scalar < 128 { return (0x41...0x5A).contains(scalar) ? scalar + 32 : scalar }
    return lowercase(uppercase(scalar))
}

private func caseVariants(of scalar: UInt32) -> [UInt32] {
    let folded = foldingCase(scalar)
    return [lowercase(scalar), uppercase(scalar), folded, uppercase(folded)]
}

private func lowercase(_ value: UInt32) -> UInt32 {
    mapping(value) { $0.properties.lowercaseMapping }
}

private func uppercase(_ value: UInt32) -> UInt32 {
    mapping(value) { $0.properties.uppercaseMapping }
}

private func mapping(_ value: UInt32, _ map: (Unicode.Scalar) -> String) -> UInt32 {
    guard let scalar = Unicode.Scalar(value) else { return value }
    let mapped = map(scalar).unicodeScalars
    guard let first = mapped.first, mapped.dropFirst().isEmpty else { return value }
    return first.value
}
