import JSONTree

/// What the server did in one period, of fixed size.
struct HistorySample: Sendable, Equatable {
    /// When the period ended, by the wall clock, which may jump.
    var time = Timestamp(milliseconds: 0)
    var residentByteCount = 0
    /// Seconds of processor time in a second: 1 is one core.
    var cpuShare = 0.0
    /// 0 when nothing is kept on disk.
    var freeDiskByteCount = 0
    var logByteCount = 0
    var connectionCount = 0
    var sessionCount = 0
    var listenCount = 0
    var queuedByteCount = 0
    /// In a second.
    var reads = 0.0
    var commits = 0.0
    var deliveries = 0.0
    var requests = 0.0
    var refusals = 0.0
    var sentBytes = 0.0
    /// Seconds within which half, 95 and 99 in a hundred writes were acknowledged; -1 when there were none.
    var putMedian = -1.0
    var put95 = -1.0
    var put99 = -1.0
    /// Seconds of the longest tick.
    var longestTick = 0.0

    /// The figures in the order in which JSON has them.
    static let names = [
        "time", "residentBytes", "cpuShare", "freeDiskBytes", "logBytes", "connections", "sessions",
        "listens", "queuedBytes", "reads", "commits", "deliveries", "requests", "refusals",
        "sentBytes", "putMedian", "put95", "put99", "longestTick",
    ]

    /// The figures by `names`; null for a figure that there is not.
    var json: JSONValue {
        let counts = [
            residentByteCount, freeDiskByteCount, logByteCount, connectionCount, sessionCount,
            listenCount, queuedByteCount,
        ].map { JSONValue.number($0) }
        let rates = [reads, commits, deliveries, requests, refusals, sentBytes].map(Self.rounded)
        let times = [putMedian, put95, put99].map { $0 < 0 ? JSONValue.null : Self.rounded($0) }
        return .list(
            [.integer(time.milliseconds), counts[0], Self.rounded(cpuShare)] + counts[1...] + rates
                + times + [Self.rounded(longestTick)]
        )
    }

    /// To the microsecond, or the millionth.
    private static func rounded(_ value: Double) -> JSONValue {
        guard value.isFinite else { return .null }
        let millionths = Int64((value * 1e6).rounded())
        if millionths % 1_000_000 == 0 { return .integer(millionths / 1_000_000) }
        return .raw(Array("\(Double(millionths) / 1e6)".utf8))
    }
}

/// The samples of the last hour, in memory that is made once.
struct HistoryRing: Sendable {
    /// Samples that are kept: an hour of periods.
    static let limit = 360
    /// The time from one sample to the next.
    static let period = Duration.seconds(10)

    private var slots: [HistorySample]
    private var next = 0
    private(set) var count = 0

    init(limit: Int = limit) {
        slots = Array(repeating: HistorySample(), count: limit)
    }

    /// Keeps a sample in place of the oldest one.
    mutating func add(_ sample: HistorySample) {
        slots[next] = sample
        next = (next + 1) % slots.count
        count = min(count + 1, slots.count)
    }

    /// The samples in the order in which they were added, which a clock that is set back does not change.
    var samples: [HistorySample] {
        (0..<count).map { slots[(next - count + $0 + slots.count) % slots.count] }
    }
}
