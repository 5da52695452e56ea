import HearthCore

/// The time between attempts, which tests replace.
struct StorageClock: Sendable {
    /// Time since some moment, which only goes forward.
    let now: @Sendable () -> Duration
    /// Waits; false when the task was cancelled meanwhile.
    let sleep: @Sendable (Duration) async -> Bool

    private static let start = SystemClock.instant

    static let system = StorageClock(
        now: { start.duration(to: SystemClock.instant) },
        sleep: { duration in
            do {
                try await Task.sleep(for: duration)
                return true
            } catch {
                return false
            }
        }
    )
}
