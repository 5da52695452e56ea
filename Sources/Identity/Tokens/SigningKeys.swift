/// The keys that sign this server's tokens, one after the other.
///
///     published ── overlap ──► signs ── lifetime ──► superseded ── 15 days ──► gone
///                              the next is published ┘ an overlap before
///
/// Each is published an overlap before it signs, so that clients with a copy of the published keys have it in time; a
/// superseded one verifies as long as a token that it signed can be valid. Pure: the time is an argument, in seconds
/// since 1970, and may go back; once there is a key, one always signs.
package struct SigningKeys: Sendable {
    /// One key and when it begins to sign.
    package struct Entry: Sendable {
        package let keyID: String
        package let publicKey: PublicKey
        /// Nil for one that is superseded: nothing needs its private half any more.
        package private(set) var pair: KeyPair?
        package let createdAt: Int64
        package let signsFrom: Int64
        /// The public half as a JSON object of a JWKS.
        fileprivate let jwk: String

        /// One that may sign; nil when OpenSSL cannot parse the key.
        package init?(_ pair: KeyPair, createdAt: Int64, signsFrom: Int64) {
            self.init(pair.publicKey, pair, createdAt, signsFrom)
        }

        /// A key that signs no more.
        package init?(superseded key: PublicKey, createdAt: Int64, signsFrom: Int64) {
            self.init(key, nil, createdAt, signsFrom)
        }

        private init?(_ key: PublicKey, _ pair: KeyPair?, _ createdAt: Int64, _ signsFrom: Int64) {
            guard let keyID = key.thumbprint, let jwk = key.jwk(keyID: keyID) else { return nil }
            self.keyID = keyID
            self.jwk = jwk
            publicKey = key
            self.pair = pair
            self.createdAt = createdAt
            self.signsFrom = signsFrom
        }

        fileprivate var withoutPrivateHalf: Entry {
            var entry = self
            entry.pair = nil
            return entry
        }
    }

    /// What a key is at some moment.
    package enum State: String, Sendable {
        case next, current, superseded
    }

    /// By the time from which they sign.
    package private(set) var entries: [Entry]
    /// Seconds that a key signs.
    package let lifetime: Int64

    /// Seconds that a superseded key verifies: a session cookie lives for up to 14 days.
    package static let verifyingTime: Int64 = 15 * 86_400
    /// Seconds that a key is published before it signs, unless keys live for less than ten times that.
    package static let longestOverlap: Int64 = 3600
    /// Seconds that a key may live.
    package static let lifetimeRange: ClosedRange<Int64> = 3600...(3650 * 86_400)
    /// Keys at a time: with the shortest lifetime 362 are valid at once.
    package static let keyCount = 400

    /// - Parameters:
    ///   - entries: In any order; at most `keyCount`.
    ///   - lifetime: Within `lifetimeRange`.
    package init(_ entries: [Entry] = [], lifetime: Int64) {
        precondition(Self.lifetimeRange.contains(lifetime), "keys live for an allowed time")
        self.entries = entries.sorted { ($0.signsFrom, $0.keyID) < ($1.signsFrom, $1.keyID) }
        self.lifetime = lifetime
    }

    /// Seconds that a key is published before it signs.
    package var overlap: Int64 { min(Self.longestOverlap, lifetime / 10) }

    /// Seconds that others may keep a copy of the published keys: half of the overlap.
    package var cacheTime: Int64 { overlap / 2 }

    /// The key that signs at `now`; nil only without keys.
    package func current(at now: Int64) -> Entry? {
        let able = entries.filter { $0.pair != nil }
        return able.last { $0.signsFrom <= now } ?? able.first
    }

    package func state(of entry: Entry, at now: Int64) -> State {
        Self.state(of: entry, beside: current(at: now))
    }

    private static func state(of entry: Entry, beside current: Entry?) -> State {
        guard let current else { return .superseded }
        if entry.keyID == current.keyID { return .current }
        return entry.signsFrom > current.signsFrom ? .next : .superseded
    }

    /// When a key no longer verifies; nil while no other follows it.
    package func verifiesUntil(_ entry: Entry) -> Int64? {
        entries.first { $0.signsFrom > entry.signsFrom }.map { $0.signsFrom + Self.verifyingTime }
    }

    /// Whether it is time to make the key that follows, or the first one.
    package func isNextDue(at now: Int64) -> Bool {
        guard let last = entries.last else { return true }
        return state(of: last, at: now) != .next && now >= last.signsFrom + lifetime - overlap
    }

    /// Whether a key waits to sign.
    package func hasNext(at now: Int64) -> Bool {
        entries.last.map { state(of: $0, at: now) == .next } ?? false
    }

    /// Adds a new key: the first one signs at once, another when the last one's time is over, but never before it has
    /// been published for an overlap. An early one signs as soon as it may.
    ///
    /// - Returns: Whether there was room for it, and OpenSSL could parse it.
    package mutating func add(_ pair: KeyPair, at now: Int64, isEarly: Bool = false) -> Bool {
        var signsFrom = now
        if let last = entries.last {
            signsFrom = max(now, last.signsFrom) + overlap
            if !isEarly { signsFrom = max(signsFrom, last.signsFrom + lifetime) }
        }
        guard entries.count < Self.keyCount,
            let entry = Entry(pair, createdAt: now, signsFrom: signsFrom)
        else { return false }
        entries.append(entry)
        return true
    }

    /// Removes the keys that no longer verify, and the private halves of those that no longer sign. Returns whether
    /// there were any.
    package mutating func tidy(at now: Int64) -> Bool {
        let signing = current(at: now)
        var kept: [Entry] = []
        var isChanged = false
        for entry in entries {
            if entry.keyID != signing?.keyID, let end = verifiesUntil(entry), end <= now {
                isChanged = true
            } else if entry.pair != nil, Self.state(of: entry, beside: signing) == .superseded {
                isChanged = true
                kept.append(entry.withoutPrivateHalf)
            } else {
                kept.append(entry)
            }
        }
        entries = kept
        return isChanged
    }

    /// The next time after `now` at which a key begins to sign, must be made or must be removed.
    package func nextChange(after now: Int64) -> Int64 {
        var moments = entries.map(\.signsFrom) + entries.compactMap { verifiesUntil($0) }
        if let last = entries.last { moments.append(last.signsFrom + lifetime - overlap) }
        return moments.filter { $0 > now }.min() ?? .max
    }

    /// All keys that verify.
    package var keySet: KeySet {
        KeySet(keys: Dictionary(entries.map { ($0.keyID, $0.publicKey) }) { first, _ in first })
    }

    /// All keys that verify, as JWKS text (RFC 7517).
    package var jwks: [UInt8] {
        Array("{\"keys\":[\(entries.map(\.jwk).joined(separator: ","))]}".utf8)
    }
}
