import Foundation
import JSONTree
import SecurityRules
import TestSupport
import Testing

@Suite("the tokens of rules")
struct RulesTokenTests {
    /// Each token as `kind text`.
    private static func words(_ text: String) -> [String] {
        let text = RulesText(text)
        return text.tokens().map { token in
            "\(token.kind.rawValue) \(String(scalars: text.scalars[token.range]))"
        }
    }

    /// That tokens are within the text, ascending and without overlaps, and all but white space is in one.
    private static func check(_ string: String, _ comment: Comment) {
        let text = RulesText(string)
        var end = 0
        for token in text.tokens() {
            #expect(token.range.lowerBound >= end && !token.range.isEmpty, comment)
            guard token.range.lowerBound >= end, token.range.upperBound <= text.scalars.count else {
                return
            }
            #expect(isSpace(text, end..<token.range.lowerBound), comment)
            end = token.range.upperBound
        }
        #expect(end <= text.scalars.count, comment)
        #expect(isSpace(text, end..<max(end, text.scalars.count)), comment)
    }

    private static func isSpace(_ text: RulesText, _ range: Range<Int>) -> Bool {
        text.scalars[range].allSatisfy { $0.properties.isWhitespace || $0 == "\u{FEFF}" }
    }

    @Test("are those of the reader and of the lexer")
    func kinds() {
        let text = """
            { // a
              "rules": { "$r": { ".read": "auth.uid == $r && /[/\\"]x/.test(3 / 2)", "data": true, ".indexOn": ["now"] } }
            """
        #expect(
            Self.words(text) == [
                "symbol {", "comment // a", "key \"rules\"", "symbol :", "symbol {",
                "wildcard \"$r\"",
                "symbol :", "symbol {", "rule \".read\"", "symbol :", "symbol \"", "word auth",
                "symbol .", "name uid", "symbol ==", "wildcard $r", "symbol &&",
                #"pattern /[/\"]x/"#, "symbol .", "name test", "symbol (", "number 3", "symbol /",
                "number 2", "symbol )", "symbol \"", "symbol ,", "key \"data\"", "symbol :",
                "word true", "symbol ,", "rule \".indexOn\"", "symbol :", "symbol [",
                "text \"now\"",
                "symbol ]", "symbol }", "symbol }",
            ]
        )
    }

    @Test(
        "of a text that does not load go on behind what is not one",
        arguments: [
            (
                #"{"rules" ? 1}"#,
                ["symbol {", "key \"rules\"", "unknown ?", "number 1", "symbol }"]
            ),
            (#"{"a\q": 1}"#, ["symbol {", #"unknown "a\q""#, "symbol :", "number 1", "symbol }"]),
            ("{\"a", ["symbol {", "unknown \"a"]), ("/* a", ["comment /* a"]),
            (
                #"{".read": "auth # 'x"}"#,
                [
                    "symbol {", "rule \".read\"", "symbol :", "symbol \"", "word auth", "unknown #",
                    "unknown 'x", "symbol \"", "symbol }",
                ]
            ),
            (
                #"{".read": "a\n\u0061"}"#,
                [
                    "symbol {", "rule \".read\"", "symbol :", "symbol \"", "name a",
                    #"symbol \n"#, #"name \u0061"#, "symbol \"", "symbol }",
                ]
            ),
        ]
    )
    func broken(_ text: String, _ words: [String]) {
        #expect(Self.words(text) == words)
        Self.check(text, "\(text)")
    }

    @Test("of every rules file cover it, and none is unknown")
    func files() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../rules").standardizedFileURL
        let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
            .filter { $0.hasSuffix(".json") && !$0.hasSuffix(".cases.json") }
        #expect(names.count >= 5)
        for name in names {
            let text = try String(contentsOf: root.appending(path: name), encoding: .utf8)
            Self.check(text, "\(name)")
            let unknown = RulesText(text).tokens().filter { $0.kind == .unknown }
            #expect(unknown.isEmpty, "\(name)")
        }
    }

    @Test("of a random text cover it")
    func random() {
        let pieces = [
            "{", "}", "[", "]", ":", ",", "\"", "'", "\\", "/", "//", "/*", "*/", "\n", "\r\n", " ",
            "\".read\"", "\"$a\"", "$a", "true", "fals", "auth", "data.child(", ")", "&&", "=",
            "1.5",
            "-", "1e", "\\u00", "\\ud83d", "\u{1F600}", "\u{0}", "é", "\u{2028}", "\u{FEFF}", "`",
        ]
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        for round in 0..<3_000 {
            var text = random.index(2) == 0 ? "{\".read\":\"" : ""
            for _ in 0..<random.index(30) { text += pieces[random.index(pieces.count)] }
            Self.check(text, "seed \(seed) round \(round): \(text)")
        }
    }

    @Test("of a hostile text are as many as it is long")
    func hostile() {
        // Each slash could begin a pattern that runs to the end.
        for piece in ["/[", "'", "\\\"", "/*", "{", "?", "\"$"] {
            let text = "{\".read\":\"" + String(repeating: piece, count: 60_000)
            #expect(RulesText(text).tokens().count <= text.unicodeScalars.count)
        }
    }
}
