/// A word that the sources do not use any more: `docs/internals/STYLE.md` has the table of words and the reasons.
struct RetiredWord: Sendable {
    /// Characters that each hit has, its first one in either case: a fast search looks for these first.
    let part: String
    /// A regular expression over the line in lower case.
    let pattern: String
    let write: String
    /// Phrases that have the word in a plain sense.
    var allowed: [String] = []

    static let all = [
        RetiredWord(
            part: "judg",
            pattern: "judg",
            write: "decide, accept, refuse or evaluate",
            // A member of the report on shadow rules.
            allowed: ["\"judged\""]
        ),
        RetiredWord(
            part: "verdict",
            pattern: "verdict",
            write: "decision, result",
            // A header of the simulator, a member of the report on shadow rules, and a label of their metric.
            allowed: [
                "hearth-verdict", "\"verdict\"", "verdict=\"", "verdict=\\\"", ",verdict}",
                "{verdict}",
            ]
        ),
        RetiredWord(part: "told", pattern: #"\btold\b"#, write: "notified, sent"),
        RetiredWord(part: "hear of", pattern: #"\bhear of\b"#, write: "are notified of, receive"),
        RetiredWord(part: "hears of", pattern: "hears of", write: "is notified of, receives"),
        RetiredWord(part: "held ", pattern: "held listen", write: "listen that awaits a decision"),
        RetiredWord(part: "heldListen", pattern: "heldlisten", write: "awaiting listen"),
        RetiredWord(part: "held ", pattern: "held push", write: "coalesced push"),
        RetiredWord(part: "heldPush", pattern: "heldpush", write: "coalesced push"),
        RetiredWord(part: "lent", pattern: #"\blent ?node"#, write: "borrowed node"),
        RetiredWord(part: "courier", pattern: "courier", write: "sender"),
        RetiredWord(part: "carrier", pattern: "carrier", write: "connection"),
        RetiredWord(part: "desk", pattern: #"\bdesks?\b"#, write: "store, service"),
        RetiredWord(
            part: "letter",
            pattern: #"\bletters?\b"#,
            write: "email, or character, ASCII letter, letter of the alphabet",
            allowed: [
                "ascii letter", "of the alphabet", "letter of an alphabet", "letter-spacing",
                "letters and digits", "letters or digits",
                "lower-case letter", "upper-case letter", "capital letter", "letter case",
            ]
        ),
        RetiredWord(part: "turn", pattern: "turns? of the (event )?loop", write: "tick"),
        RetiredWord(part: "whoever", pattern: "whoever", write: "the user, caller, client who"),
        RetiredWord(part: "somebody", pattern: "somebody", write: "a user, another client"),
        RetiredWord(
            part: "nobody",
            pattern: #"\bnobody\b"#,
            write: "no user, no client",
            // The case of an identity and how it is printed; a user who does not exist, in the data of tests.
            allowed: [
                ".nobody", "`nobody`", "case nobody", "static let nobody", "as nobody",
                "admin, nobody", "by nobody", "(nobody)",
                "\"nobody\"", "\"nobody\\\"", "'nobody'", "nobody@",
            ]
        ),
    ]
}

/// Where a retired word stays, each with its reason.
struct WordExemption: Sendable {
    /// The beginning of the paths that it is for.
    let path: String
    /// A part of the line, or nil for every line.
    var line: String?
    /// The `part` of the word, or nil for every word.
    var part: String?
    let reason: String

    static let all = [
        WordExemption(path: "docs/internals/STYLE.md", line: "| ", reason: "the table of words"),
        WordExemption(path: "Tests/Support/TidyTests/RetiredWords.swift", reason: "the list"),
        WordExemption(path: "Tests/Support/TidyTests/WordTests.swift", reason: "words to find"),
    ]

    func covers(_ word: RetiredWord, in path: String, _ text: String) -> Bool {
        path.hasPrefix(self.path) && (line.map { text.contains($0) } ?? true)
            && (part.map { word.part == $0 } ?? true)
    }
}
