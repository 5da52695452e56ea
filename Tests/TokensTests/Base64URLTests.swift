import Testing

@testable import Tokens

@Suite("base64url")
struct Base64URLTests {
    @Test(
        "has one text for each bytes, the vectors of RFC 4648 among them",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"), ("\u{3}\u{3f}>?", "Az8-Pw"),
        ]
    )
    func vectors(text: String, encoded: String) {
        #expect(Base64URL.encode(Array(text.utf8)) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == Array(text.utf8))
    }

    @Test("uses - and _ where base64 has + and /")
    func alphabet() {
        #expect(Base64URL.encode([0xFB, 0xFF, 0xBF]) == "-_-_")
        #expect(Base64URL.decode("-_-_".utf8) == [0xFB, 0xFF, 0xBF])
    }

    @Test(
        "refuses every other text",
        arguments: [
            "A", "AAAAA", "Zg==", "Zg=", "Zm8=", "Zh", "Zm9", "+/+/", "Zm 8", "Zm8\n", " Zg", "Zg.",
            "Zm9v\u{0}", "Zé", "Zm9vYh",
        ]
    )
    func bad(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test("reads back what it wrote, at every length")
    func roundTrip() {
        let bytes = (0..<256).map { UInt8($0) }
        for count in 0...256 {
            let part = Array(bytes.prefix(count))
            #expect(Base64URL.decode(Base64URL.encode(part).utf8) == part)
        }
    }
}
