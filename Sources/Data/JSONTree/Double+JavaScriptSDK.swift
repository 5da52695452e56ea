extension Double {
    /// Whether the JavaScript SDK may take this number for one of the neighbouring power of two.
    ///
    /// It finds the exponent as the whole part of the natural logarithm over that of 2. Both are rounded, so close to
    /// a power of two the quotient may come out on the other side of the whole number; at the smallest of doubles a
    /// power overflows, too.
    package var isWrongByLogarithm: Bool {
        if !isNormal { return false }
        // The 52 bits of the fraction: nearly none, or nearly all of them.
        let distance = Self.closeBits
        let isClose = (significandBitPattern &+ distance) & Self.fractionMask < 2 * distance
        return isClose || exponent < Self.smallestScaled
    }

    /// The bits that the JavaScript SDK (up to version 12, js-sdk issue 2304) hashes for this number; most often its own.
    ///
    /// It is right about zeros and about the doubles below the normal ones. With the exponent e that it finds for |v|
    /// it writes e and v * 2^(52-e) - 2^52, rounded, in 52 bits of two's complement. For 7.999999999999999, whose
    /// logarithm rounds to that of 8:
    ///
    ///     own bits   401 fffffffffffff      1.999... * 2^2
    ///     its bits   402 0000000000000      e = 3; 7.999999999999999 * 2^49 - 2^52 is -0.5, rounded 0
    package var bitsOfJavaScriptSDK: UInt64 {
        guard isNormal else { return bitPattern }
        let exponent = magnitude.exponentByLogarithm
        let sign = bitPattern & (1 << 63)
        let biased = UInt64(exponent + 1_023) << 52
        // 2^(52-e) is infinite there, so no bit is set.
        guard exponent >= Self.smallestScaled else { return sign | biased }
        let scale = Double(sign: .plus, exponent: 52 - exponent, significand: 1)
        let fraction = (magnitude * scale - 0x1p52 + 0.5).rounded(.down)
        return sign | biased | (UInt64(bitPattern: Int64(fraction)) & Self.fractionMask)
    }

    /// The exponent of a positive number, as the whole part of its rounded logarithm over that of 2.
    ///
    /// Near 2^n, at 2^n * (1 - d), the logarithm is n * ln 2 - d, which is rounded once: ln 2 is the sum of two doubles,
    /// the first so short that n times it is exact.
    private var exponentByLogarithm: Int {
        let isBelow = significand >= 1.5
        let n = Double(exponent) + (isBelow ? 1 : 0)
        let d = 1 - (isBelow ? significand / 2 : significand)
        guard d.magnitude < 0x1p-40 else { return Int(exponent) }
        let logarithm = n * 0x1.62e42feep-1 + (n * 0x1.a39ef35793c76p-33 - d)
        return min(Int((logarithm / 0x1.62e42fefa39efp-1).rounded(.down)), 1_023)
    }

    private static let fractionMask: UInt64 = (1 << 52) - 1
    /// Of the last bit, within which logarithms are rounded to that of a power of two: 2^12 of 2^52.
    private static let closeBits: UInt64 = 1 << 12
    /// The smallest exponent that the scale of the fraction is finite for.
    private static let smallestScaled = 52 - 1_023
}
