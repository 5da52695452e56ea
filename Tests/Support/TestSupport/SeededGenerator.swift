/// Random numbers that a seed repeats: SplitMix64.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    /// Bytes that still choose the next numbers.
    private var choices: ArraySlice<UInt8> = []

    package init(seed: UInt64) {
        state = seed
    }

    /// Numbers whose highest bytes are those of `choices`, one after the other, and behind them those of a fixed seed:
    /// so each byte chooses one among few.
    package init(choices: [UInt8]) {
        state = 0
        self.choices = choices[...]
    }

    /// Moves far away, to numbers of their own.
    package mutating func advance() { state &+= 0x1234_5678_9ABC_DEF1 }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        value ^= value >> 31
        guard let choice = choices.popFirst() else { return value }
        return UInt64(choice) << 56 | value >> 8
    }

    /// A number below `count`.
    package mutating func index(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
}
