import ChatScreen
import Foundation
import Terminal

/// A screen that is played on, with what it has asked for.
struct Play {
    var screen: Screen
    var requests: [Request] = []

    /// 2025-03-08 12:00 in UTC, a Saturday.
    static let noon = Date(timeIntervalSince1970: 1_741_435_200)

    static let bea = ThreadRow(
        id: .direct("c1"),
        title: "Bea",
        lastText: "You: see you",
        lastAt: noon,
        unread: 0
    )
    static let lunch = ThreadRow(
        id: .room("r1"),
        title: "Lunch",
        lastText: "soup?",
        lastAt: noon.addingTimeInterval(-60),
        unread: 2
    )
    static let old = ThreadRow(
        id: .direct("c2"),
        title: "Cid",
        lastText: "long ago",
        lastAt: noon.addingTimeInterval(-9 * 86_400),
        unread: 120
    )

    /// Ann's, with `rows` in the list.
    init(columns: Int, rows: Int, _ threads: [ThreadRow]? = [bea, lunch, old]) {
        screen = Screen(
            uid: "u-ann",
            username: "ann",
            size: Size(columns: columns, rows: rows),
            timeZone: .gmt
        )
        tell(.names(["u-bea": "bea", "u-cid": "cid"]))
        if let threads { tell(.threads(threads, now: Self.noon)) }
    }

    mutating func tell(_ event: Event) { requests += screen.apply(event) }

    mutating func press(_ keys: Key...) {
        for key in keys { tell(.key(key)) }
    }

    mutating func type(_ text: String) {
        for character in text { press(.character(character)) }
    }

    /// What was asked since the last time.
    mutating func asked() -> [Request] {
        defer { requests = [] }
        return requests
    }

    /// The lines of the screen, without spaces at their ends.
    var lines: [String] {
        screen.frame().lines.map { line in
            var text = line.text
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    var text: String { lines.joined(separator: "\n") }

    static func said(_ text: String, _ by: String = "u-bea", minute: Double, key: String = "")
        -> Entry
    {
        Entry(
            key: key.isEmpty ? "k\(Int(minute * 100) + 1_000_000)" : key,
            at: noon.addingTimeInterval(minute * 60),
            by: by,
            body: .said(text)
        )
    }
}
