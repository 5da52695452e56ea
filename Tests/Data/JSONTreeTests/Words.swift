import Foundation
import JSONTree

extension Node {
    /// The node as text, in the form of the wire.
    var text: String { String(decoding: json(.export), as: UTF8.self) }
}

/// A path of a text that is one.
func path(_ text: String) throws -> Path { try Path(text) }

/// base64 of SHA-1, straight from FIPS 180-4: independent of the library the tree uses.
func sha1Base64(_ text: String) -> String {
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    var message = Array(text.utf8) + [0x80]
    while message.count % 64 != 56 { message.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
        message.append(UInt8(truncatingIfNeeded: (text.utf8.count * 8) >> shift))
    }
    for start in stride(from: 0, to: message.count, by: 64) {
        var words = (0..<16).map { index in
            (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(message[start + 4 * index + $1]) }
        }
        func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
            value << count | value >> (32 - count)
        }
        for index in 16..<80 {
            let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words.append(rotate(mixed, 1))
        }
        var s = state
        for (index, word) in words.enumerated() {
            let (f, k): (UInt32, UInt32) =
                switch index {
                case 0..<20: (s[1] & s[2] | ~s[1] & s[3], 0x5A82_7999)
                case 20..<40: (s[1] ^ s[2] ^ s[3], 0x6ED9_EBA1)
                case 40..<60: (s[1] & s[2] | s[1] & s[3] | s[2] & s[3], 0x8F1B_BCDC)
                default: (s[1] ^ s[2] ^ s[3], 0xCA62_C1D6)
                }
            let next = rotate(s[0], 5) &+ f &+ s[4] &+ k &+ word
            s = [next, s[0], rotate(s[1], 30), s[2], s[3]]
        }
        state = zip(state, s).map { $0 &+ $1 }
    }
    let bytes = state.flatMap { word in
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }
    return Data(bytes).base64EncodedString()
}
