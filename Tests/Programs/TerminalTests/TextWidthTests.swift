import Testing

@testable import Terminal

@Suite("columns of text")
struct TextWidthTests {
    @Test(
        "are those that a terminal gives it",
        arguments: [
            ("", 0), ("abc", 3), ("äöü", 3), ("e\u{301}", 1), ("\u{301}", 0), ("日本語", 6),
            ("한국", 4), ("ｆｕ", 4), ("😀", 2), ("👍🏽", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2),
            ("❤", 1), ("1\u{FE0F}\u{20E3}", 2), ("\u{200B}\u{200D}", 0), ("Привет", 6), ("…", 1),
            ("שלום", 4), ("ไทย", 3), ("\u{1F}", 0),
        ]
    )
    func columns(text: String, expected: Int) {
        #expect(TextWidth.columns(text) == expected)
    }

    @Test(
        "are never more than there is room for when a text is cut",
        arguments: [
            ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"), ("日本語", 1, "…"), ("日本語", 0, ""), ("", 0, ""),
        ]
    )
    func cut(text: String, width: Int, expected: String) {
        #expect(TextWidth.cut(text, to: width) == expected)
        #expect(TextWidth.columns(TextWidth.cut(text, to: width)) <= width)
    }

    static let wrapped: [(String, Int, [String])] = [
        ("", 10, [""]), ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two", "three"]), ("onetwothree", 4, ["onet", "woth", "ree"]),
        ("a onetwothree", 4, ["a", "onet", "woth", "ree"]), ("a\n\nb", 4, ["a", "", "b"]),
        ("日本語日本", 4, ["日本", "語日", "本"]), ("日本語日本", 5, ["日本", "語日", "本"]),
        ("one  two", 4, ["one", "two"]), ("  x", 4, ["  x"]), ("😀😀", 1, ["😀", "😀"]),
    ]

    @Test("break between words, and within those that are too long", arguments: wrapped)
    func wrap(text: String, width: Int, expected: [String]) {
        #expect(TextWidth.wrap(text, to: width) == expected)
    }
}
