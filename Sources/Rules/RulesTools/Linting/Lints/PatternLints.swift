import SecurityRules

/// Lints of regular expressions.
extension Lint {
    static let patternLints = [unanchoredRegex]

    /// A pattern that a text must match and that does not hold it at both ends. A single character or set asks for one such character
    /// anywhere, which is meant; so is an end that `.*` or `.+` leaves open, and a pattern that the text must not match.
    private static let unanchoredRegex = Lint(
        code: .unanchoredRegex,
        summary: "A regular expression that only looks for a part of the text.",
        reason: """
            'matches()' searches: /[a-z]+/ accepts every text that has a lower-case ASCII letter somewhere, with anything around it, scripts and a megabyte of \
            it included. Only ^ at the start and $ at the end make the pattern speak of the whole text.
            """,
        wrong: """
            /names/$uid .write auth != null && auth.uid == $uid
            /names/$uid .validate newData.isString() && newData.val().matches(/[a-z]{1,20}/)
            """,
        right: """
            /names/$uid .write auth != null && auth.uid == $uid
            /names/$uid .validate newData.isString() && newData.val().matches(/^[a-z]{1,20}$/)
            """,
        find: partsOfEachRule { rule in
            rule.findings(rule.facts) { atom in
                guard atom.outcome, case .call(_, let arguments) = atom.expression.kind,
                    let pattern = arguments.first, case .pattern(let body, _) = pattern.kind,
                    let ends = openEnds(Array(rule.syntax.source.scalars[body]))
                else { return nil }
                return rule.finding(
                    at: pattern,
                    "The pattern is open at \(ends): a text with anything else there gets through.",
                    "Write ^ at its start and $ at its end: /^...$/."
                )
            }
        }
    )

    /// The end at which a pattern accepts any text; nil when there is none, or when that is intended.
    private static func openEnds(_ scalars: [Unicode.Scalar]) -> String? {
        var parser = PatternParser(scalars[...], ignoresCase: false)
        let node: PatternNode
        do throws(LocatedFault) {
            node = try parser.parse()
        } catch {
            preconditionFailure("the pattern of rules that were loaded parses: \(error)")
        }
        let any: [[Unicode.Scalar]] = [[".", "*"], [".", "+"]]
        let startIsAny = any.contains { scalars.starts(with: $0) }
        let endIsAny =
            any.contains { Array(scalars.suffix(2)) == $0 } && scalars.dropLast(2).last != "\\"
        let start = parser.isAnchoredAtStart || startIsAny
        let end = parser.isAnchoredAtEnd || endIsAny
        if case .set = node, !parser.isAnchoredAtStart, !parser.isAnchoredAtEnd { return nil }
        if case .sequence(let pieces) = node, pieces.count == 1, case .set = pieces[0],
            !parser.isAnchoredAtStart, !parser.isAnchoredAtEnd
        {
            return nil
        }
        switch (start, end) {
        case (true, true): return nil
        case (true, false): return "its end"
        case (false, true): return "its start"
        case (false, false): return "both ends"
        }
    }
}
