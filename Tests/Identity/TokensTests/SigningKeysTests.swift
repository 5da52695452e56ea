import TestSupport
import Testing

@testable import Tokens

@Suite("signing keys")
struct SigningKeysTests {
    private static let day: Int64 = 86_400
    private let start = Fixtures.nowSeconds

    /// What `#require` cannot take itself: a call that changes something.
    private func require(_ isTrue: Bool, _ location: SourceLocation = #_sourceLocation) throws {
        try #require(isTrue, sourceLocation: location)
    }

    private func pair() throws -> KeyPair { try #require(KeyPair.generateP256()) }

    @Test("begin with one that signs at once and stays as long as none follows")
    func first() throws {
        var keys = SigningKeys(lifetime: 90 * Self.day)
        #expect(keys.current(at: start) == nil)
        #expect(keys.isNextDue(at: start))
        #expect(keys.nextChange(after: start) == .max)
        #expect(String(decoding: keys.jwks, as: UTF8.self) == #"{"keys":[]}"#)
        try require(keys.add(try pair(), at: start))
        let entry = try #require(keys.current(at: start))
        #expect(entry.signsFrom == start)
        #expect(keys.state(of: entry, at: start) == .current)
        #expect(keys.verifiesUntil(entry) == nil)
        #expect(keys.current(at: start + 10_000 * Self.day)?.keyID == entry.keyID)
        let isTidied = keys.tidy(at: start + 10_000 * Self.day)
        #expect(!isTidied)
        #expect(keys.keySet.count == 1)
        #expect(try KeySet(jwks: keys.jwks).count == 1)
    }

    @Test("follow each other at the end of a lifetime, the next one published an overlap before")
    func follow() throws {
        var keys = SigningKeys(lifetime: 90 * Self.day)
        try require(keys.add(try pair(), at: start))
        let due = start + 90 * Self.day - 3600
        #expect(keys.nextChange(after: start) == due)
        #expect(!keys.isNextDue(at: due - 1))
        #expect(keys.isNextDue(at: due))
        try require(keys.add(try pair(), at: due))
        let (old, new) = (keys.entries[0], keys.entries[1])
        #expect(new.signsFrom == due + 3600)
        #expect(keys.current(at: due + 3599)?.keyID == old.keyID)
        #expect(keys.state(of: new, at: due + 3599) == .next)
        #expect(keys.hasNext(at: due + 3599))
        #expect(!keys.isNextDue(at: due + 3599))
        #expect(keys.current(at: due + 3600)?.keyID == new.keyID)
        #expect(keys.state(of: old, at: due + 3600) == .superseded)
        #expect(keys.verifiesUntil(old) == due + 3600 + 15 * Self.day)

        // What signs no more loses its private half, and 15 days later its public one.
        try require(keys.tidy(at: due + 3600))
        #expect(keys.entries.map { $0.pair == nil } == [true, false])
        let end = due + 3600 + 15 * Self.day
        let isEarly = keys.tidy(at: end - 1)
        #expect(!isEarly)
        #expect(keys.keySet.count == 2)
        #expect(keys.nextChange(after: end - 1) == end)
        try require(keys.tidy(at: end))
        #expect(keys.entries.map(\.keyID) == [new.keyID])
    }

    @Test(
        "are published for an hour, or a tenth of their life, before they sign; copies may be kept half of that",
        arguments: [(Int64(3600), Int64(360)), (36_000, 3600), (35_990, 3599), (8_640_000, 3600)]
    )
    func overlap(lifetime: Int64, overlap: Int64) {
        let keys = SigningKeys(lifetime: lifetime)
        #expect(keys.overlap == overlap)
        #expect(keys.cacheTime == overlap / 2)
    }

    @Test("may follow early, but not before they have been published")
    func early() throws {
        var keys = SigningKeys(lifetime: 90 * Self.day)
        try require(keys.add(try pair(), at: start))
        try require(keys.add(try pair(), at: start + 60, isEarly: true))
        #expect(keys.entries[1].signsFrom == start + 60 + 3600)
        #expect(keys.hasNext(at: start + 61))
        #expect(keys.nextChange(after: start + 60) == start + 60 + 3600)
    }

    @Test(
        "that are late, since the server did not run, are published before they sign all the same"
    )
    func late() throws {
        var keys = SigningKeys(lifetime: 90 * Self.day)
        try require(keys.add(try pair(), at: start))
        let late = start + 200 * Self.day
        #expect(keys.isNextDue(at: late))
        try require(keys.add(try pair(), at: late))
        #expect(keys.entries[1].signsFrom == late + 3600)
        #expect(keys.current(at: late)?.keyID == keys.entries[0].keyID)
    }

    @Test("sign also when the clock went back behind all of them")
    func clockWentBack() throws {
        var keys = SigningKeys(lifetime: 90 * Self.day)
        try require(keys.add(try pair(), at: start))
        #expect(keys.current(at: start - 5 * Self.day)?.keyID == keys.entries[0].keyID)
        try require(keys.add(try pair(), at: start, isEarly: true))
        try require(keys.tidy(at: start + 3600))
        // The only one with a private half begins later than now.
        let signer = try #require(keys.current(at: start - Self.day))
        #expect(signer.keyID == keys.entries[1].keyID)
        #expect(keys.state(of: keys.entries[0], at: start - Self.day) == .superseded)
    }

    @Test("are never more than there is room for")
    func room() throws {
        var keys = SigningKeys(lifetime: 3600)
        let pair = try pair()
        for index in 0..<SigningKeys.keyCount {
            try require(keys.add(pair, at: start + Int64(index) * 400, isEarly: true))
        }
        let isTaken = keys.add(pair, at: start + 1_000_000, isEarly: true)
        #expect(!isTaken)
    }

    /// What is remembered of one key beside the keys themselves.
    private struct Trace {
        let published: Int64
        var firstSigned: Int64?
        var lastSigned: Int64?
    }

    @Test("keep every promise over two simulated years", arguments: TestSeed.seeds(12))
    func history(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lifetimes: [Int64] = [3600, 7200, Self.day, 30 * Self.day, 90 * Self.day]
        let lifetime = lifetimes[Int(random.next() % 5)]
        let stepLimit = max(60, lifetime / 20)
        var keys = SigningKeys(lifetime: lifetime)
        var traces: [String: Trace] = [:]
        var now = start
        for step in 0..<1_500 {
            // Mostly the server runs; at times it does not for up to three weeks.
            now += Int64(random.next() % UInt64(stepLimit)) + 1
            if random.next() % 40 == 0 { now += Int64(random.next() % UInt64(21 * Self.day)) }
            _ = keys.tidy(at: now)
            let isWanted = keys.isNextDue(at: now)
            let isEarly = !isWanted && !keys.hasNext(at: now) && random.next() % 60 == 0
            // Making a key may fail; then it is tried again. The first one is there before the server is.
            if isWanted || isEarly, keys.entries.isEmpty || random.next() % 4 > 0 {
                try require(keys.add(try pair(), at: now, isEarly: isEarly))
                let added = try #require(keys.entries.last)
                traces[added.keyID] = Trace(published: now)
            }
            if random.next() % 10 == 0 { keys = try restarted(keys, at: now) }
            let fault = fault(of: keys, at: now, &traces)
            #expect(fault == nil, "seed \(seed), step \(step), lifetime \(lifetime)")
            if fault != nil { return }
        }
    }

    /// What a restart makes of keys.
    private func restarted(_ keys: SigningKeys, at now: Int64) throws -> SigningKeys {
        var entries: [SigningKeys.Entry] = []
        for entry in keys.entries.reversed() {
            let again =
                entry.pair.map {
                    SigningKeys.Entry($0, createdAt: entry.createdAt, signsFrom: entry.signsFrom)
                }
                ?? SigningKeys.Entry(
                    superseded: entry.publicKey,
                    createdAt: entry.createdAt,
                    signsFrom: entry.signsFrom
                )
            entries.append(try #require(again))
        }
        return SigningKeys(entries, lifetime: keys.lifetime)
    }

    /// The promise that is broken at `now`, found by looking at everything that ever happened.
    private func fault(
        of keys: SigningKeys,
        at now: Int64,
        _ traces: inout [String: Trace]
    ) -> String? {
        guard let current = keys.current(at: now), current.pair != nil else { return "no signer" }
        // The naive rule: of all keys that may sign by now, the one that came last.
        let able = keys.entries.filter { $0.signsFrom <= now }
        guard able.map(\.signsFrom).max() == current.signsFrom else { return "not the newest" }
        let isFirst = traces[current.keyID]?.firstSigned == nil
        if isFirst {
            traces[current.keyID]?.firstSigned = now
            if traces.count > 1, let published = traces[current.keyID]?.published,
                now - published < keys.overlap
            {
                return "signs before it was published for long enough"
            }
        }
        traces[current.keyID]?.lastSigned = now
        let present = Set(keys.entries.map(\.keyID))
        for (name, trace) in traces {
            let isNeeded = trace.lastSigned.map { now - $0 < 14 * Self.day } ?? true
            if isNeeded, !present.contains(name) { return "a token of \(name) lost its key" }
        }
        for entry in keys.entries where keys.state(of: entry, at: now) == .superseded {
            if entry.pair != nil { return "a private half is kept" }
            let next = keys.entries.first { $0.signsFrom > entry.signsFrom }
            if let next, now >= next.signsFrom + 15 * Self.day { return "a key is kept" }
        }
        if keys.entries.filter({ $0.signsFrom > now }).count > 1 { return "two wait" }
        let turn = keys.nextChange(after: now)
        if turn <= now { return "a change in the past" }
        return nil
    }
}
