import TestSupport
import Testing

@testable import IdentityToolkit

/// Numbers that are the same for a seed.
struct Seeded {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}

/// The rules of `AttemptLimiter`, by looking through everything that has ever happened.
private struct NaiveLimiter {
    private struct Event {
        let kind: Attempt.Kind
        let network: ClientNetwork
        let subject: String?
        let isStranger: Bool
        let begunAt: Int64
        var endedAt: Int64?
        var outcome: AttemptLimiter.Outcome?
    }

    private var events: [Event] = []

    mutating func begin(_ attempt: Attempt, now: Int64) -> Int? {
        guard wait(attempt, now) == 0 else { return nil }
        events.append(
            Event(
                kind: attempt.kind,
                network: attempt.network,
                subject: attempt.subject,
                isStranger: !hasSucceeded(attempt),
                begunAt: now
            )
        )
        return events.count - 1
    }

    mutating func end(_ event: Int, _ outcome: AttemptLimiter.Outcome, now: Int64) {
        events[event].endedAt = now
        events[event].outcome = outcome
    }

    func wait(_ attempt: Attempt, _ now: Int64) -> Int64 {
        switch attempt.kind {
        case .signUp: return stock(.signUp, 100, 36_000, now) { $0.network == attempt.network }
        case .message:
            return max(
                stock(.message, 100, 36_000, now) { $0.network == attempt.network },
                stock(.message, 10, 360_000, now) {
                    $0.subject != nil && $0.subject == attempt.subject
                }
            )
        case .token:
            return delay(20, 900_000, now, [.token]) { $0.network == attempt.network }
        case .proof:
            guard attempt.subject != nil else { return wait(ofNetwork: attempt, now) }
            let pair = delay(5, 900_000, now, endsWithSuccess: true) {
                $0.network == attempt.network && $0.subject == attempt.subject
            }
            if hasSucceeded(attempt) { return pair }
            let strangers = delay(10, 60_000, now) {
                $0.subject == attempt.subject && $0.isStranger
            }
            return max(pair, strangers, wait(ofNetwork: attempt, now))
        }
    }

    private func wait(ofNetwork attempt: Attempt, _ now: Int64) -> Int64 {
        delay(20, 900_000, now) {
            $0.network == attempt.network && ($0.isStranger || $0.subject == nil)
        }
    }

    private func hasSucceeded(_ attempt: Attempt) -> Bool {
        events.contains {
            $0.kind == .proof && $0.outcome == .succeeded && $0.subject != nil
                && $0.subject == attempt.subject && $0.network == attempt.network
        }
    }

    private func stock(
        _ kind: Attempt.Kind,
        _ burst: Int64,
        _ interval: Int64,
        _ now: Int64,
        _ isMeant: (Event) -> Bool
    ) -> Int64 {
        var fullAt: Int64 = 0
        for event in events where event.kind == kind && isMeant(event) {
            fullAt = max(fullAt, event.begunAt) + interval
        }
        return max(0, max(0, fullAt - now) - (burst - 1) * interval)
    }

    private func delay(
        _ free: Int,
        _ longest: Int64,
        _ now: Int64,
        _ kinds: [Attempt.Kind] = [.proof],
        endsWithSuccess: Bool = false,
        _ isMeant: (Event) -> Bool
    ) -> Int64 {
        let mine = events.filter { kinds.contains($0.kind) && isMeant($0) }
        var failures: [Int64] = []
        let ended = mine.filter { $0.endedAt != nil }.sorted {
            ($0.endedAt ?? 0) < ($1.endedAt ?? 0)
        }
        for event in ended {
            let time = event.endedAt ?? 0
            if event.outcome == .failed {
                if let last = failures.last, time - last >= 3_600_000 { failures = [] }
                failures.append(time)
            } else if endsWithSuccess, event.outcome == .succeeded {
                failures = []
            }
        }
        if let last = failures.last, now - last >= 3_600_000 { failures = [] }
        let open = mine.count { $0.endedAt == nil }
        guard failures.count + open >= free else { return 0 }
        if open > 0 { return 1000 }
        var delay: Int64 = 1000
        for _ in 0..<(failures.count - free) { delay = min(longest, 2 * delay) }
        return max(0, (failures.last ?? 0) + delay - now)
    }
}

@Suite("limits on attempts and their naive twin")
struct AttemptTwinTests {
    /// Every attempt ends within the second in which it began, so that none is given up, in the order of their
    /// beginnings.
    @Test("agree on random histories", arguments: TestSeed.seeds(25))
    func histories(seed: UInt64) {
        var random = Seeded(state: seed)
        var limiter = AttemptLimiter()
        var twin = NaiveLimiter()
        var now: Int64 = 1_000_000
        var refusals = 0
        for step in 0..<150 {
            now +=
                [0, 1, 500, 999, 1000, 5000, 60_000, 400_000, 3_600_000][
                    random.below(random.below(12) == 0 ? 9 : 6)
                ]
            var open: [(AttemptLimiter.Begun, Int)] = []
            for _ in 0..<(1 + random.below(3)) {
                let attempt = randomAttempt(&random)
                let expected = twin.wait(attempt, now)
                let start = limiter.begin(attempt, now: now)
                switch (start, twin.begin(attempt, now: now)) {
                case (.begun(let begun), let event?): open.append((begun, event))
                case (.wait(let wait), nil) where wait == expected: refusals += 1
                default:
                    Issue.record(
                        "seed \(seed), step \(step): \(start), not \(expected): \(attempt)"
                    )
                    return
                }
            }
            now += Int64(random.below(1000))
            for (begun, event) in open {
                let outcome: AttemptLimiter.Outcome =
                    switch random.below(16) {
                    case 0: .succeeded
                    case 1: .undecided
                    default: .failed
                    }
                limiter.end(begun, outcome, now: now)
                twin.end(event, outcome, now: now)
            }
        }
        #expect(refusals > 0, "seed \(seed)")
    }

    private func randomAttempt(_ random: inout Seeded) -> Attempt {
        let network = ClientNetwork([10, 0, 0, UInt8(random.below(3))], text: "")
        let subject = "user \(random.below(3))"
        switch random.below(12) {
        case 0: return Attempt(.token, from: network)
        case 1: return Attempt(.signUp, from: network)
        case 2: return Attempt(.message, from: network, subject: subject)
        case 3: return Attempt(.proof, from: network)
        default: return Attempt(.proof, from: network, subject: subject)
        }
    }
}
