package import JSONTree

/// Any text as a key of the tree: bytes that no key may have are written `%2E`, and so is `%`.
package enum AccountKey {
    /// The key of `text`; nil when it is empty or longer than a key may be.
    package static func key(_ text: String) -> Key? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isForbidden(byte) {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                bytes.append(byte)
            }
        }
        do throws(PathError) { return try Key(utf8: bytes) } catch { return nil }
    }

    /// The text that a key stands for; what is no code of ours stays as it is.
    package static func text(_ key: String) -> String {
        guard key.utf8.contains(UInt8(ascii: "%")) else { return key }
        var bytes: [UInt8] = []
        var rest = Array(key.utf8)[...]
        while let byte = rest.popFirst() {
            let code = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), code.utf8.count == 2, let value = UInt8(code, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// What no key may have, and the sign that codes begin with.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<32, 127, UInt8(ascii: "."), UInt8(ascii: "$"), UInt8(ascii: "#"),
            UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "/"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
