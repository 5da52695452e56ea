import Foundation

/// The clocks of this machine; the client and the services ask no other.
package enum SystemClock {
    /// A time that only goes forward, also when the system's time is set.
    package static var instant: ContinuousClock.Instant { .now }

    /// The system's time, which can be set.
    package static var date: Date { Date() }

    /// The system's time in milliseconds since 1970.
    package static var milliseconds: Int64 { Int64(date.timeIntervalSince1970 * 1_000) }
}
