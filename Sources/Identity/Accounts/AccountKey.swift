package import JSONTree

/// Any text as a key of the tree: bytes that no key may have are written `%2E`, and so is `%`.
package enum AccountKey {
    /// The key of `text`; nil when it is empty or longer than a key may be.
    package static func key(_ text: String) -> Key? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isForbidden(byte) {
                PercentCoding.appendEscape(of: byte, to: &bytes)
            } else {
                bytes.append(byte)
            }
        }
        do throws(PathError) { return try Key(utf8: bytes) } catch { return nil }
    }

    /// The decoded text of a key; text without our escapes is unchanged.
    package static func text(_ key: String) -> String {
        guard key.utf8.contains(UInt8(ascii: "%")) else { return key }
        return String(decoding: PercentCoding.decodeLoosely(key.utf8, isForm: false), as: UTF8.self)
    }

    /// What no key may have, and the sign that codes begin with.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte < 32 || byte == 127 || ".$#[]/%".utf8.contains(byte)
    }
}
