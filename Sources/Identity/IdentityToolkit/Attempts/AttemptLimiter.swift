/// Slows down guessing, without locking users out.
///
/// - At one account from one network: five failures are free, then each doubles a delay, up to 15 minutes. A success
///   ends it.
/// - From one network: twenty failures are free; tokens that cannot be guessed are counted apart, so that failed
///   passwords do not delay users who are signed in.
/// - At one account from all networks together: ten are free, then strangers wait, a minute at most. A network that the
///   account was signed in to from before is not a stranger: no attacker elsewhere can make its owner wait there.
///   Nor do the network's own failures at other accounts.
///
/// Accounts that do not exist are limited like those that do. Pure: the time is an argument, in milliseconds of a clock
/// that starts anywhere. All of it is lost when the server ends.
package struct AttemptLimiter: Sendable {
    package enum Outcome: Sendable, Equatable {
        case succeeded, failed
        /// Neither proved nor disproved anything.
        case undecided
    }

    private struct Pair: Hashable, Sendable {
        let subject: String
        let network: ClientNetwork
    }

    private struct OfNetwork: Sendable {
        var tally = Tally()
        var tokens = Tally()
        var signUps = Allowance()
        var messages = Allowance()
    }

    private struct OfSubject: Sendable {
        var strangers = Tally()
        var messages = Allowance()
    }

    private var pairs: RecencyTable<Pair, Tally>
    /// Pairs that have succeeded before. Only successes get into it, so failures push nothing out of it.
    private var known: RecencyTable<Pair, Bool>
    private var networks: RecencyTable<ClientNetwork, OfNetwork>
    private var subjects: RecencyTable<String, OfSubject>

    /// - Parameter entryLimit: entries of each table.
    package init(entryLimit: Int = AttemptLimits.entryLimit) {
        pairs = RecencyTable(limit: entryLimit)
        known = RecencyTable(limit: entryLimit)
        networks = RecencyTable(limit: entryLimit)
        subjects = RecencyTable(limit: entryLimit)
    }

    /// Entries of the largest table.
    package var entryCount: Int {
        max(pairs.count, known.count, networks.count, subjects.count)
    }

    /// What becomes of an attempt.
    package enum Start: Sendable, Equatable {
        case begun(Begun)
        /// It may begin in this many milliseconds, at least one.
        case wait(Int64)
    }

    /// An attempt under way.
    package struct Begun: Sendable, Equatable {
        package let attempt: Attempt
        /// Whether it counts only for its pair.
        fileprivate let isKnown: Bool
    }

    /// Begins an attempt, unless it has to wait.
    ///
    /// Each one that has begun has to be ended once; one that is not is taken as over after `AttemptLimits.lease`.
    package mutating func begin(_ attempt: Attempt, now: Int64) -> Start {
        let wait = wait(attempt, now)
        guard wait == 0 else { return .wait(wait) }
        let pair = pair(attempt)
        let isKnown = pair.map { known[$0] != nil } ?? false
        switch attempt.kind {
        case .signUp:
            change(attempt.network) { $0.signUps.take(AttemptLimits.signUps, now: now) }
            changeSite(attempt) { $0.signUps.take(AttemptLimits.siteSignUps, now: now) }
        case .message:
            change(attempt.network) { $0.messages.take(AttemptLimits.messages, now: now) }
            changeSite(attempt) { $0.messages.take(AttemptLimits.siteMessages, now: now) }
            changeSubject(attempt) { $0.messages.take(AttemptLimits.messagesToOne, now: now) }
        case .token: change(attempt.network) { $0.tokens.begin(now: now) }
        case .proof:
            if let pair { changePair(pair) { $0.begin(now: now) } }
            if !isKnown {
                changeSubject(attempt) { $0.strangers.begin(now: now) }
                change(attempt.network) { $0.tally.begin(now: now) }
            }
        }
        return .begun(Begun(attempt: attempt, isKnown: isKnown))
    }

    /// Ends an attempt.
    package mutating func end(_ begun: Begun, _ outcome: Outcome, now: Int64) {
        let attempt = begun.attempt
        let isFailure = outcome == .failed
        switch attempt.kind {
        case .signUp, .message: return
        case .token: change(attempt.network) { $0.tokens.end(isFailure: isFailure, now: now) }
        case .proof:
            if let pair = pair(attempt) {
                changePair(pair) { $0.end(isFailure: isFailure, now: now) }
            }
            if !begun.isKnown {
                changeSubject(attempt) { $0.strangers.end(isFailure: isFailure, now: now) }
                change(attempt.network) { $0.tally.end(isFailure: isFailure, now: now) }
            }
            if outcome == .succeeded, let subject = attempt.subject {
                welcome(subject, from: attempt.network)
            }
        }
    }

    /// Records a proof of `subject` on this network, of any kind.
    package mutating func welcome(_ subject: String, from network: ClientNetwork) {
        let pair = Pair(subject: subject, network: network)
        known.set(true, for: pair)
        pairs.remove(pair)
    }

    // MARK: - Waiting

    private func wait(_ attempt: Attempt, _ now: Int64) -> Int64 {
        let network = networks[attempt.network] ?? OfNetwork()
        switch attempt.kind {
        case .token: return network.tokens.wait(.network, now: now)
        case .signUp:
            let site = attempt.network.site.flatMap { networks[$0] }?.signUps ?? Allowance()
            return max(
                network.signUps.wait(AttemptLimits.signUps, now: now),
                site.wait(AttemptLimits.siteSignUps, now: now)
            )
        case .message:
            let site = attempt.network.site.flatMap { networks[$0] }?.messages ?? Allowance()
            let subject = attempt.subject.flatMap { subjects[$0] }?.messages ?? Allowance()
            return max(
                network.messages.wait(AttemptLimits.messages, now: now),
                site.wait(AttemptLimits.siteMessages, now: now),
                subject.wait(AttemptLimits.messagesToOne, now: now)
            )
        case .proof:
            guard let pair = pair(attempt) else {
                return network.tally.wait(.network, now: now)
            }
            let own = pairs[pair]?.wait(.pair, now: now) ?? 0
            if known[pair] != nil { return own }
            let strangers = subjects[pair.subject]?.strangers.wait(.strangers, now: now) ?? 0
            return max(own, strangers, network.tally.wait(.network, now: now))
        }
    }

    private func pair(_ attempt: Attempt) -> Pair? {
        attempt.subject.map { Pair(subject: $0, network: attempt.network) }
    }

    private mutating func changePair(_ pair: Pair, _ change: (inout Tally) -> Void) {
        var tally = pairs[pair] ?? Tally()
        change(&tally)
        pairs.set(tally, for: pair)
    }

    private mutating func changeSubject(_ attempt: Attempt, _ change: (inout OfSubject) -> Void) {
        guard let subject = attempt.subject else { return }
        var entry = subjects[subject] ?? OfSubject()
        change(&entry)
        subjects.set(entry, for: subject)
    }

    private mutating func changeSite(_ attempt: Attempt, _ change: (inout OfNetwork) -> Void) {
        if let site = attempt.network.site { self.change(site, change) }
    }

    private mutating func change(_ network: ClientNetwork, _ change: (inout OfNetwork) -> Void) {
        var entry = networks[network] ?? OfNetwork()
        change(&entry)
        networks.set(entry, for: network)
    }
}
