/// Identifies an upload: who knows it may go on with the upload, so it cannot be guessed.
package struct UploadID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 32 lower-case hexadecimal digits: 128 random bits.
    package let text: String

    /// Reads the identifier that a request or a file name has; nil for another text.
    package init?(_ text: some StringProtocol) {
        let isHex = text.utf8.allSatisfy { digit in
            (0x30...0x39).contains(digit) || (0x61...0x66).contains(digit)
        }
        guard text.utf8.count == 32, isHex else { return nil }
        self.text = String(text)
    }

    /// Makes one of 128 unpredictable bits.
    init(random high: UInt64, _ low: UInt64) {
        text = [high, low].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }

    package var description: String { text }

    package static func < (a: UploadID, b: UploadID) -> Bool { a.text < b.text }
}
