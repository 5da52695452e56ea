package import JSONTree
import SecurityRules

/// What is to be said of a rules text while it is written: why it does not load, else its warnings; and its tokens.
package struct RulesFindings {
    private let errors: [RulesFault]
    private let warnings: [LintWarning]
    private let tokens: [RulesToken]

    /// Checks a text. One that is longer than rules may be has no tokens.
    package init(of text: String) {
        do throws(RulesError) {
            warnings = try Ruleset.load(text).lint()
            errors = []
        } catch {
            warnings = []
            errors = error.faults
        }
        tokens =
            text.utf8.count > RulesLimits.textByteCount ? [] : RulesText(text).tokens()
    }

    /// `{"errors":[{"line","column","message","hint"?}],"warnings":[{"code","line","column","message","hint"}],`
    /// `"lints":{CODE:{"summary","reason","wrong","right"}},"tokens":{"kinds":[NAME...],"runs":[GAP,LENGTH,KIND,...]}}`.
    ///
    /// `lints` has what the warnings mean, with examples. Of each token `runs` has how many scalars stand before it, behind the one before; its length in scalars; and the
    /// index of its kind. Positions count from 1, in scalars.
    package var json: JSONValue {
        [
            "errors": .list(errors.map { Self.json(of: $0) }),
            "warnings": .list(warnings.map { Self.json(of: $0) }),
            "lints": .object(lints.map { JSONValue.Member($0.code.rawValue, Self.json(of: $0)) }),
            "tokens": [
                "kinds": .list(RulesToken.Kind.allCases.map { .string($0.rawValue) }),
                "runs": .raw(runs),
            ],
        ]
    }

    /// Those of the warnings.
    private var lints: [Lint] {
        let codes = Set(warnings.map(\.code))
        return Lint.all.filter { codes.contains($0.code) }
    }

    private var runs: [UInt8] {
        var out = [UInt8(ascii: "[")]
        var end = 0
        for token in tokens {
            if out.count > 1 { out.append(UInt8(ascii: ",")) }
            let kind = RulesToken.Kind.allCases.firstIndex(of: token.kind) ?? 0
            out += Array("\(token.range.lowerBound - end),\(token.range.count),\(kind)".utf8)
            end = token.range.upperBound
        }
        out.append(UInt8(ascii: "]"))
        return out
    }

    private static func json(of fault: RulesFault) -> JSONValue {
        [
            "line": .number(fault.line), "column": .number(fault.column),
            "message": .string(fault.message), "hint": fault.hint.map { .string($0) },
        ]
    }

    private static func json(of warning: LintWarning) -> JSONValue {
        [
            "code": .string(warning.code.rawValue), "line": .number(warning.line),
            "column": .number(warning.column), "message": .string(warning.message),
            "hint": .string(warning.hint),
        ]
    }

    private static func json(of lint: Lint) -> JSONValue {
        [
            "summary": .string(lint.summary), "reason": .string(lint.reason),
            "wrong": .string(lint.wrong), "right": .string(lint.right),
        ]
    }
}
