/// Makes keys that sort by the time they were made, 20 characters each.
///
/// 8 characters of milliseconds, then 12 random ones, in an alphabet that sorts as its digits do.
/// Within one millisecond, and when the clock steps back, the last key counted up by one.
package struct PushIDGenerator: Sendable {
    private static let alphabet = Array(
        "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8
    )

    private var state: UInt64
    private var lastMilliseconds: Int64 = -1
    /// 12 digits of base 64, the highest first.
    private var digits = [UInt8](repeating: 0, count: 12)

    /// Makes a generator; equal seeds and times give equal keys.
    package init(seed: UInt64) {
        state = seed
    }

    /// The next key, greater than all before it.
    package mutating func next(now: Timestamp) -> Key {
        if now.milliseconds > lastMilliseconds {
            lastMilliseconds = max(0, now.milliseconds)
            drawDigits()
        } else {
            countUp()
        }
        var characters = [UInt8](repeating: 0, count: 20)
        var time = lastMilliseconds
        for index in stride(from: 7, through: 0, by: -1) {
            characters[index] = PushIDGenerator.alphabet[Int(time & 63)]
            time >>= 6
        }
        for index in 0..<12 {
            characters[8 + index] = PushIDGenerator.alphabet[Int(digits[index])]
        }
        return Key(unchecked: characters)
    }

    private mutating func drawDigits() {
        for index in 0..<12 { digits[index] = UInt8(draw() >> 58) }
    }

    /// Adds one; past the last key of a millisecond it continues in the next.
    private mutating func countUp() {
        for index in stride(from: 11, through: 0, by: -1) {
            if digits[index] < 63 {
                digits[index] += 1
                return
            }
            digits[index] = 0
        }
        lastMilliseconds += 1
    }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    private mutating func draw() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
