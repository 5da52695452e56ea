/// The figures that a server shows at `/.metrics`, as they are when it is asked.
///
/// Names follow Prometheus: `hearth_` first (`process_` where its own libraries name a figure so), base units (seconds,
/// bytes), `_total` on counters.
struct Metrics {
    private var families: [String: Family] = [:]

    private struct Family {
        let help: String
        let type: String
        /// The lines of each series, by label text, `{a="b"}` or empty.
        var lines: [String: String] = [:]
    }

    /// Adds a number that only grows.
    mutating func counter(
        _ name: String,
        _ help: String,
        _ value: some BinaryInteger,
        _ labels: [(String, String)] = []
    ) {
        insert(name, help, "counter", "\(value)", labels)
    }

    /// Adds an amount that only grows.
    mutating func counter(_ name: String, _ help: String, _ value: Double) {
        insert(name, help, "counter", Self.number(value), [])
    }

    /// Adds how long something took, in seconds.
    mutating func histogram(
        _ name: String,
        _ help: String,
        _ times: LatencyHistogram,
        _ labels: [(String, String)] = []
    ) {
        var lines = ""
        var count = 0
        for (index, number) in times.counts.enumerated() {
            count += number
            let isLast = index == LatencyHistogram.bounds.count
            let bound = isLast ? .infinity : LatencyHistogram.bounds[index]
            let bucket = Self.labelText(labels + [("le", Self.number(bound))])
            lines += "\(name)_bucket\(bucket) \(count)\n"
        }
        let text = Self.labelText(labels)
        let sum = Double(times.sumNanoseconds) / 1e9
        lines += "\(name)_sum\(text) \(Self.number(sum))\n\(name)_count\(text) \(count)\n"
        insertLines(name, help, "histogram", lines, text)
    }

    /// Adds a number that rises and falls.
    mutating func gauge(
        _ name: String,
        _ help: String,
        _ value: Double,
        _ labels: [(String, String)] = []
    ) {
        insert(name, help, "gauge", Self.number(value), labels)
    }

    /// Adds a count that rises and falls.
    mutating func gauge(
        _ name: String,
        _ help: String,
        _ value: some BinaryInteger,
        _ labels: [(String, String)] = []
    ) {
        insert(name, help, "gauge", "\(value)", labels)
    }

    /// All figures in the Prometheus text format 0.0.4, families and series by name.
    func rendered() -> String {
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(Self.escaped(family.help, quotes: false))\n"
            text += "# TYPE \(name) \(family.type)\n"
            for (_, lines) in family.lines.sorted(by: { $0.key < $1.key }) { text += lines }
        }
        return text
    }

    /// What the text's `Content-Type` is.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private mutating func insert(
        _ name: String,
        _ help: String,
        _ type: String,
        _ value: String,
        _ labels: [(String, String)]
    ) {
        let text = Self.labelText(labels)
        insertLines(name, help, type, "\(name)\(text) \(value)\n", text)
    }

    private mutating func insertLines(
        _ name: String,
        _ help: String,
        _ type: String,
        _ lines: String,
        _ labels: String
    ) {
        precondition(Self.isName(name), "a metric's name has the characters Prometheus allows")
        let family = families[name, default: Family(help: help, type: type)]
        precondition(family.type == type, "a metric's name has one type")
        families[name, default: family].lines[labels] = lines
    }

    private static func labelText(_ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        let parts = labels.map { label, value in
            precondition(isName(label), "a label's name has the characters Prometheus allows")
            return "\(label)=\"\(escaped(value, quotes: true))\""
        }
        return "{\(parts.joined(separator: ","))}"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\"" where quotes: "\\\""
            default: String(scalar)
            }
        }.joined()
    }

    /// Whole numbers without a fraction; `+Inf`, `-Inf`, `NaN` as the format spells them.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return "\(value)"
    }

    private static func isName(_ text: String) -> Bool {
        text.utf8.first.map { !(48...57).contains($0) } == true
            && text.utf8.allSatisfy { byte in
                (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte)
                    || byte == UInt8(ascii: "_")
            }
    }
}
