package import FileRules
package import JSONTree
import RulesTools
import SecurityRules

/// How often each `allow` of rules for files was tried, and each expression of its condition evaluated, and what came
/// of it. An expression of a function counts wherever it is called from.
package struct FileCoverage: Sendable {
    /// Results with counts.
    package struct Counts: Sendable, Equatable {
        package fileprivate(set) var trueCount = 0
        package fileprivate(set) var falseCount = 0
        package fileprivate(set) var errorCount = 0
        /// Values that are no bool.
        package fileprivate(set) var otherCount = 0

        /// How often at all.
        package var count: Int { trueCount + falseCount + errorCount + otherCount }

        fileprivate mutating func add(_ truth: Bool?, isError: Bool) {
            if isError {
                errorCount += 1
            } else if truth == true {
                trueCount += 1
            } else if truth == false {
                falseCount += 1
            } else {
                otherCount += 1
            }
        }
    }

    package let rules: FileRuleset
    /// Decisions that were counted.
    package private(set) var decisionCount = 0
    /// By number of `FileRuleset.allows`.
    package private(set) var allows: [Counts]
    /// By number of an expression.
    package private(set) var expressions: [Counts]
    /// Those that belong to a condition, in the order of the text, without literals.
    package let shown: [Int]

    /// Begins with nothing counted.
    package init(_ rules: FileRuleset) {
        self.rules = rules
        allows = Array(repeating: Counts(), count: rules.allows.count)
        expressions = Array(repeating: Counts(), count: rules.expressionCount)
        shown = Set(rules.allows.flatMap { rules.expressions(of: $0) }).sorted {
            let (a, b) = (rules.expression($0).at, rules.expression($1).at)
            return (a.line, a.column, $1) < (b.line, b.column, $0)
        }
    }

    /// Counts a recorded decision of these rules.
    package mutating func add(_ decision: FileDecision) {
        decisionCount += 1
        for candidate in decision.candidates {
            switch candidate.result {
            case .value(let truth): allows[candidate.allow.index].add(truth, isError: false)
            case .error: allows[candidate.allow.index].add(nil, isError: true)
            }
            for observation in candidate.observations {
                var isError = false
                if case .error = observation.outcome { isError = true }
                expressions[observation.expression].add(observation.truth, isError: isError)
            }
        }
    }

    /// The summary for people, in one line, with the first statements that were never tried.
    ///
    ///     coverage: 3 of 4 allows tried, 17 of 20 sub-expressions evaluated; never: read /b/{bucket}/o/{id} (9:5)
    package var line: String {
        let never = rules.allows.filter { allows[$0.index].count == 0 }
        let evaluated = shown.count { expressions[$0].count > 0 }
        let names = never.prefix(5).map {
            "\(ExplanationText.line($0.name.unicodeScalars)) (\($0.position))"
        }
        let rest = never.count - names.count
        return "coverage: \(allows.count - never.count) of \(allows.count) allows tried, "
            + "\(evaluated) of \(shown.count) sub-expressions evaluated"
            + (names.isEmpty ? "" : "; never: " + names.joined(separator: ", "))
            + (rest > 0 ? " and \(rest) more" : "")
    }

    /// A line for each `allow`, and below it each part of its condition that was never true, or never false.
    ///
    ///       line  times   true  false  error
    ///          4      3      1      2      -  allow read of /b/{bucket}/o/{id}
    ///       4:18: request.auth != null was never false
    package var listing: String {
        var text = "  line  times   true  false  error\n"
        for allow in rules.allows {
            let counts = allows[allow.index]
            for number in [
                allow.position.line, counts.count, counts.trueCount, counts.falseCount,
                counts.errorCount,
            ] {
                let digits = number == 0 ? "-" : "\(number)"
                text +=
                    String(
                        repeating: " ",
                        count: max(1, (number == allow.position.line ? 6 : 7) - digits.utf8.count)
                    ) + digits
            }
            text +=
                "  allow \(allow.words) of \(ExplanationText.line(allow.pattern.unicodeScalars))\n"
            var unevaluated = 0..<0
            for number in rules.expressions(of: allow) {
                // Parts of what was never evaluated are not named.
                let range = rules.range(number)
                guard !unevaluated.contains(range.lowerBound), let gap = gap(expressions[number])
                else { continue }
                if expressions[number].count == 0 { unevaluated = range }
                let (source, position) = rules.expression(number)
                text += "  \(position): \(ExplanationText.line(source.unicodeScalars)) \(gap)\n"
            }
        }
        return text
    }

    /// `{"rules": TEXT, "service": "files", "decisions", "hint"?, "report": [{"pattern", "words", POSITION, COUNTS, "parts":
    /// [{"text", POSITION, COUNTS}...]}...]}`, each `allow` in the order of the text with the expressions that decide it,
    /// those of functions among them. COUNTS are `"times"`, `"true"`, `"false"`, `"error"` and `"other"`. POSITION is
    /// `"line"` and `"column"` from 1, and `"offset"` and `"endOffset"` in scalars of the text.
    ///
    /// `hint` is what readers of the counts must know.
    package func json(hint: String? = nil) -> JSONValue {
        let text = RulesText(rules.text)
        let report = rules.allows.map { allow -> JSONValue in
            var body = JSONMembers()
            body.add("pattern", allow.pattern)
            body.add("words", allow.words)
            body.add(allow.position, range(of: allow, in: text), allows[allow.index])
            let parts = rules.expressions(of: allow).map { number -> JSONValue in
                let (text, position) = rules.expression(number)
                var part = JSONMembers()
                part.add("text", String(text.unicodeScalars.prefix(512)))
                part.add(position, rules.range(number), expressions[number])
                return part.value
            }
            body.add("parts", .list(parts))
            return body.value
        }
        return [
            "rules": .string(text.string), "service": "files", "decisions": .number(decisionCount),
            "hint": hint.map { .string($0) }, "report": .list(report),
        ]
    }

    /// From the word `allow` to the end of the condition; without one to the semicolon.
    private func range(of allow: FileAllow, in text: RulesText) -> Range<Int> {
        let start = text.offset(ofLine: allow.position.line, column: allow.position.column)
        if let condition = allow.expression { return start..<rules.range(condition).upperBound }
        let end = text.scalars[start...].firstIndex(of: ";") ?? text.scalars.endIndex
        return start..<end
    }

    /// What no request has shown of a condition; nil for what is no condition, and for one that was both.
    private func gap(_ counts: Counts) -> String? {
        if counts.count == 0 { return "was never evaluated" }
        if counts.otherCount > 0 || (counts.trueCount > 0 && counts.falseCount > 0) { return nil }
        if counts.trueCount == 0, counts.falseCount == 0 { return "was always an error" }
        return counts.trueCount == 0 ? "was never true" : "was never false"
    }
}

extension JSONMembers {
    /// Where something is, and how often it was evaluated to what.
    fileprivate mutating func add(
        _ position: FileRulesPosition,
        _ range: Range<Int>,
        _ counts: FileCoverage.Counts
    ) {
        add("line", count: position.line)
        add("column", count: position.column)
        add("offset", count: range.lowerBound)
        add("endOffset", count: range.upperBound)
        add("times", count: counts.count)
        add("true", count: counts.trueCount)
        add("false", count: counts.falseCount)
        add("error", count: counts.errorCount)
        add("other", count: counts.otherCount)
    }
}
