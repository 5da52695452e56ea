package import SecurityRules

extension Ruleset {
    /// Warnings of rules that load but are probably mistakes, sorted by position, without those that comments silence.
    ///
    /// Time is bounded by the length of the text; of a rule that takes more than its share of steps, only a part is
    /// analysed.
    ///
    /// - Returns: at most `RulesLimits.faultCount` warnings.
    package func lint() -> [LintWarning] {
        let syntax = syntax()
        let text = syntax.text
        let tree = LintTree(syntax.top)
        var found = syntax.notes
        for lint in Lint.all {
            guard let find = lint.find else { continue }
            found += find(tree).map {
                LocatedWarning(lint.code, $0.offset, $0.message, $0.hint)
            }
        }
        let lines = RuleLines(tree, in: text)
        let allowances = syntax.comments.compactMap { Allowance($0, in: text) }
        return Ruleset.silence(found, allowances, lines)
            .sorted { ($0.offset, $0.code.rawValue) < ($1.offset, $1.code.rawValue) }
            .prefix(RulesLimits.faultCount).map { $0.resolved(in: text) }
    }

    /// The warnings that no comment silences, and those of comments that silence nothing.
    private static func silence(
        _ found: [LocatedWarning],
        _ allowances: [Allowance],
        _ lines: RuleLines
    ) -> [LocatedWarning] {
        var left = found
        var unused: [LocatedWarning] = []
        for allowance in allowances {
            if allowance.entries.isEmpty {
                unused.append(
                    LocatedWarning(
                        .unusedAllow,
                        allowance.offset,
                        "This comment names no warning, so it silences nothing.",
                        "Name what it silences, as: hearth:allow null-equality."
                    )
                )
            }
            for entry in allowance.entries {
                let isSilenced = { (warning: LocatedWarning) in
                    warning.code == entry.code
                        && (allowance.line.map { lines.covers($0, warning.offset) } ?? true)
                }
                if !found.contains(where: isSilenced) { unused.append(unusedWarning(entry)) }
                left.removeAll(where: isSilenced)
            }
        }
        return left + unused
    }

    private static func unusedWarning(_ entry: Allowance.Entry) -> LocatedWarning {
        if entry.code != nil {
            return LocatedWarning(
                .unusedAllow,
                entry.offset,
                "Nothing here is warned of as '\(entry.word)', so this silences nothing.",
                "Remove it, so that it does not hide the next mistake."
            )
        }
        return LocatedWarning(
            .unusedAllow,
            entry.offset,
            "There is no warning '\(entry.word)', so this silences nothing.",
            Spelling.hint(for: entry.word, among: LintCode.allCases.map(\.rawValue))
                ?? "hearth rules check --explain lists them."
        )
    }
}

extension LocatedWarning {
    fileprivate func resolved(in text: RulesText) -> LintWarning {
        let (line, column) = text.position(of: offset)
        let advice = hint ?? "hearth rules check --explain \(code.rawValue) says more."
        return LintWarning(code: code, line: line, column: column, message: message, hint: advice)
    }
}

/// Which lines belong to which rule: a comment on one silences the whole rule.
private struct RuleLines {
    private let text: RulesText
    /// From the key to the end of the value, in scalars of the text; ascending, without overlaps.
    private let rules: [ClosedRange<Int>]

    init(_ tree: LintTree, in text: RulesText) {
        self.text = text
        rules = tree.rules.map { rule in
            rule.syntax.keyOffset...max(rule.syntax.keyOffset, rule.syntax.source.offsets.last ?? 0)
        }.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Whether a comment on a line applies to an offset.
    func covers(_ line: Int, _ offset: Int) -> Bool {
        if text.position(of: offset).line == line { return true }
        guard let rule = rules.last(where: { $0.lowerBound <= offset }), rule.contains(offset)
        else {
            return false
        }
        let first = text.position(of: rule.lowerBound).line
        return (first...text.position(of: rule.upperBound).line).contains(line)
    }
}
