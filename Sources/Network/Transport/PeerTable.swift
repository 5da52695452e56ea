/// The limits of one peer: an IPv4 address, or a network of IPv6 (64 bits), which one customer has.
package struct PeerLimits: Sendable, Equatable {
    /// Connections that it may have open; 0 for as many as it likes.
    package var connectionCount = 0
    /// New connections per second in the long run; 0 for no limit. `PeerLimits.burstSeconds` times as many may come
    /// at once.
    package var connectionsPerSecond = 0

    /// A peer that was silent for this many seconds may open their connections at once.
    package static let burstSeconds = 10

    /// Whether anything is limited.
    var isLimiting: Bool { connectionCount > 0 || connectionsPerSecond > 0 }
}

/// Counts the connections of each peer. The time is an argument.
///
/// Of each peer it keeps when its share of new connections will be whole again, so that refilling costs nothing:
///
///     time ──now────────wholeAt──────────now + burst
///              spent ──►   left ──────►
///
/// Memory: 24 bytes for each peer that has a connection open, or opened one not long ago.
struct PeerTable {
    private struct Peer {
        var openCount = 0
        /// Nanoseconds of the monotonic clock.
        var wholeAt: UInt64 = 0
    }

    /// Below this number of peers, old ones are not removed.
    private static let unsweptCount = 1_024

    private let limits: PeerLimits
    /// The cost of one new connection, and the budget; nanoseconds. 0 when the rate is not limited.
    private let price: UInt64
    private let burst: UInt64
    /// Its order is never used.
    private var peers: [UInt64: Peer] = [:]
    private var sweptCount = 0

    /// Peers that something is kept of.
    var count: Int { peers.count }

    init(_ limits: PeerLimits) {
        self.limits = limits
        price =
            limits.connectionsPerSecond > 0
            ? 1_000_000_000 / UInt64(limits.connectionsPerSecond) : 0
        burst = price * UInt64(limits.connectionsPerSecond * PeerLimits.burstSeconds)
    }

    /// Whether a peer may open one more connection now; if so, counts it. O(1), now and then O(peers).
    mutating func admits(_ network: UInt64, now: UInt64) -> Bool {
        guard limits.isLimiting else { return true }
        sweep(now)
        var peer = peers[network] ?? Peer()
        if limits.connectionCount > 0, peer.openCount >= limits.connectionCount { return false }
        if price > 0 {
            let wholeAt = max(peer.wholeAt, now) + price
            if wholeAt > now + burst { return false }
            peer.wholeAt = wholeAt
        }
        peers[network] = peer
        return true
    }

    mutating func opened(_ network: UInt64) {
        if limits.isLimiting { peers[network, default: Peer()].openCount += 1 }
    }

    mutating func closed(_ network: UInt64) {
        if limits.isLimiting { peers[network]?.openCount -= 1 }
    }

    /// Forgets peers that have nothing open and have all of their share, once there are twice as many as were left.
    private mutating func sweep(_ now: UInt64) {
        if peers.count < max(Self.unsweptCount, 2 * sweptCount) { return }
        peers = peers.filter { $0.value.openCount > 0 || $0.value.wholeAt > now }
        sweptCount = peers.count
    }
}
