import Testing

@testable import BlobStore

@Suite("hashes of blobs")
struct BlobHashTests {
    private static let digits = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    @Test("are 64 digits, and nothing else is")
    func text() throws {
        let hash = try #require(BlobHash(hex: Self.digits))
        #expect(hash.hex == Self.digits)
        #expect(BlobHash(hash.bytes) == hash)
        let wrong = [
            "", String(Self.digits.dropLast()), Self.digits + "0", Self.digits.uppercased(),
            "g" + Self.digits.dropFirst(), "é" + Self.digits.dropFirst(2),
        ]
        for text in wrong { #expect(BlobHash(hex: text) == nil, "\(text)") }
    }

    @Test("are ordered as their digits are")
    func order() throws {
        let texts = (0..<64).flatMap { index in
            ["0", "1", "9", "a", "f"].map { digit in
                String(repeating: "7", count: index) + digit
                    + String(repeating: "7", count: 63 - index)
            }
        }
        let hashes = texts.compactMap { BlobHash(hex: $0) }
        #expect(hashes.count == texts.count)
        #expect(hashes.sorted().map(\.hex) == texts.sorted())
    }
}
