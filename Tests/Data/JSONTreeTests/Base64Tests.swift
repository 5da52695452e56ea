import JSONTree
import Testing

@Suite("base64")
struct Base64Tests {
    @Test(
        "for addresses has one text for each bytes, the vectors of RFC 4648 among them",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"), ("\u{3}\u{3f}>?", "Az8-Pw"),
        ]
    )
    func vectors(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8), .url) == encoded)
        #expect(Base64.decodeURL(encoded.utf8) == Array(text.utf8))
    }

    @Test("has two alphabets, and padding where it is asked for")
    func alphabets() {
        #expect(Base64.encode([0xFB, 0xFF, 0xBF], .url) == "-_-_")
        #expect(Base64.encode([0xFB, 0xFF, 0xBF], .standard) == "+/+/")
        #expect(Base64.encode([0xFB, 0xFF], .standard, isPadded: true) == "+/8=")
        #expect(Base64.encode([0xFB], .url, isPadded: true) == "-w==")
        #expect(Base64.decodeURL("-_-_".utf8) == [0xFB, 0xFF, 0xBF])
    }

    @Test(
        "for addresses refuses every other text",
        arguments: [
            "A", "AAAAA", "Zg==", "Zg=", "Zm8=", "Zh", "Zm9", "+/+/", "Zm 8", "Zm8\n", " Zg", "Zg.",
            "Zm9v\u{0}", "Zé", "Zm9vYh",
        ]
    )
    func notForAddresses(text: String) {
        #expect(Base64.decodeURL(text.utf8) == nil)
    }

    @Test("reads back what it wrote, at every length")
    func roundTrip() {
        let bytes = (0..<256).map { UInt8($0) }
        for count in 0...256 {
            let part = Array(bytes.prefix(count))
            #expect(Base64.decodeURL(Base64.encode(part, .url).utf8) == part)
            #expect(Base64.decode(Base64.encode(part, .standard, isPadded: true)) == part)
        }
    }

    @Test(
        "is read in both alphabets, with and without padding",
        arguments: [
            ("", []), ("AA", [0]), ("AA==", [0]), ("AAE", [0, 1]), ("AAE=", [0, 1]),
            ("-_8", [251, 255]), ("+/8=", [251, 255]), ("AAEC", [0, 1, 2]),
        ] as [(String, [UInt8])]
    )
    func good(text: String, bytes: [UInt8]) {
        #expect(Base64.decode(text) == bytes)
    }

    @Test(
        "is refused where it is none",
        arguments: ["A", "AA=", "AAE==", "A===", "=", "AB", "AAEC=", "AA AA", "AA\n", "é", "AA=A"]
    )
    func bad(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}

@Suite("codes of bytes")
struct ByteCodeTests {
    @Test("hexadecimal digits are two for each byte, in lower case")
    func hexadecimal() {
        #expect(Hexadecimal.encode([0, 0x1F, 0xFF]) == "001fff")
        #expect(Hexadecimal.encode([]).isEmpty)
    }

    @Test(
        "a loose text has % where no two digits follow, and spaces for + in a form",
        arguments: [
            ("a%2Fb%2f", "a/b/"), ("%", "%"), ("%4", "%4"), ("%4g", "%4g"), ("%+f%-f", "%+f%-f"),
            ("%2541", "%41"), ("%C3%A9", "é"),
        ]
    )
    func loose(text: String, decoded: String) {
        #expect(PercentCoding.decodeLoosely(text.utf8, isForm: false) == Array(decoded.utf8))
        let form = decoded.replacing("+", with: " ")
        #expect(PercentCoding.decodeLoosely(text.utf8, isForm: true) == Array(form.utf8))
    }
}
