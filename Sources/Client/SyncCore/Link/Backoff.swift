import JSONTree

/// How long to wait before each try to connect: none at first, then longer and longer, part of it by chance. Source:
/// wire protocol, section 13.
struct Backoff {
    /// Milliseconds of the last wait before chance; 0 before the first.
    private var current: Double = 0

    /// Whether the next try is the first since all was well.
    private var isFresh = true

    private var random: UInt64

    init(seed: UInt64) { random = seed }

    /// Milliseconds to wait before the next try.
    mutating func next() -> Int64 {
        if isFresh {
            isFresh = false
            return 0
        }
        let longer = current == 0 ? SyncLimits.firstBackoff : current * SyncLimits.backoffGrowth
        current = min(longer, SyncLimits.longestBackoff)
        let steady = 1 - SyncLimits.backoffJitter
        return Int64(current * (steady + SyncLimits.backoffJitter * nextFraction()))
    }

    /// All is well: the next try comes at once.
    mutating func reset() {
        current = 0
        isFresh = true
    }

    /// Trying soon is of no use: the next wait is as long as waits get.
    mutating func lengthen() {
        current = SyncLimits.longestBackoff
        isFresh = false
    }

    /// A number in [0, 1): SplitMix64.
    private mutating func nextFraction() -> Double {
        random &+= 0x9E37_79B9_7F4A_7C15
        var value = random
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((value ^ (value >> 31)) >> 11) / 9_007_199_254_740_992  // 2^53
    }
}
