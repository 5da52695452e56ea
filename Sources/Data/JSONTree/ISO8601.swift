/// Times as text in UTC: `2026-01-31T23:59:59.999Z`.
package enum ISO8601 {
    /// The text of a time in milliseconds since 1970; years 1 to 9999.
    package static func text(of milliseconds: Int64) -> String {
        let dayLength: Int64 = 86_400_000
        var dayTime = milliseconds % dayLength
        var day = milliseconds / dayLength
        if dayTime < 0 {
            dayTime += dayLength
            day -= 1
        }
        let (year, month, dayOfMonth) = date(ofDay: day)
        let seconds = dayTime / 1000
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(dayOfMonth, 2))"
            + "T\(digits(seconds / 3600, 2)):\(digits(seconds / 60 % 60, 2)):"
            + "\(digits(seconds % 60, 2)).\(digits(dayTime % 1000, 3))Z"
    }

    /// The Gregorian date of a day counted from 1970-01-01.
    ///
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, in eras of
    /// 400 years or 146,097 days.
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
