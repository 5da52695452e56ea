/// Takes an input apart: the first bytes choose how the others are used.
struct FuzzInput {
    private var left: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { left = bytes[...] }

    var isEmpty: Bool { left.isEmpty }

    /// The next byte; 0 behind the last.
    mutating func byte() -> UInt8 { left.popFirst() ?? 0 }

    /// The next number below `count`, which is at most 256.
    mutating func choice(_ count: Int) -> Int { Int(byte()) % count }

    /// The next `count` bytes, fewer at the end.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { left = left.dropFirst(count) }
        return Array(left.prefix(count))
    }

    /// All that is left.
    var rest: [UInt8] { Array(left) }

    /// How to cut what follows: two lengths, by turns.
    mutating func lengths() -> [Int] { [1 + Int(byte()), 1 + Int(byte())] }
}

/// The bytes in pieces of these lengths, by turns.
func pieces(of bytes: [UInt8], _ lengths: [Int]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var start = 0
    while start < bytes.count {
        let end = min(bytes.count, start + lengths[pieces.count % lengths.count])
        pieces.append(Array(bytes[start..<end]))
        start = end
    }
    return pieces
}

/// What a fault text shows of bytes.
func shown(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
