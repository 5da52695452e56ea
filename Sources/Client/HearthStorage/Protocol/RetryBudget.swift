/// When a request that was lost is sent again: after 1 s, doubling to 64 s, until the time for it is over.
struct RetryBudget: Sendable {
    /// How long it may be tried without progress.
    let limit: Duration
    private var next = StorageLimits.retryDelays.lowerBound
    /// When the first of these failures was; nil without one.
    private var start: Duration?

    init(_ limit: Duration) { self.limit = limit }

    /// There is progress: the time begins anew.
    mutating func succeed() { self = RetryBudget(limit) }

    /// How long to wait before the next attempt; nil: give up. `now` is the time on a clock that only goes forward;
    /// `spread` is from 0 to 1, at random, so that clients of a server that was away do not all come at once.
    mutating func delay(now: Duration, spread: Double) -> Duration? {
        let start = start ?? now
        self.start = start
        let delay = next * (0.75 + 0.25 * spread)
        next = min(next * 2, StorageLimits.retryDelays.upperBound)
        return now - start + delay <= limit ? delay : nil
    }
}
