public import Foundation

/// The date of a party: a moment on the wire as milliseconds since 1970, or as text.
///
///     2030-12-31                          a day: its first moment
///     2030-12-31T20:00                    a minute
///     2030-12-31T20:00:00.250+01:00       with seconds, parts of one, and a zone (or Z)
///
/// The rules allow no other text, and years from 1970 to 9999 as numbers.
public enum PartyDate {
    /// The time that a text names; nil for an invalid date, such as the 31st of February.
    ///
    /// A text without a zone was read from a clock that hangs in this one.
    public static func moment(_ text: String, in zone: TimeZone = .gmt) -> Date? {
        let pattern =
            /(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?/
            .asciiOnlyDigits()
        guard let match = text.wholeMatch(of: pattern)?.output else { return nil }
        var parts = DateComponents()
        parts.year = Int(match.1)
        parts.month = Int(match.2)
        parts.day = Int(match.3)
        parts.hour = match.4.flatMap { Int($0) } ?? 0
        parts.minute = match.5.flatMap { Int($0) } ?? 0
        parts.second = match.6.flatMap { Int($0) } ?? 0
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        if let name = match.8 {
            guard let offset = offset(name) else { return nil }
            calendar.timeZone = offset
        }
        guard parts.hour ?? 0 < 24, parts.minute ?? 0 < 60, parts.second ?? 0 < 60,
            parts.isValidDate(in: calendar), let date = calendar.date(from: parts)
        else { return nil }
        return date.addingTimeInterval(match.7.flatMap { Double("0\($0)") } ?? 0)
    }

    /// The zone that `Z` or `+01:00` names.
    private static func offset(_ name: Substring) -> TimeZone? {
        if name == "Z" { return .gmt }
        let numbers = name.dropFirst().split(separator: ":").compactMap { Int($0) }
        guard numbers.count == 2, numbers[0] < 24, numbers[1] < 60 else { return nil }
        let seconds = numbers[0] * 3600 + numbers[1] * 60
        return TimeZone(secondsFromGMT: name.hasPrefix("-") ? -seconds : seconds)
    }

    /// The time of these milliseconds since 1970; nil before 1970 and after the year 9999.
    static func moment(milliseconds: Double) -> Date? {
        guard milliseconds >= 0, milliseconds < end else { return nil }
        return Date(timeIntervalSince1970: milliseconds / 1000)
    }

    /// A moment on the wire.
    ///
    /// - Throws: `invalid` for one before 1970 or after the year 9999.
    static func milliseconds(_ moment: Date) throws(ServiceError) -> Int64 {
        let milliseconds = (moment.timeIntervalSince1970 * 1000).rounded()
        guard milliseconds >= 0, milliseconds < end else {
            throw .invalid(
                field: "date",
                why: "a year is from \(PartyLimits.years.lowerBound) to "
                    + "\(PartyLimits.years.upperBound)",
            )
        }
        return Int64(milliseconds)
    }

    /// Milliseconds from 1970 to the year 10000.
    private static let end = 253_402_300_800_000.0
}

/// A date as it is in the tree: a number or a text.
struct StoredDate: Decodable {
    let moment: Date

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard let moment = PartyDate.moment(text) else {
                throw Nonsense("date: \"\(text.prefix(64))\" is none")
            }
            self.moment = moment
            return
        }
        let milliseconds = try container.decode(Double.self)
        guard let moment = PartyDate.moment(milliseconds: milliseconds) else {
            throw Nonsense("date: \(milliseconds) is none")
        }
        self.moment = moment
    }
}
