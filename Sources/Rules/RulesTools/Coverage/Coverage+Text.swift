import SecurityRules

extension Coverage {
    /// Rules that `line` names.
    private static let namedCount = 5

    /// The summary for people, in one line, with the first rules that were never consulted.
    ///
    ///     coverage: 12 of 14 rules consulted, 57 of 60 sub-expressions evaluated; never: /a/$b .validate (9:20)
    package var line: String {
        let never = neverConsulted
        if never.isEmpty { return counts }
        let names = never.prefix(Self.namedCount).joined(separator: ", ")
        let rest = never.count - Self.namedCount
        return counts + "; never: \(names)" + (rest > 0 ? " and \(rest) more" : "")
    }

    private var counts: String {
        let summary = summary
        return "coverage: \(summary.consulted) of \(summary.rules) rules consulted, "
            + "\(summary.evaluated) of \(summary.subexpressions) sub-expressions evaluated"
    }

    /// In the order of the text, each as `/a/$b .validate (9:20)`.
    private var neverConsulted: [String] {
        rules.indices.filter { rules[$0].count == 0 }.map { index in
            let planned = plan.rules[index]
            let location = "\(planned.rule.line):\(planned.rule.column)"
            return "\(planned.shownPath) .\(planned.rule.kind.rawValue) (\(location))"
        }
    }
}
