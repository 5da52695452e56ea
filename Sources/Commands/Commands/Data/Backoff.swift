import Glibc

/// Pauses between attempts: each twice the last, up to a limit, spread so that many clients do not come at once.
struct Backoff {
    private var seconds = 0.5

    /// The next pause: three quarters of it to the whole.
    mutating func next() -> Duration {
        defer { seconds = min(seconds * 2, DataLimits.longestPause) }
        return .seconds(seconds * Double.random(in: 0.75...1))
    }

    static func sleep(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var left = timespec()
        while nanosleep(&time, &left) != 0, errno == EINTR { time = left }
    }
}

/// The attempts of a command that stays connected.
struct Reconnection {
    private let console: Console
    private var backoff = Backoff()
    /// Whether the server was reached once.
    private(set) var hasSucceeded = false

    init(_ console: Console) {
        self.console = console
    }

    /// Takes note that the server is reached.
    mutating func succeed() {
        hasSucceeded = true
        backoff = Backoff()
    }

    /// Says why the connection is lost, and waits for the next attempt.
    mutating func wait(_ reason: String) {
        let pause = backoff.next()
        console.say("\(reason)\ntrying again in \(Amounts.time(pause))")
        Backoff.sleep(pause)
    }
}
