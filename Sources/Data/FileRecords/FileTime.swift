package import JSONTree

/// Times of files: read from text, and counted in milliseconds since 1970.
package enum FileTime {
    /// The milliseconds from 1970 to a moment in UTC; nil for a date that no calendar has.
    ///
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    package static func milliseconds(
        _ year: Int,
        _ month: Int,
        _ day: Int,
        _ hour: Int,
        _ minute: Int,
        _ second: Int
    ) -> Int64? {
        guard (1...9999).contains(year), (1...12).contains(month), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second), day >= 1,
            day <= dayCount(year, month)
        else { return nil }
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return Int64((days * 86_400 + hour * 3600 + minute * 60 + second) * 1000)
    }

    private static func dayCount(_ year: Int, _ month: Int) -> Int {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// The moment of an RFC 3339 text, such as `2026-09-30T17:26:04.648Z`; nil for anything else.
    ///
    /// Of a fraction the first three digits count.
    package static func timestamp(rfc3339 text: String) -> Timestamp? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, 4, then: "-"), let month = number(&rest, 2, then: "-"),
            let day = number(&rest, 2, then: "Tt "), let hour = number(&rest, 2, then: ":"),
            let minute = number(&rest, 2, then: ":"), let second = number(&rest, 2, then: ""),
            var time = milliseconds(year, month, day, hour, minute, second)
        else { return nil }
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(digits.count) else { return nil }
            rest = rest.dropFirst(1 + digits.count)
            for (digit, scale) in zip(digits, [100, 10, 1] as [Int64]) {
                time += Int64(digit - 0x30) * scale
            }
        }
        guard let sign = rest.popFirst() else { return nil }
        if sign | 0x20 == UInt8(ascii: "z") {
            return rest.isEmpty ? Timestamp(milliseconds: time) : nil
        }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
            let hours = number(&rest, 2, then: ":"), let minutes = number(&rest, 2, then: ""),
            rest.isEmpty, hours < 24, minutes < 60
        else { return nil }
        let shift = Int64(hours * 60 + minutes) * 60_000
        return Timestamp(milliseconds: sign == UInt8(ascii: "+") ? time - shift : time + shift)
    }

    /// Takes so many digits, and one of the bytes that must follow them.
    package static func number(
        _ rest: inout ArraySlice<UInt8>,
        _ digitCount: Int,
        then ends: StaticString
    ) -> Int? {
        var number = 0
        for _ in 0..<digitCount {
            guard let byte = rest.popFirst(), (0x30...0x39).contains(byte) else { return nil }
            number = number * 10 + Int(byte - 0x30)
        }
        if ends.utf8CodeUnitCount == 0 { return number }
        guard let end = rest.popFirst(), "\(ends)".utf8.contains(end) else { return nil }
        return number
    }
}
