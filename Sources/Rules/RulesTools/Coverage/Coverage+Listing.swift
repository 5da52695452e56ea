import SecurityRules

extension Coverage {
    /// Every rule with its counts, for terminals, in the order of the text; one that was never consulted
    /// is marked with `!`.
    ///
    ///     5 decisions consulted 2 of 3 rules, and 11 of 14 parts of their expressions.
    ///
    ///       line  times   true  false  error
    ///          4      3      1      2      -  .read of /rooms/$room
    ///     !    5      -      -      -      -  .write of /rooms/$room
    package func listing() -> String {
        let summary = summary
        let decisions = decisionCount == 1 ? "1 decision" : "\(decisionCount) decisions"
        var text = "\(decisions) consulted \(summary.consulted) of \(summary.rules) rules"
        text +=
            ", and \(summary.evaluated) of \(summary.subexpressions) parts of their expressions.\n"
        if cutCount > 0 {
            text += "\(cutCount) of them were too long to be counted whole.\n"
        }
        if rules.isEmpty { return text }
        text += "\n  line  times   true  false  error\n"
        for (planned, covered) in zip(plan.rules, rules) {
            text += covered.count == 0 ? "!" : " "
            text += Coverage.column(planned.rule.line, 5)
            for count in [
                covered.count, covered.trueCount, covered.falseCount, covered.errors.count,
            ] {
                text += Coverage.column(count, 7)
            }
            let location = ExplanationText.line(planned.shownPath.unicodeScalars)
            text += "  .\(planned.rule.kind.rawValue) of \(location)\n"
            for (message, count) in covered.errors.messages {
                let times = count == 1 ? "once" : "\(count) times"
                text += "          \(times): \(ExplanationText.line(message.unicodeScalars))\n"
            }
        }
        return text
    }

    /// A number at the right of its column; nothing is a dash.
    private static func column(_ number: Int, _ width: Int) -> String {
        let digits = number == 0 ? "-" : "\(number)"
        return String(repeating: " ", count: max(1, width - digits.utf8.count)) + digits
    }
}
