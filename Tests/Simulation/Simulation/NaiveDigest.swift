/// SHA-1 and base64 straight from their definitions: nothing shared with the library that the
/// server uses.
enum NaiveDigest {
    /// The base64 of the SHA-1 of a text.
    static func sha1Base64(_ text: String) -> String {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var message = Array(text.utf8) + [0x80]
        while message.count % 64 != 56 { message.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            message.append(UInt8(truncatingIfNeeded: (text.utf8.count * 8) >> shift))
        }
        for start in stride(from: 0, to: message.count, by: 64) {
            digest(message[start..<start + 64], into: &state)
        }
        return base64(state)
    }

    private static func digest(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words: [UInt32] = []
        words.reserveCapacity(80)
        for start in stride(from: block.startIndex, to: block.endIndex, by: 4) {
            words.append(block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for index in 16..<80 {
            let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words.append(rotate(mixed, 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for index in 0..<80 {
            let mixed: UInt32
            switch index {
            case 0..<20: mixed = (b & c | ~b & d) &+ 0x5A82_7999
            case 20..<40: mixed = (b ^ c ^ d) &+ 0x6ED9_EBA1
            case 40..<60: mixed = (b & c | b & d | c & d) &+ 0x8F1B_BCDC
            default: mixed = (b ^ c ^ d) &+ 0xCA62_C1D6
            }
            let next = rotate(a, 5) &+ mixed &+ e &+ words[index]
            (a, b, c, d, e) = (next, a, rotate(b, 30), c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }

    private static func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
        value << count | value >> (32 - count)
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    )

    /// 20 bytes make 27 characters and one of padding.
    private static func base64(_ state: [UInt32]) -> String {
        var bits: [Int] = []
        for word in state {
            for shift in 0..<32 { bits.append(Int(word >> UInt32(31 - shift) & 1)) }
        }
        bits += [0, 0]
        let characters = stride(from: 0, to: bits.count, by: 6).map { start in
            alphabet[bits[start..<start + 6].reduce(0) { $0 << 1 | $1 }]
        }
        return String(characters) + "="
    }
}
