package import JSONTree

/// A time since 1970 in UTC, or a duration, to the nanosecond.
package struct NanoTime: Hashable, Comparable, Sendable {
    /// Whole seconds, rounded down.
    package let seconds: Int64

    /// From 0 to 999,999,999, on top of the seconds.
    package let nanos: Int64

    static let second: Int64 = 1_000_000_000
    static let dayLength: Int64 = 86_400

    /// The time of a timestamp; one beyond the years 1 to 9999 becomes the nearest in them.
    package init(_ time: Timestamp) {
        let milliseconds = min(max(time.milliseconds, -62_135_596_800_000), 253_402_300_799_999)
        let (seconds, rest) = NanoTime.divide(milliseconds, by: 1_000)
        self.seconds = seconds
        nanos = rest * 1_000_000
    }

    /// So many seconds and nanoseconds; nil when it is beyond the years that a timestamp can have.
    init?(seconds: Int64, nanos: Int64 = 0) {
        let (carry, rest) = NanoTime.divide(nanos, by: NanoTime.second)
        let (sum, overflow) = seconds.addingReportingOverflow(carry)
        // 10,000 years, as in Protocol Buffers.
        guard !overflow, (-315_576_000_000...315_576_000_000).contains(sum) else { return nil }
        self.seconds = sum
        self.nanos = rest
    }

    /// So many times a unit of so many nanoseconds; nil when it is out of range.
    init?(_ count: Int64, nanosPerUnit unit: Int64) {
        if unit >= NanoTime.second {
            let (seconds, overflow) = count.multipliedReportingOverflow(by: unit / NanoTime.second)
            if overflow { return nil }
            self.init(seconds: seconds)
        } else {
            let perSecond = NanoTime.second / unit
            let (seconds, rest) = NanoTime.divide(count, by: perSecond)
            self.init(seconds: seconds, nanos: rest * unit)
        }
    }

    package static func < (a: NanoTime, b: NanoTime) -> Bool {
        (a.seconds, a.nanos) < (b.seconds, b.nanos)
    }

    /// Quotient and remainder, rounded down.
    static func divide(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }

    func adding(_ other: NanoTime) -> NanoTime? {
        NanoTime(seconds: seconds + other.seconds, nanos: nanos + other.nanos)
    }

    func subtracting(_ other: NanoTime) -> NanoTime? {
        NanoTime(seconds: seconds - other.seconds, nanos: nanos - other.nanos)
    }

    /// Milliseconds, rounded down.
    var milliseconds: Int64 { seconds * 1_000 + nanos / 1_000_000 }

    // MARK: A time in the calendar

    /// Itself, when it is in the years 1 to 9999, which timestamps are.
    var asTimestamp: NanoTime? {
        (-62_135_596_800...253_402_300_799).contains(seconds) ? self : nil
    }

    /// The day, counted from 1970-01-01, and the seconds in it.
    var day: (number: Int64, seconds: Int64) { NanoTime.divide(seconds, by: NanoTime.dayLength) }

    /// The Gregorian date.
    var date: (year: Int64, month: Int64, day: Int64) { ISO8601.date(ofDay: day.number) }

    /// From 1 for Monday to 7 for Sunday; 1970 began on a Thursday.
    var dayOfWeek: Int64 { NanoTime.divide(day.number + 3, by: 7).1 + 1 }

    /// From 1 to 366.
    var dayOfYear: Int64 { day.number - ISO8601.day(year: date.year, month: 1, day: 1) + 1 }

    /// `12.5s`, as durations are shown.
    var durationText: String {
        let isNegative = seconds < 0
        let (whole, part) =
            isNegative && nanos > 0
            ? (-(seconds + 1), NanoTime.second - nanos) : (abs(seconds), nanos)
        var digits = String(part)
        digits = String(repeating: "0", count: 9 - digits.utf8.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return (isNegative ? "-" : "") + "\(whole)" + (digits.isEmpty ? "" : ".\(digits)") + "s"
    }
}
