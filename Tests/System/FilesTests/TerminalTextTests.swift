import Testing

@testable import Files

@Suite("what a terminal is shown")
struct TerminalTextTests {
    @Test(
        "has no control characters but tabs and newlines, and none that turn the order around",
        arguments: [
            ("a\tb\nc ä € 😀", "a\tb\nc ä € 😀"),
            ("\u{1B}[31mred\u{7}", #"\u001b[31mred\u0007"#),
            ("\u{0}\u{D}\u{7F}\u{80}\u{9B}2J\u{9F}", #"\u0000\u000d\u007f\u0080\u009b2J\u009f"#),
            ("\u{A0}\u{BF}\u{A0}", "\u{A0}\u{BF}\u{A0}"), ("", ""),
            ("a\u{202E}b\u{2066}\u{2069}\u{61C}", #"a\u202eb\u2066\u2069\u061c"#),
            ("\u{200E}\u{2028}\u{2029}", #"\u200e\u2028\u2029"#),
            ("\u{2014}\u{200D}\u{2070}\u{20AC}\u{61B}", "\u{2014}\u{200D}\u{2070}\u{20AC}\u{61B}"),
        ]
    )
    func shown(text: String, expected: String) {
        #expect(TerminalText.shown(text) == expected)
        var terminal = TerminalText()
        var out: [UInt8] = []
        for byte in text.utf8 { withUnsafeBytes(of: byte) { terminal.append($0, to: &out) } }
        terminal.finish(&out)
        #expect(out == Array(expected.utf8), "byte by byte")
    }

    @Test("is not short of a byte when the text is cut within a character")
    func cut() {
        var terminal = TerminalText()
        var out: [UInt8] = []
        ([0x61, 0xC2] as [UInt8]).withUnsafeBytes { terminal.append($0, to: &out) }
        terminal.finish(&out)
        #expect(out == [0x61, 0xC2])
    }
}
