/// Numbers as people read them.
enum Amounts {
    /// `999 B`, `1.5 kB`, `300.0 MB`.
    static func bytes(_ count: Int) -> String {
        let units = ["kB", "MB", "GB", "TB"]
        var value = Double(count)
        guard value >= 1000 else { return "\(count) B" }
        var unit = -1
        while value >= 999.95, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return "\(oneDigit(value)) \(units[unit])"
    }

    /// `12.3 MB/s`.
    static func rate(_ byteCount: Int, _ duration: Duration) -> String {
        let seconds = max(duration / .seconds(1), 0.001)
        return bytes(Int(Double(byteCount) / seconds)) + "/s"
    }

    /// `4.2 s`, `3 min 5 s`.
    static func time(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        if seconds < 59.95 { return "\(oneDigit(seconds)) s" }
        let whole = Int(seconds.rounded())
        return whole < 3600
            ? "\(whole / 60) min \(whole % 60) s" : "\(whole / 3600) h \(whole % 3600 / 60) min"
    }

    /// `1 case`, `2 cases`.
    static func count(_ number: Int, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }

    private static func oneDigit(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
