/// How often things may be tried. Times are milliseconds.
package enum AttemptLimits {
    /// Failures at one account from one network that are free; each from the last of them on doubles the delay.
    package static let pairFailures = 5
    /// Failures from one network, at any account.
    package static let networkFailures = 20
    /// Failures at one account from all networks that it was never signed in to from.
    package static let strangersFailures = 10

    /// The first delay; each further failure doubles it.
    package static let firstDelay: Int64 = 1000
    package static let longestDelay: Int64 = 15 * 60_000
    /// The longest delay that strangers' failures put on an account: a person who is on a new network waits that long.
    package static let longestStrangersDelay: Int64 = 60_000
    /// Failures are forgotten after this time without one. Longer than any delay, else waiting would pay.
    package static let memory: Int64 = 60 * 60_000
    /// An attempt without a result for this long is over.
    package static let lease: Int64 = 60_000

    /// New accounts from one network, all at once and then one every `interval`.
    ///
    /// Source: Firebase Authentication Limits, "New account creation: 100 accounts/hour" of one IP address.
    package static let signUps = Allowance.Rate(burst: 100, interval: 36_000)
    /// Messages that one network has sent to people.
    package static let messages = Allowance.Rate(burst: 100, interval: 36_000)
    /// New accounts from the /48 around a network of IPv6, and messages: ten times those of one network.
    package static let siteSignUps = Allowance.Rate(burst: 1_000, interval: 3_600)
    package static let siteMessages = Allowance.Rate(burst: 1_000, interval: 3_600)
    /// Messages to one person, from all requests. A flooded person has ten emails with a valid link.
    package static let messagesToOne = Allowance.Rate(burst: 10, interval: 360_000)

    /// Entries of each of the four tables; beyond, what was stored longest ago is forgotten. At some 200 bytes an entry
    /// the tables fill 80 MB, when an attacker has as many networks as that.
    package static let entryLimit = 100_000
    /// Bytes of the name of an account: an address is shorter (`EmailAddress.byteLimit`).
    package static let subjectByteLimit = 256
}

/// Failures in a row, and attempts under way.
struct Tally: Sendable, Equatable {
    /// How many failures are free, and how long a delay can become.
    struct Rule: Sendable {
        let free: Int
        let longest: Int64

        static let pair = Rule(
            free: AttemptLimits.pairFailures,
            longest: AttemptLimits.longestDelay
        )
        static let network = Rule(
            free: AttemptLimits.networkFailures,
            longest: AttemptLimits.longestDelay
        )
        static let strangers = Rule(
            free: AttemptLimits.strangersFailures,
            longest: AttemptLimits.longestStrangersDelay
        )
    }

    private var failureCount = 0
    private var failedAt: Int64 = 0
    private var underWay = 0
    private var begunAt: Int64 = 0

    init() {}

    /// Milliseconds until the next attempt may begin; 0 for now.
    ///
    /// When failures are no longer free, one attempt has to end before the next begins: many at once are no way
    /// around the delay.
    func wait(_ rule: Rule, now: Int64) -> Int64 {
        let failures = failures(now)
        let open = openCount(now)
        guard failures + open >= rule.free else { return 0 }
        if open > 0 { return AttemptLimits.firstDelay }
        let doublings = min(failures - rule.free, 20)
        let delay = min(rule.longest, AttemptLimits.firstDelay << Int64(doublings))
        // A clock that went back must not make a delay longer.
        return min(delay, max(0, failedAt + delay - now))
    }

    mutating func begin(now: Int64) {
        underWay = openCount(now) + 1
        begunAt = now
    }

    mutating func end(isFailure: Bool, now: Int64) {
        underWay = max(0, underWay - 1)
        guard isFailure else { return }
        failureCount = failures(now) + 1
        failedAt = now
    }

    private func failures(_ now: Int64) -> Int {
        now - failedAt >= AttemptLimits.memory ? 0 : failureCount
    }

    private func openCount(_ now: Int64) -> Int {
        now - begunAt >= AttemptLimits.lease ? 0 : underWay
    }
}

/// A budget that refills over time.
package struct Allowance: Sendable, Equatable {
    package struct Rate: Sendable, Equatable {
        /// As many as that at once.
        package let burst: Int
        /// Milliseconds until there is one more.
        package let interval: Int64
    }

    /// When the stock is full again.
    private var fullAt: Int64?

    /// Milliseconds until one may be taken; 0 for now.
    func wait(_ rate: Rate, now: Int64) -> Int64 {
        let taken = max(0, (fullAt ?? now) - now)
        return max(0, taken - Int64(rate.burst - 1) * rate.interval)
    }

    mutating func take(_ rate: Rate, now: Int64) {
        fullAt = max(fullAt ?? now, now) + rate.interval
    }
}
