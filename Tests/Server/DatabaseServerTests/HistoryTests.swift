import DatabaseCore
import JSONTree
import Testing

@testable import DatabaseServer

@Suite("the last hour")
struct HistoryTests {
    private func sample(_ time: Int64) -> HistorySample {
        HistorySample(time: Timestamp(milliseconds: time))
    }

    @Test("is an hour, in 360 samples")
    func hour() {
        #expect(HistoryRing.limit == 360)
        #expect(HistoryRing.period * HistoryRing.limit == .seconds(3_600))
    }

    @Test("the ring keeps the newest, the oldest first", arguments: [0, 1, 2, 3, 4, 7, 100])
    func wraps(count: Int) {
        var ring = HistoryRing(limit: 3)
        for time in 0..<count { ring.add(sample(Int64(time))) }
        let kept = (0..<count).suffix(3).map { Int64($0) }
        #expect(ring.samples.map(\.time.milliseconds) == kept)
        #expect(ring.count == kept.count)
    }

    @Test("a clock that jumps changes no order")
    func jumps() {
        var ring = HistoryRing(limit: 3)
        for time in [50, 10, 90, 20] { ring.add(sample(Int64(time))) }
        #expect(ring.samples.map(\.time.milliseconds) == [10, 90, 20])
    }

    @Test("JSON has a figure for each name, and null where there is none")
    func names() throws {
        var one = sample(7)
        one.put99 = 0.25
        one.longestTick = .infinity
        let text = String(decoding: one.json.text, as: UTF8.self)
        #expect(text == "[7,0,0,0,0,0,0,0,0,0,0,0,0,0,0,null,null,0.25,null]")
        let count = text.split(separator: ",").count
        #expect(count == HistorySample.names.count)
    }
}

@Suite("the times of commits")
struct CommitTimesTests {
    private let one = DatabaseID("one")
    private let two = DatabaseID("two")

    private func number(_ value: Int) -> CommitNumber {
        (0..<value).reduce(CommitNumber.zero) { number, _ in number.next }
    }

    @Test("are noted when the commits are durable, each with its own time")
    func noted() {
        var times = CommitTimes()
        var histogram = LatencyHistogram()
        times.append(number(1), of: one, at: 1_000_000)
        times.append(number(2), of: one, at: 1_000_000)
        times.append(number(1), of: two, at: 1_000_000)
        times.append(number(3), of: one, at: 3_000_000)
        #expect(times.count == 3)
        times.take([(one, number(2))], at: 5_000_000, into: &histogram)
        #expect(histogram.count == 2)
        #expect(histogram.sumNanoseconds == 8_000_000)
        times.take([(two, number(1)), (one, number(3))], at: 6_000_000, into: &histogram)
        #expect(histogram.count == 4)
        #expect(times.count == 0)
    }

    @Test("beyond the limit commits are not measured, and the ring goes on")
    func bounded() {
        var times = CommitTimes(limit: 3)
        var histogram = LatencyHistogram()
        for round in 0..<5 {
            for step in 1...4 {
                times.append(number(round * 4 + step), of: one, at: UInt64(round * 10 + step))
            }
            #expect(times.count == 3)
            times.take([(one, number(round * 4 + 4))], at: 1_000, into: &histogram)
            #expect(times.count == 0)
        }
        #expect(histogram.count == 15)
    }

    @Test("a time before that of the commit counts as none at all")
    func backwards() {
        var times = CommitTimes()
        var histogram = LatencyHistogram()
        times.append(number(1), of: one, at: 9)
        times.take([(one, number(1))], at: 3, into: &histogram)
        #expect(histogram.sumNanoseconds == 0)
        #expect(histogram.count == 1)
    }
}
