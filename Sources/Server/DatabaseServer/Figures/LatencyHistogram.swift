/// How long something took, counted by classes of time: one array of counters that is made once.
///
/// Noting a time costs a walk over at most `bounds.count` numbers and allocates nothing.
struct LatencyHistogram: Sendable {
    /// The greatest time of each class but the last, which has none; seconds, ascending.
    static let bounds = [
        0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    private static let nanosecondBounds = bounds.map { UInt64($0 * 1e9) }

    /// How many times fell into each class; one more than there are bounds.
    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of all times.
    private(set) var sumNanoseconds: UInt64 = 0

    /// How many times were noted.
    var count: Int { counts.reduce(0, +) }

    /// Notes that something took so long, as often as `times`.
    mutating func note(_ nanoseconds: UInt64, times: Int = 1) {
        var index = 0
        while index < Self.nanosecondBounds.count, nanoseconds > Self.nanosecondBounds[index] {
            index += 1
        }
        counts[index] += times
        sumNanoseconds &+= nanoseconds &* UInt64(times)
    }

    /// The seconds within which this share (0 to 1) of the times since `earlier` stayed; nil when there were none.
    ///
    /// Within a class times count as evenly spread; beyond the last bound that bound stands for all.
    func quantile(_ share: Double, since earlier: LatencyHistogram) -> Double? {
        let fresh = zip(counts, earlier.counts).map { Double($0 - $1) }
        let total = fresh.reduce(0, +)
        guard total > 0 else { return nil }
        var left = share * total
        for (index, bound) in Self.bounds.enumerated() {
            if left <= fresh[index], fresh[index] > 0 {
                let lower = index == 0 ? 0 : Self.bounds[index - 1]
                return lower + (bound - lower) * left / fresh[index]
            }
            left -= fresh[index]
        }
        return Self.bounds.last
    }
}
