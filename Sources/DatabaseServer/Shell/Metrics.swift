/// The figures a server shows at `/.metrics`.
///
/// Not Sendable: one thread, the loop's, makes, changes and renders them. Names follow Prometheus: `hearth_` first,
/// base units (seconds, bytes), `_total` on counters.
package final class Metrics {
    private var families: [String: Family] = [:]

    package init() {}

    /// A number that only grows.
    package final class Counter {
        fileprivate(set) package var value: Double = 0

        package func add(_ amount: Double = 1) {
            precondition(amount >= 0, "a counter never falls")
            value += amount
        }
    }

    /// A number that rises and falls.
    package final class Gauge {
        package var value: Double = 0
    }

    /// How often a measure fell into each of a few ranges.
    package final class Histogram {
        /// Ascending upper ends, each its range's last value.
        fileprivate let bounds: [Double]
        /// One more than bounds: the last has no end.
        fileprivate var counts: [UInt64]
        fileprivate var sum: Double = 0

        fileprivate init(bounds: [Double]) {
            self.bounds = bounds
            self.counts = Array(repeating: 0, count: bounds.count + 1)
        }

        package func observe(_ value: Double) {
            let index = bounds.firstIndex { value <= $0 } ?? bounds.count
            counts[index] += 1
            sum += value
        }
    }

    /// Seconds from 100 us to 10 s, three a decade: for whole requests and syncs.
    package static let durationBounds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
        10,
    ]

    private struct Family {
        let help: String
        let type: String
        /// By label text, `{a="b"}` or empty.
        var series: [String: Series] = [:]
    }

    private enum Series {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)
        /// Read when the figures are shown.
        case reading(() -> Double)
    }

    /// The counter of this name and these labels, made on first use.
    package func counter(_ name: String, _ help: String, _ labels: [(String, String)] = [])
        -> Counter
    {
        let made = Counter()
        let series = insert(.counter(made), name, help, "counter", labels)
        guard case .counter(let counter) = series else { return made }
        return counter
    }

    /// The gauge of this name and these labels, made on first use.
    package func gauge(_ name: String, _ help: String, _ labels: [(String, String)] = []) -> Gauge {
        let made = Gauge()
        let series = insert(.gauge(made), name, help, "gauge", labels)
        guard case .gauge(let gauge) = series else { return made }
        return gauge
    }

    /// The histogram of this name and these labels, made on first use with `bounds`.
    package func histogram(
        _ name: String,
        _ help: String,
        bounds: [Double] = durationBounds,
        _ labels: [(String, String)] = [],
    ) -> Histogram {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy(<), "bounds ascend")
        let made = Histogram(bounds: bounds)
        let series = insert(.histogram(made), name, help, "histogram", labels)
        guard case .histogram(let histogram) = series else { return made }
        return histogram
    }

    /// A counter kept elsewhere, read when the figures are shown.
    package func counter(
        _ name: String,
        _ help: String,
        _ labels: [(String, String)] = [],
        reading: @escaping () -> Double,
    ) {
        _ = insert(.reading(reading), name, help, "counter", labels)
    }

    /// A gauge kept elsewhere, read when the figures are shown.
    package func gauge(
        _ name: String,
        _ help: String,
        _ labels: [(String, String)] = [],
        reading: @escaping () -> Double,
    ) {
        _ = insert(.reading(reading), name, help, "gauge", labels)
    }

    /// All figures in the Prometheus text format 0.0.4, families and series by name.
    package func rendered() -> String {
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(Self.escaped(family.help, quotes: false))\n"
            text += "# TYPE \(name) \(family.type)\n"
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                render(series, name, labels, into: &text)
            }
        }
        return text
    }

    /// What the text's `Content-Type` is.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private func insert(
        _ series: Series,
        _ name: String,
        _ help: String,
        _ type: String,
        _ labels: [(String, String)],
    ) -> Series {
        precondition(Self.isName(name), "a metric's name has the characters Prometheus allows")
        let key = Self.labelText(labels)
        var family = families[name] ?? Family(help: help, type: type)
        precondition(family.type == type, "a metric's name has one type")
        if let known = family.series[key] { return known }
        family.series[key] = series
        families[name] = family
        return series
    }

    private func render(_ series: Series, _ name: String, _ labels: String, into text: inout String)
    {
        switch series {
        case .counter(let counter): text += "\(name)\(labels) \(Self.number(counter.value))\n"
        case .gauge(let gauge): text += "\(name)\(labels) \(Self.number(gauge.value))\n"
        case .reading(let reading): text += "\(name)\(labels) \(Self.number(reading()))\n"
        case .histogram(let histogram):
            var count: UInt64 = 0
            let ends = histogram.bounds.map(Self.number) + ["+Inf"]
            for (end, part) in zip(ends, histogram.counts) {
                count += part
                let inner = labels.isEmpty ? "" : labels.dropFirst().dropLast() + ","
                text += "\(name)_bucket{\(inner)le=\"\(end)\"} \(count)\n"
            }
            text += "\(name)_sum\(labels) \(Self.number(histogram.sum))\n"
            text += "\(name)_count\(labels) \(count)\n"
        }
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
