public import Foundation

/// Entries of one day that one person says after another, or notes that follow each other.
public struct EventGroup<Entry: ThreadEntry>: Sendable {
    /// The first moment of the day, in the time zone that was asked for; not midnight on some days.
    public let day: Date
    /// Whether it is the first of its day, with the day as its heading.
    public let isFirstOfDay: Bool
    /// The account that says them; nil of notes.
    public let speaker: String?
    /// At least one, in their order.
    public let entries: [Entry]

    /// Groups entries by day and by who says them one after another.
    ///
    /// Sorted by the server's times, then by key; entries without a time come last, in the given order. The calendar
    /// and the time zone, which replaces that of the calendar, define the days. `now` is the day of entries without a
    /// time, unless others are newer.
    public static func grouped(
        _ entries: [Entry],
        calendar: Calendar,
        timeZone: TimeZone,
        now: Date,
    ) -> [EventGroup] {
        var calendar = calendar
        calendar.timeZone = timeZone
        var groups: [EventGroup] = []
        var open: (day: Date, speaker: String?, entries: [Entry])?
        func close() {
            guard let done = open else { return }
            groups.append(
                EventGroup(
                    day: done.day,
                    isFirstOfDay: groups.last?.day != done.day,
                    speaker: done.speaker,
                    entries: done.entries,
                )
            )
        }
        var newest = now
        for entry in ordered(entries) {
            // They are in order, so a time is the newest one so far.
            if let time = entry.serverTime { newest = time }
            let time = entry.serverTime ?? max(newest, now)
            let day = calendar.startOfDay(for: time)
            if open?.day == day, open?.speaker == entry.speaker {
                open?.entries.append(entry)
            } else {
                close()
                open = (day, entry.speaker, [entry])
            }
        }
        close()
        return groups
    }

    /// The entries by the server's times, those without one last.
    private static func ordered(_ entries: [Entry]) -> [Entry] {
        let timed = entries.compactMap { entry in entry.serverTime.map { (time: $0, entry: entry) }
        }
        .sorted { left, right in
            left.time == right.time
                ? left.entry.key.utf8.lexicographicallyPrecedes(right.entry.key.utf8)
                : left.time < right.time
        }
        return timed.map(\.entry) + entries.filter { $0.serverTime == nil }
    }
}

extension EventGroup: Equatable where Entry: Equatable {}
