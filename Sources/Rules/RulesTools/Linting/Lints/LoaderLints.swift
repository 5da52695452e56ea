import SecurityRules

/// What is noticed while rules are loaded, or while their comments are read.
extension Lint {
    static let loaderLints = [
        regexAlternatives, regexGroup, mixedOrder, trailingComma, unusedAllow,
    ]

    private static let regexAlternatives = Lint(
        code: .regexAlternatives,
        summary: "Anchors beside alternatives that no brackets hold together.",
        reason: """
            In /^a|b$/ other engines read 'begins with a, or ends with b'. Here anchors belong to the whole pattern, and it is not documented what \
            production does. Brackets leave no doubt.
            """,
        wrong: "/$k .read $k.matches(/^a|b$/)",
        right: "/$k .read $k.matches(/^(a|b)$/)"
    )

    private static let regexGroup = Lint(
        code: .regexGroup,
        summary: "A group that begins with a question mark.",
        reason: """
            There are no lookarounds and no non-capturing groups: the question mark is the character itself, so (?:a) takes '?:a'.
            """,
        wrong: "/$k .read $k.matches(/^(?:a|b)$/)",
        right: "/$k .read $k.matches(/^(a|b)$/)"
    )

    private static let mixedOrder = Lint(
        code: .mixedOrder,
        summary: "A number and a string are ordered, which always fails.",
        reason: """
            Only numbers with numbers and strings with strings have an order. Anything else fails and ends the rule, which then grants nothing.
            """,
        wrong: "/$k .read $k.length < '5' && auth != null",
        right: "/$k .read $k.length < 5 && auth != null"
    )

    private static let trailingComma = Lint(
        code: .trailingComma,
        summary: "A comma behind the last member of an object, or the last element of a list.",
        reason: """
            JSON has no comma there. Files with one are in use, and production is reported to take them, so it loads here too; editors, formatters \
            and other readers of JSON refuse the file. Two commas in a row are an error.
            """,
        wrong: #"{ "rules": { "a": { ".read": "auth != null", }, } }"#,
        right: "/a .read auth != null"
    )

    private static let unusedAllow = Lint(
        code: .unusedAllow,
        summary: "A comment that silences nothing.",
        reason: """
            A 'hearth:allow' comment that names no code, an unknown one, or one that is not warned of there, hides the next \
            mistake. This warning cannot be silenced.
            """,
        wrong: """
            {
              "rules": {
                // hearth:allow open-root
                ".read": false
              }
            }
            """,
        right: "/ .read false"
    )
}
