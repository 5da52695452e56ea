import Chat
import Foundation
import Testing

@Suite("groups of entries")
struct PresentationGroupTests {
    /// An entry of a table: `k ann 2025-03-30T00:30:00Z`, of a note `k - TIME`, of one on its way `k ann -`.
    private struct Entry: ThreadEntry, Equatable {
        let key: String
        let serverTime: Date?
        let speaker: String?

        init(_ text: String) throws {
            let words = text.split(separator: " ").map(String.init)
            key = words[0]
            speaker = words[1] == "-" ? nil : words[1]
            serverTime = words[2] == "-" ? nil : try Date(words[2], strategy: .iso8601)
        }
    }

    private struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var zone = "UTC"
        var now = "2025-06-01T12:00:00Z"
        let entries: [String]
        /// Each as `2025-03-30 00:00* ann: a b`, with a star for the first of a day.
        let groups: [String]

        var testDescription: String { name }
    }

    private static let cases: [Case] = [
        Case(name: "nothing", entries: [], groups: []),
        Case(
            name: "one after another",
            entries: [
                "a ann 2025-05-05T10:00:00Z", "b ann 2025-05-05T10:01:00Z",
                "c bob 2025-05-05T10:02:00Z", "d ann 2025-05-05T10:03:00Z",
            ],
            groups: [
                "2025-05-05 00:00* ann: a b", "2025-05-05 00:00 bob: c", "2025-05-05 00:00 ann: d",
            ]
        ),
        Case(
            name: "notes are no one's, and stand between",
            entries: [
                "a - 2025-05-05T10:00:00Z", "b - 2025-05-05T10:01:00Z",
                "c ann 2025-05-05T10:02:00Z", "d - 2025-05-05T10:03:00Z",
                "e ann 2025-05-05T10:04:00Z",
            ],
            groups: [
                "2025-05-05 00:00* -: a b", "2025-05-05 00:00 ann: c", "2025-05-05 00:00 -: d",
                "2025-05-05 00:00 ann: e",
            ]
        ),
        Case(
            name: "midnight of the zone parts them, regardless of who speaks",
            zone: "Asia/Tokyo",
            entries: ["a ann 2025-05-05T14:59:59Z", "b ann 2025-05-05T15:00:00Z"],
            groups: ["2025-05-05 00:00* ann: a", "2025-05-06 00:00* ann: b"]
        ),
        Case(
            name: "the same in another zone is one day",
            zone: "America/Los_Angeles",
            entries: ["a ann 2025-05-05T14:59:59Z", "b ann 2025-05-05T15:00:00Z"],
            groups: ["2025-05-05 00:00* ann: a b"]
        ),
        Case(
            name: "a day of 23 hours",
            zone: "Europe/Berlin",
            entries: [
                "a ann 2025-03-29T22:59:59Z", "b ann 2025-03-29T23:00:00Z",
                "c ann 2025-03-30T00:59:59Z", "d ann 2025-03-30T01:00:00Z",
                "e ann 2025-03-30T21:59:59Z", "f ann 2025-03-30T22:00:00Z",
            ],
            groups: [
                "2025-03-29 00:00* ann: a", "2025-03-30 00:00* ann: b c d e",
                "2025-03-31 00:00* ann: f",
            ]
        ),
        Case(
            name: "a day of 25 hours, with one hour twice",
            zone: "Europe/Berlin",
            entries: [
                "a ann 2025-10-25T22:00:00Z", "b ann 2025-10-26T00:30:00Z",
                "c ann 2025-10-26T01:30:00Z", "d ann 2025-10-26T22:59:59Z",
                "e ann 2025-10-26T23:00:00Z",
            ],
            groups: ["2025-10-26 00:00* ann: a b c d", "2025-10-27 00:00* ann: e"]
        ),
        Case(
            name: "a day that begins at one o'clock",
            zone: "America/Sao_Paulo",
            entries: [
                "a ann 2018-11-04T02:59:59Z", "b ann 2018-11-04T03:00:00Z",
                "c ann 2018-11-05T01:59:59Z", "d ann 2018-11-05T02:00:00Z",
            ],
            groups: [
                "2018-11-03 00:00* ann: a", "2018-11-04 01:00* ann: b c",
                "2018-11-05 00:00* ann: d",
            ]
        ),
        Case(
            name: "a zone that moves by half an hour",
            zone: "Australia/Lord_Howe",
            entries: [
                "a ann 2025-04-05T12:59:59Z", "b ann 2025-04-05T13:00:00Z",
                "c ann 2025-04-06T13:29:59Z", "d ann 2025-04-06T13:30:00Z",
            ],
            groups: [
                "2025-04-05 00:00* ann: a", "2025-04-06 00:00* ann: b c",
                "2025-04-07 00:00* ann: d",
            ]
        ),
        Case(
            name: "the server's times order them, and keys in one moment",
            entries: [
                "z ann 2025-05-05T10:00:02Z", "b bob 2025-05-05T10:00:01Z",
                "a bob 2025-05-05T10:00:01Z", "c ann 2025-05-04T10:00:00Z",
            ],
            groups: [
                "2025-05-04 00:00* ann: c", "2025-05-05 00:00* bob: a b", "2025-05-05 00:00 ann: z",
            ]
        ),
        Case(
            name: "what is on its way comes last, today, in the order in which it was written",
            entries: [
                "y ann -", "x ann -", "a ann 2025-06-01T10:00:00Z", "b ann 2025-05-31T10:00:00Z",
            ],
            groups: ["2025-05-31 00:00* ann: b", "2025-06-01 00:00* ann: a y x"]
        ),
        Case(
            name: "with a clock that is a day behind it is still behind all others",
            now: "2025-05-30T12:00:00Z",
            entries: ["x ann -", "a bob 2025-06-01T10:00:00Z"],
            groups: ["2025-06-01 00:00* bob: a", "2025-06-01 00:00 ann: x"]
        ),
        Case(
            name: "on a day of its own if nothing else was said on it",
            entries: ["x ann -", "a ann 2025-05-31T10:00:00Z"],
            groups: ["2025-05-31 00:00* ann: a", "2025-06-01 00:00* ann: x"]
        ),
        Case(
            name: "nothing but what is on its way",
            entries: ["x ann -", "y bob -"],
            groups: ["2025-06-01 00:00* ann: x", "2025-06-01 00:00 bob: y"]
        ),
    ]

    @Test("are those of the table", arguments: cases)
    private func table(example: Case) throws {
        let zone = try #require(TimeZone(identifier: example.zone))
        // The calendar's own zone must not matter.
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "Pacific/Kiritimati"))
        let groups = EventGroup.grouped(
            try example.entries.map(Entry.init),
            calendar: calendar,
            timeZone: zone,
            now: try Date(example.now, strategy: .iso8601),
        )
        calendar.timeZone = zone
        let texts = groups.map { group in
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute],
                from: group.day
            )
            let numbers = [parts.month, parts.day, parts.hour, parts.minute]
                .map { String(format: "%02d", $0 ?? 0) }
            return "\(parts.year ?? 0)-\(numbers[0])-\(numbers[1]) \(numbers[2]):\(numbers[3])"
                + (group.isFirstOfDay ? "*" : "") + " \(group.speaker ?? "-"): "
                + group.entries.map(\.key).joined(separator: " ")
        }
        #expect(texts == example.groups)
    }

    @Test("the order of what is given does not matter", arguments: cases)
    private func shuffled(example: Case) throws {
        let zone = try #require(TimeZone(identifier: example.zone))
        let now = try Date(example.now, strategy: .iso8601)
        let entries = try example.entries.map(Entry.init)
        let calendar = Calendar(identifier: .gregorian)
        let groups = EventGroup.grouped(entries, calendar: calendar, timeZone: zone, now: now)
        let others = EventGroup.grouped(
            Array(entries.filter { $0.serverTime != nil }.reversed())
                + entries.filter { $0.serverTime == nil },
            calendar: calendar,
            timeZone: zone,
            now: now,
        )
        #expect(groups == others)
    }

    private static let berlin = "Europe/Berlin"
    // Time, now, zone, day, as listed.
    private static let texts: [(String, String, String, String, String)] = [
        ("2025-06-01T10:05:00Z", "2025-06-01T12:00:00Z", "UTC", "Today", "10:05"),
        ("2025-06-01T00:00:00Z", "2025-06-01T23:59:59Z", "UTC", "Today", "00:00"),
        ("2025-05-31T23:59:59Z", "2025-06-01T00:00:00Z", "UTC", "Yesterday", "Yesterday"),
        ("2025-05-31T23:59:59Z", "2025-06-01T00:00:00Z", berlin, "Today", "01:59"),
        ("2025-05-30T10:00:00Z", "2025-06-01T12:00:00Z", "UTC", "Friday", "Friday"),
        ("2025-05-26T10:00:00Z", "2025-06-01T12:00:00Z", "UTC", "Monday", "Monday"),
        ("2025-05-25T10:00:00Z", "2025-06-01T12:00:00Z", "UTC", "25 May 2025", "25 May 2025"),
        // Ahead of this device's clock.
        ("2025-06-02T10:00:00Z", "2025-06-01T12:00:00Z", "UTC", "2 June 2025", "2 June 2025"),
        // Days of 23 and of 25 hours are days.
        ("2025-03-29T23:30:00Z", "2025-03-30T22:30:00Z", berlin, "Yesterday", "Yesterday"),
        ("2025-10-25T22:30:00Z", "2025-10-26T22:30:00Z", berlin, "Today", "00:30"),
        ("2025-10-25T22:30:00Z", "2025-10-26T23:30:00Z", berlin, "Yesterday", "Yesterday"),
        ("1970-01-01T00:00:00Z", "2025-06-01T12:00:00Z", "UTC", "1 January 1970", "1 January 1970"),
    ]

    @Test("days and times are said as the table says", arguments: texts)
    func said(_ row: (String, String, String, String, String)) throws {
        let time = try Date(row.0, strategy: .iso8601)
        let now = try Date(row.1, strategy: .iso8601)
        let zone = try #require(TimeZone(identifier: row.2))
        #expect(TimeText.day(time, now: now, timeZone: zone) == row.3)
        #expect(TimeText.listed(time, now: now, timeZone: zone) == row.4)
    }
}
