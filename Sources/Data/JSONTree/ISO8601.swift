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
    package static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
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

    /// The day of a Gregorian date, counted from 1970-01-01: the inverse of `date(ofDay:)`.
    ///
    /// Any numbers are taken as long as the year is from -100,000 to 100,000; a day beyond its month runs into the next.
    package static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
