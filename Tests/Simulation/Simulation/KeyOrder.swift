import SimulatedStorage

/// The orders and kinds of keys that applications put, for every generator of writes.
///
/// Each kind meets another part of key order and of the tree: where a page is cut, which key a branch
/// keeps, how many keys fill a page.
package enum KeyOrder: String, CaseIterable, Sendable {
    case ascending, descending, shuffled
    /// From the middle to both ends.
    case insideOut
    /// Negative times: the newest comes first.
    case newestFirst
    /// Integers of 32 bits and just beyond, with signs and leading zeros.
    case integers
    case hashes, pushIDs, uids
    /// Composed and decomposed characters, characters beyond 16 bits, signs with a meaning elsewhere.
    case unicode
    /// As long as a key may be, so that few fill a page and some hundreds make three levels of branches.
    case longest

    /// `count` different keys in this order.
    package func keys(_ count: Int, _ random: inout some RandomNumberGenerator) -> [String] {
        switch self {
        case .ascending: return Self.padded(count)
        case .descending: return Self.padded(count).reversed()
        case .shuffled: return Self.padded(count).shuffled(using: &random)
        case .insideOut:
            let keys = Self.padded(count)
            return (0..<count).map { number in
                let distance = (number + 1) / 2
                return keys[number % 2 == 0 ? count / 2 + distance : count / 2 - distance]
            }
        case .newestFirst:
            let start = Int64.random(in: 0..<1_000_000_000, using: &random)
            return (0..<count).map { "\(-1_700_000_000_000 - start - Int64($0))" }
        case .integers: return Self.integers(count).shuffled(using: &random)
        case .hashes:
            return (0..<count).map { number in
                Self.hexadecimal(random.next()) + Self.hexadecimal(random.next()) + "\(number)"
            }
        case .pushIDs: return Self.pushIDs(count, &random)
        case .uids: return (0..<count).map { Self.characters(28, $0, &random) }
        case .unicode: return (0..<count).map { Self.unicode($0) }.shuffled(using: &random)
        case .longest: return Self.longest(count).shuffled(using: &random)
        }
    }

    private static func padded(_ count: Int) -> [String] {
        (0..<count).map { "k" + digits(of: $0) }
    }

    private static func digits(of number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    private static func hexadecimal(_ number: UInt64) -> String { String(number, radix: 16) }

    /// Those at the ends of the 32 bits, then others of either sign.
    private static func integers(_ count: Int) -> [String] {
        let edges = [
            "0", "-0", "00", "-00", "01", "-2147483648", "-2147483649", "2147483647", "2147483648",
            "02147483647", "99999999999",
        ]
        let signs = ["-", "", "0"]
        let rest = (0..<max(0, count - edges.count)).map { number in
            signs[number % 3] + String(number + 7)
        }
        return Array((edges + rest).prefix(count))
    }

    private static let pushLetters = Array(
        "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
    )

    /// As clients make them: rising, with some of another client's clock among them.
    private static func pushIDs(
        _ count: Int,
        _ random: inout some RandomNumberGenerator
    ) -> [String] {
        (0..<count).map { number in
            let isLate = UInt64.random(in: 0..<5, using: &random) == 0
            var time = 1_700_000_000_000 + number * 10 - (isLate ? 40_000 : 0)
            var text = ""
            for _ in 0..<8 {
                text = String(pushLetters[time % 64]) + text
                time /= 64
            }
            return text + characters(12, number, &random)
        }
    }

    /// `length` characters that end with the digits of a number.
    private static func characters(
        _ length: Int,
        _ number: Int,
        _ random: inout some RandomNumberGenerator
    ) -> String {
        let end = digits(of: number)
        let start = (0..<length - end.count).map { _ in
            pushLetters[Int.random(in: 11..<63, using: &random)]
        }
        return String(start) + end
    }

    private static let signs = [
        "é", "o\u{301}", "ß", "～", "😀", "𝄞", "\u{FEFF}", "\u{FFFD}", "\u{10FFFF}", "%41", "%",
        "a b",
        "\"", "\\", "A", "a", "\u{E000}", "中", "ı", "\u{80}",
    ]

    private static func unicode(_ number: Int) -> String {
        let sign = signs[number % signs.count]
        return number < signs.count ? sign : sign + "\(number / signs.count)" + signs[number % 7]
    }

    /// 768 bytes each, equal but for the last.
    private static func longest(_ count: Int) -> [String] {
        let start = String(repeating: "long", count: 190) + "lg"
        return (0..<count).map { start + digits(of: $0) }
    }
}

/// How large the values are that applications put.
package enum ValueSize: String, CaseIterable, Sendable {
    /// Some bytes.
    case tiny
    /// A message.
    case short
    /// Around the bound above which a value has a block of its own.
    case embedded
    /// Some pages.
    case pages
    /// Hundreds of kilobytes: the log writes it in pieces.
    case huge

    /// A text of this size, with characters of one to four bytes.
    package func text(_ random: inout some RandomNumberGenerator) -> String {
        let count =
            switch self {
            case .tiny: Int.random(in: 0..<12, using: &random)
            case .short: Int.random(in: 40..<220, using: &random)
            case .embedded: Int.random(in: 480..<540, using: &random)
            case .pages: Int.random(in: 1_500..<9_000, using: &random)
            case .huge: Int.random(in: 270_000..<400_000, using: &random)
            }
        let character = ["x", "é", "中", "😀", "\u{FEFF}", "\u{0}"][
            Int.random(in: 0..<6, using: &random)
        ]
        let many = count / character.utf8.count
        return String(repeating: character, count: many)
            + String(repeating: "y", count: count - many * character.utf8.count)
    }
}

/// Numbers at every bound of their encoding.
package enum EdgeNumber {
    /// As JSON.
    package static let texts = [
        "0", "-0", "1", "-1", "127", "128", "-128", "-129", "32767", "2147483647", "2147483648",
        "-2147483648", "-2147483649", "4294967296", "9007199254740991", "9007199254740992",
        "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "18446744073709551616", "0.5", "-0.1", "1e300", "1e-300",
        "4.9406564584124654e-324", "2.2250738585072014e-308", "1.7976931348623157e308",
        "-1.7976931348623157e308", "1e15", "1e16", "-0.0", "0e5", "123456789012345678",
    ]
}
