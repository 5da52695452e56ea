package import Foundation

/// Times as people at this machine read them.
///
/// Times themselves are the server's; only the zone is the machine's.
package struct LocalTime: Sendable {
    private let calendar: Calendar

    /// - Parameter timeZone: Nil: this machine's.
    package init(timeZone: TimeZone? = nil) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone ?? .current
        self.calendar = calendar
    }

    /// `2026-11-21T20:55:07+01:00`, for programs.
    package func iso(_ date: Date) -> String {
        let zone = calendar.timeZone.secondsFromGMT(for: date) / 60
        let offset =
            zone == 0
            ? "Z" : "\(zone < 0 ? "-" : "+")\(two(abs(zone) / 60)):\(two(abs(zone) % 60))"
        let parts = parts(date)
        return "\(day(date))T\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second))\(offset)"
    }

    /// `2026-11-21 20:55`, for people.
    package func minute(_ date: Date) -> String { "\(day(date)) \(clock(date))" }

    /// To the minute for people on a terminal, `iso` for programs that read the output.
    package func shown(_ date: Date) -> String {
        Output.isTerminal ? minute(date) : iso(date)
    }

    /// `2026-11-21`.
    package func day(_ date: Date) -> String {
        let parts = parts(date)
        let year =
            String(repeating: "0", count: max(0, 4 - "\(parts.year)".count)) + "\(parts.year)"
        return "\(year)-\(two(parts.month))-\(two(parts.day))"
    }

    /// `20:55`.
    package func clock(_ date: Date) -> String {
        let parts = parts(date)
        return "\(two(parts.hour)):\(two(parts.minute))"
    }

    private struct Parts {
        let year, month, day, hour, minute, second: Int
    }

    private func parts(_ date: Date) -> Parts {
        let found = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second],
            from: date
        )
        return Parts(
            year: found.year ?? 0,
            month: found.month ?? 0,
            day: found.day ?? 0,
            hour: found.hour ?? 0,
            minute: found.minute ?? 0,
            second: found.second ?? 0
        )
    }

    private func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
