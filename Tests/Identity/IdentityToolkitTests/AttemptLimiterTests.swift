import TestSupport
import Testing

@testable import IdentityToolkit

private let home = ClientNetwork([10, 0, 0, 1], text: "")
private let away = ClientNetwork([10, 0, 0, 2], text: "")
private let minute: Int64 = 60_000

private func network(_ number: Int) -> ClientNetwork {
    ClientNetwork(
        [20, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)],
        text: ""
    )
}

/// A limiter with a clock that goes on by hand.
private struct Clocked {
    var limiter = AttemptLimiter()
    var now: Int64 = 5_000_000

    /// Tries once; nil when it began, else the milliseconds to wait.
    mutating func attempt(
        _ subject: String?,
        _ outcome: AttemptLimiter.Outcome,
        from network: ClientNetwork = home,
        _ kind: Attempt.Kind = .proof
    ) -> Int64? {
        switch limiter.begin(Attempt(kind, from: network, subject: subject), now: now) {
        case .wait(let wait): return wait
        case .begun(let begun):
            limiter.end(begun, outcome, now: now)
            return nil
        }
    }
}

@Suite("limits on attempts")
struct AttemptLimiterTests {
    @Test("five failures at an account are free, then each doubles the delay up to 15 minutes")
    func pairDelays() {
        var world = Clocked()
        for _ in 0..<5 { #expect(world.attempt("a", .failed) == nil) }
        var delay: Int64 = 1000
        for _ in 0..<14 {
            #expect(world.attempt("a", .failed) == delay)
            world.now += delay - 1
            #expect(world.attempt("a", .succeeded) == 1)
            world.now += 1
            #expect(world.attempt("a", .failed) == nil)
            delay = min(2 * delay, 15 * minute)
        }
        #expect(delay == 15 * minute)
        #expect(world.attempt("b", .failed, from: away) == nil)
    }

    @Test("a success ends the delays of its pair")
    func success() {
        var world = Clocked()
        for _ in 0..<5 { _ = world.attempt("a", .failed) }
        world.now += 1000
        #expect(world.attempt("a", .succeeded) == nil)
        for _ in 0..<5 { #expect(world.attempt("a", .failed) == nil) }
        #expect(world.attempt("a", .failed) == 1000)
    }

    @Test("failures are forgotten after an hour without any")
    func memory() {
        var world = Clocked()
        for _ in 0..<5 { _ = world.attempt("a", .failed) }
        world.now += 60 * minute
        for _ in 0..<5 { #expect(world.attempt("a", .failed) == nil) }
        #expect(world.attempt("a", .failed) == 1000)
    }

    @Test("twenty failures from one network are free, whatever the accounts")
    func networkDelays() {
        var world = Clocked()
        for number in 0..<20 { #expect(world.attempt("user \(number)", .failed) == nil) }
        #expect(world.attempt("user 20", .failed) == 1000)
        for _ in 0..<20 {
            #expect(world.attempt(nil, .failed, .token) == nil, "tokens are counted apart")
        }
        #expect(world.attempt(nil, .failed, .token) == 1000)
        #expect(world.attempt("user 20", .failed, from: away) == nil)
        world.now += 1000
        #expect(world.attempt("user 20", .succeeded) == nil)
        #expect(world.attempt("user 21", .failed) == nil, "successes put off nothing")
        #expect(world.attempt("user 22", .failed) == 2000)
    }

    @Test("the network of who holds a /64 of IPv6 is all of it")
    func prefix() {
        let one = ClientNetwork([32, 1, 13, 184, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8], text: "")
        let same = ClientNetwork([32, 1, 13, 184, 0, 0, 0, 7, 8, 7, 6, 5, 4, 3, 2, 1], text: "")
        let other = ClientNetwork([32, 1, 13, 184, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8], text: "")
        #expect(one == same)
        #expect(one != other)
        #expect(ClientNetwork(nil, text: "x") != ClientNetwork(nil, text: "y"))
        #expect(ClientNetwork([32, 1, 13, 184], text: "") != ClientNetwork(nil, text: ""))
    }

    @Test("no attacker elsewhere locks the owner out where she has signed in before")
    func ownerAtHome() {
        var world = Clocked()
        #expect(world.attempt("ann", .succeeded) == nil)
        for number in 0..<10_000 {
            _ = world.attempt("ann", .failed, from: network(number))
            world.now += 50
        }
        #expect(world.attempt("ann", .succeeded) == nil)
        #expect(world.attempt("ann", .failed) == nil, "nor does one typing error")
        #expect(world.attempt("ann", .succeeded) == nil)
    }

    @Test(
        "many networks together guess at an account once a minute, and no owner waits longer than that"
    )
    func strangers() {
        var world = Clocked()
        var guesses = 0
        let start = world.now
        while world.now < start + 600 * minute {
            if world.attempt("ann", .failed, from: network(guesses % 30_000)) == nil {
                guesses += 1
            }
            world.now += 500
        }
        #expect((600...620).contains(guesses), "\(guesses) guesses in ten hours")
        switch world.limiter.begin(Attempt(.proof, from: home, subject: "ann"), now: world.now) {
        case .begun: break
        case .wait(let wait): #expect(wait <= minute)
        }
        // By a code from her emails she is no stranger any more.
        world.limiter.welcome("ann", from: home)
        #expect(world.attempt("ann", .succeeded) == nil)
    }

    @Test("what others fail at on her network does not hold up who has signed in there before")
    func sharedNetwork() {
        var world = Clocked()
        #expect(world.attempt("ann", .succeeded) == nil)
        for number in 0..<30 { _ = world.attempt("user \(number)", .failed) }
        #expect(world.attempt("bob", .succeeded) == 1000)
        #expect(world.attempt("ann", .succeeded) == nil)
    }

    @Test("many guesses at once are no way around the delays")
    func burst() {
        var limiter = AttemptLimiter()
        let attempt = Attempt(.proof, from: home, subject: "a")
        var open: [AttemptLimiter.Begun] = []
        for _ in 0..<100 {
            if case .begun(let begun) = limiter.begin(attempt, now: 0) { open.append(begun) }
        }
        #expect(open.count == 5)
        for begun in open { limiter.end(begun, .failed, now: 10) }
        #expect(limiter.begin(attempt, now: 10) == .wait(1000))
        guard case .begun = limiter.begin(attempt, now: 1010) else {
            Issue.record("the delay is over")
            return
        }
        #expect(limiter.begin(attempt, now: 1010) == .wait(1000), "one at a time")
        // Of that one nothing is heard again.
        guard case .begun = limiter.begin(attempt, now: 1010 + minute) else {
            Issue.record("an attempt without an end is over after a minute")
            return
        }
    }

    @Test("a hundred accounts an hour are made from one network")
    func signUps() {
        var world = Clocked()
        for _ in 0..<100 { #expect(world.attempt(nil, .succeeded, .signUp) == nil) }
        #expect(world.attempt(nil, .succeeded, .signUp) == 36_000)
        #expect(world.attempt(nil, .succeeded, from: away, .signUp) == nil)
        world.now += 36_000
        #expect(world.attempt(nil, .failed, .signUp) == nil)
        #expect(world.attempt(nil, .succeeded, .signUp) == 36_000)
        #expect(world.attempt("a", .succeeded) == nil, "sign-ins are another matter")
    }

    @Test("the networks of one /48 make a thousand accounts an hour together")
    func site() {
        func network(_ number: Int) -> ClientNetwork {
            let head: [UInt8] = [32, 1, 13, 184, 0, 0, UInt8(number / 256), UInt8(number % 256)]
            return ClientNetwork(head + [UInt8](repeating: 1, count: 8), text: "")
        }
        var world = Clocked()
        for kind in [Attempt.Kind.signUp, .message] {
            for number in 0..<1_000 {
                #expect(world.attempt(nil, .succeeded, from: network(number), kind) == nil)
            }
            #expect(world.attempt(nil, .succeeded, from: network(1_000), kind) == 3_600)
            #expect(world.attempt(nil, .succeeded, kind) == nil, "elsewhere")
        }
        let other = ClientNetwork(
            [32, 1, 13, 184, 0, 1] + [UInt8](repeating: 0, count: 10),
            text: ""
        )
        #expect(world.attempt(nil, .succeeded, from: other, .signUp) == nil)
    }

    @Test("ten messages are sent to one person, from all requests together")
    func messages() {
        var world = Clocked()
        for number in 0..<10 {
            #expect(world.attempt("email ann", .succeeded, from: network(number), .message) == nil)
        }
        #expect(world.attempt("email ann", .succeeded, from: home, .message) == 360_000)
        #expect(world.attempt("email bob", .succeeded, from: home, .message) == nil)
    }

    @Test("what was stored longest ago is forgotten when there is no room")
    func bounded() {
        var world = Clocked()
        for number in 0..<AttemptLimits.entryLimit {
            _ = world.attempt("user \(number)", .failed, from: network(number))
        }
        #expect(world.limiter.entryCount == 100_000)
        for number in 0..<5 {
            for _ in 0..<4 { _ = world.attempt("user \(number)", .failed, from: network(number)) }
        }
        for number in 100_000..<100_010 {
            _ = world.attempt("user \(number)", .failed, from: network(number))
        }
        #expect(world.limiter.entryCount == 100_000)
        #expect(world.attempt("user 0", .failed, from: network(0)) == 1000, "was stored again")
        for _ in 0..<5 { #expect(world.attempt("user 7", .failed, from: network(7)) == nil) }
    }

    @Test("a clock that went back makes no delay longer")
    func clockWentBack() {
        var world = Clocked()
        for _ in 0..<5 { _ = world.attempt("a", .failed) }
        world.now -= 4_000_000
        #expect(world.attempt("a", .failed) == 1000)
    }
}

@Suite("a table that forgets")
struct RecencyTableTests {
    @Test(
        "has the entries that were stored last, as a list that is searched has",
        arguments: TestSeed.seeds(8)
    )
    func twin(seed: UInt64) {
        var random = Seeded(state: seed)
        var table = RecencyTable<Int, Int>(limit: 8)
        var twin: [(key: Int, value: Int)] = []
        for step in 0..<2_000 {
            let key = random.below(16)
            if random.below(4) == 0 {
                table.remove(key)
                twin.removeAll { $0.key == key }
            } else {
                table.set(step, for: key)
                twin.removeAll { $0.key == key }
                twin.append((key, step))
                if twin.count > 8 { twin.removeFirst() }
            }
            #expect(table.count == twin.count, "seed \(seed), step \(step)")
            for key in 0..<16 {
                let value = twin.first { $0.key == key }?.value
                if table[key] != value { Issue.record("seed \(seed), step \(step), key \(key)") }
            }
        }
    }
}
