import Glibc
package import JSONTree

/// How often, and after which waits, a request is sent again that failed for a passing reason.
///
///     tries   1   2       3       4       5
///     waits     200 ms  400 ms  800 ms  1.6 s      then the error goes to the caller
///
/// Waits have no random part: one server has one store, so its clients do not begin in step.
package struct RetryPolicy: Sendable, Equatable {
    /// Requests in all, at least 1.
    package var tryCount = 5
    /// The wait after the first; each further one is twice as long.
    package var firstWait = Duration.milliseconds(200)
    package var longestWait = Duration.seconds(5)

    package init() {}

    /// How long to wait after so many tries; nil when there were enough.
    func wait(afterTries count: Int) -> Duration? {
        guard count < tryCount else { return nil }
        return min(longestWait, firstWait * (1 << min(count - 1, 20)))
    }
}

/// The time, and the way to let some pass.
package struct ObjectStoreClock: Sendable {
    /// What a signature says; the store refuses one that is 15 minutes off.
    package var now: @Sendable () -> Timestamp
    /// Returns after that time.
    package var wait: @Sendable (Duration) -> Void

    package init(
        now: @escaping @Sendable () -> Timestamp,
        wait: @escaping @Sendable (Duration) -> Void
    ) {
        self.now = now
        self.wait = wait
    }

    /// The machine's; blocks the thread that waits.
    package static let system = ObjectStoreClock(
        now: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Timestamp(
                milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
            )
        },
        wait: { duration in
            let (seconds, attoseconds) = duration.components
            var wait = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
            var rest = timespec()
            while nanosleep(&wait, &rest) != 0, errno == EINTR { wait = rest }
        }
    )
}
