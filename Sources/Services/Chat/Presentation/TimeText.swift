public import Foundation

/// Days and times in English, in a time zone, by the Gregorian calendar.
public enum TimeText {
    private static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// `Today`, `Yesterday`, `Monday` up to six days ago, else `3 March 2025`.
    public static func day(_ time: Date, now: Date, timeZone: TimeZone) -> String {
        let calendar = gregorian(timeZone)
        let today = calendar.startOfDay(for: now)
        let day = calendar.startOfDay(for: time)
        let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: day)
        switch calendar.dateComponents([.day], from: day, to: today).day {
        case 0: return "Today"
        case 1: return "Yesterday"
        case .some(2...6): return weekdays[((parts.weekday ?? 1) - 1) % 7]
        default:
            let month = months[((parts.month ?? 1) - 1) % 12]
            return "\(parts.day ?? 1) \(month) \(parts.year ?? 1)"
        }
    }

    /// `09:05`.
    public static func clock(_ time: Date, timeZone: TimeZone) -> String {
        let parts = gregorian(timeZone).dateComponents([.hour, .minute], from: time)
        return [parts.hour ?? 0, parts.minute ?? 0]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    /// The time of an event for a list: `09:05` today, else the day.
    public static func listed(_ time: Date, now: Date, timeZone: TimeZone) -> String {
        let day = day(time, now: now, timeZone: timeZone)
        return day == "Today" ? clock(time, timeZone: timeZone) : day
    }

    private static func gregorian(_ timeZone: TimeZone) -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return calendar
    }
}
