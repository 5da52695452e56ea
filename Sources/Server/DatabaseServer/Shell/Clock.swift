import Glibc
import JSONTree

/// The only reader of the system's clock.
enum Clock {
    /// Milliseconds since 1970, UTC.
    static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let milliseconds = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        return Timestamp(milliseconds: milliseconds)
    }

    /// Nanoseconds of the clock that never goes back, for durations.
    static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The only source of randomness.
enum Randomness {
    /// 24 unguessable characters that need no encoding in an address.
    static func identifier() -> String {
        Base64.encode(bytes(18), .url)
    }

    static func bytes(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}
