import Testing

@testable import DatabaseServer

@Suite("a histogram of times")
struct LatencyHistogramTests {
    @Test(
        "counts a time in the class whose bound it does not exceed",
        arguments: [
            (0, 0), (500_000, 0), (500_001, 1), (1_000_000, 1), (10_000_000_000, 13),
            (10_000_000_001, 14), (UInt64.max, 14),
        ] as [(UInt64, Int)]
    )
    func classes(nanoseconds: UInt64, index: Int) {
        var times = LatencyHistogram()
        times.note(nanoseconds)
        #expect(times.counts.enumerated().filter { $0.element > 0 }.map(\.offset) == [index])
        #expect(times.count == 1)
    }

    @Test("has as many counters however much it counts, and its sum does not trap")
    func bounded() {
        var times = LatencyHistogram()
        for _ in 0..<1_000 { times.note(.max, times: 3) }
        #expect(times.counts.count == LatencyHistogram.bounds.count + 1)
        #expect(times.count == 3_000)
    }

    @Test("its classes ascend")
    func ascending() {
        let bounds = LatencyHistogram.bounds
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("a share of the times is found within its class, of what came since")
    func quantiles() {
        var times = LatencyHistogram()
        times.note(9_000_000_000, times: 1_000)
        let earlier = times
        #expect(times.quantile(0.5, since: earlier) == nil)
        // 100 times in the class from 1 ms to 2.5 ms.
        times.note(2_000_000, times: 100)
        #expect(times.quantile(0.5, since: earlier) == 0.00175)
        #expect(times.quantile(1, since: earlier) == 0.0025)
        times.note(60_000_000_000, times: 100)
        #expect(times.quantile(0.99, since: earlier) == 10)
    }
}
