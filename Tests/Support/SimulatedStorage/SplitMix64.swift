/// A small seeded generator, so that a failure is one number.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Begins at a seed.
    package init(state: UInt64) {
        self.state = state
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number from 0 up to but not including `bound`.
    package mutating func next(below bound: Int) -> UInt64 {
        precondition(bound > 0, "a range holds at least one number")
        return next() % UInt64(bound)
    }
}
