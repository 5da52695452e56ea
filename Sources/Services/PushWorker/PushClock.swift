import HearthDatabase

/// The time, and waiting: the system's, or a test's.
package struct PushClock: Sendable {
    /// This machine's clock, milliseconds since 1970; the server's offset is added to it.
    package var now: @Sendable () -> Int64
    /// Returns at that time of `now`, or when its task is cancelled.
    package var wait: @Sendable (Int64) async -> Void

    package init(
        now: @escaping @Sendable () -> Int64,
        wait: @escaping @Sendable (Int64) async -> Void,
    ) {
        self.now = now
        self.wait = wait
    }

    /// The machine's.
    package static let system = PushClock(
        now: { SystemClock.milliseconds },
        wait: { time in
            // A cancelled wait ends at once.
            try? await Task.sleep(for: .milliseconds(time - SystemClock.milliseconds))
        }
    )
}
