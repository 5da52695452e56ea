import Testing

@testable import Terminal

@Suite("keys from the bytes of a terminal")
struct KeyDecoderTests {
    static let table: [(String, [Key])] = [
        ("a", [.character("a")]),
        ("\u{E4}\u{20AC}😀", [.character("ä"), .character("€"), .character("😀")]),
        ("\r\n\t", [.enter, .enter, .tab]),
        ("\u{7F}\u{8}", [.backspace, .backspace]),
        ("\u{3}\u{15}\u{1A}", [.control("c"), .control("u"), .control("z")]),
        ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
        ("\u{1B}OA\u{1B}OH\u{1B}OF\u{1B}OP", [.up, .home, .end, .f1]),
        ("\u{1B}[5~\u{1B}[6~\u{1B}[3~", [.pageUp, .pageDown, .delete]),
        ("\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~\u{1B}[11~", [.home, .end, .home, .end, .f1]),
        ("\u{1B}[H\u{1B}[F\u{1B}[Z", [.home, .end, .backTab]),
        // With a modifier: the key alone.
        ("\u{1B}[1;5C\u{1B}[5;2~", [.right, .pageUp]),
        ("\u{1B}x", [.character("x")]),
        // Unknown ones are left out as a whole.
        ("\u{1B}[99~a\u{1B}[?1;2cb\u{1B}[Xc", ["a", "b", "c"].map { .character($0) }),
        ("\u{1B}\u{1B}[A", [.escape, .up]),
        ("\u{1B}[\u{1B}[A", [.up]),
        // A paste is not read as keys, and may have line ends and escapes.
        ("\u{1B}[200~a\r\nb\rc\u{1B}[A\u{1B}[201~d", [.paste("a\nb\nc\u{1B}[A"), .character("d")]),
        ("\u{1B}[200~\u{1B}[201~", []),
        ("", []),
    ]

    @Test("are the same however the bytes are cut", arguments: table)
    func decoded(text: String, keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(Array(text.utf8)) == keys)
        for size in 1...3 {
            var decoder = KeyDecoder()
            var found: [Key] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                found += decoder.decode(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(found == keys, "in pieces of \(size)")
        }
    }

    @Test(
        "leave out bytes that are not UTF-8",
        arguments: [
            [0xFF, 0x61], [0xC3, 0x61], [0xE2, 0x82, 0x61], [0x80, 0x61], [0xC0, 0x80, 0x61],
            [0xED, 0xA0, 0x80, 0x61], [0xF4, 0x90, 0x80, 0x80, 0x61],
        ]
    )
    func broken(bytes: [UInt8]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(bytes) == [.character("a")])
    }

    @Test("have an escape that stands alone when nothing comes behind it")
    func escape() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B]).isEmpty)
        #expect(decoder.isWaiting)
        #expect(decoder.flush() == [.escape])
        #expect(decoder.flush().isEmpty)
        #expect(decoder.decode(Array("[A".utf8)) == [.character("["), .character("A")])
        // An unfinished sequence is not a key.
        #expect(decoder.decode(Array("\u{1B}[".utf8)).isEmpty)
        #expect(!decoder.isWaiting)
        #expect(decoder.decode(Array("A".utf8)) == [.up])
    }

    @Test("keep a bounded part of a paste, and drop a sequence without end")
    func bounded() {
        var decoder = KeyDecoder()
        let long = String(repeating: "x", count: KeyDecoder.pasteLimit + 1000)
        let keys = decoder.decode(Array("\u{1B}[200~\(long)\u{1B}[201~".utf8))
        let isCut = keys == [.paste(String(repeating: "x", count: KeyDecoder.pasteLimit))]
        #expect(isCut)
        let digits = String(repeating: "1", count: 100)
        #expect(decoder.decode(Array("\u{1B}[\(digits)".utf8)).count == 68)
    }
}
