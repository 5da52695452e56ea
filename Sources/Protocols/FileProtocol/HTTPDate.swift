import FileRecords
package import JSONTree

/// Times in headers (RFC 9110, 5.6.7) and in signed addresses.
package enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Wed, 30 Sep 2026 17:26:04 GMT`; milliseconds are cut off.
    package static func text(_ time: Timestamp) -> String {
        let text = ISO8601.text(of: time.milliseconds)
        let parts = text.split(whereSeparator: { "-T.".contains($0) })
        let days = Int((time.milliseconds / 86_400_000) % 7)
        let month = Int(parts[1]).map { months[$0 - 1] } ?? ""
        return "\(Self.days[(days + 7) % 7]), \(parts[2]) \(month) \(parts[0]) \(parts[3]) GMT"
    }

    /// The moment of such a text; nil for another one.
    package static func timestamp(_ text: String) -> Timestamp? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", words[0].utf8.count == 4,
            let month = months.firstIndex(of: String(words[2])), let day = Int(words[1]),
            let year = Int(words[3])
        else { return nil }
        var clock = Array(words[4].utf8)[...]
        guard let hour = FileTime.number(&clock, 2, then: ":"),
            let minute = FileTime.number(&clock, 2, then: ":"),
            let second = FileTime.number(&clock, 2, then: ""), clock.isEmpty
        else { return nil }
        return FileTime.milliseconds(year, month + 1, day, hour, minute, second)
            .map { Timestamp(milliseconds: $0) }
    }

    /// `20260930T172604Z`; nil for another text.
    package static func timestamp(compact text: String) -> Timestamp? {
        var rest = Array(text.utf8)[...]
        guard let year = FileTime.number(&rest, 4, then: ""),
            let month = FileTime.number(&rest, 2, then: ""),
            let day = FileTime.number(&rest, 2, then: "T"),
            let hour = FileTime.number(&rest, 2, then: ""),
            let minute = FileTime.number(&rest, 2, then: ""),
            let second = FileTime.number(&rest, 2, then: "Z"), rest.isEmpty
        else { return nil }
        return FileTime.milliseconds(year, month, day, hour, minute, second)
            .map { Timestamp(milliseconds: $0) }
    }

    /// `20260930T172604Z`.
    package static func compactText(_ time: Timestamp) -> String {
        ISO8601.text(of: time.milliseconds).prefix(19)
            .filter { $0 != "-" && $0 != ":" } + "Z"
    }
}
