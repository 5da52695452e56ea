import FileRules
package import JSONTree
import SecurityRules

/// What is to be said of a text of rules for files while it is written: why it does not load, else its warnings.
package struct FileRulesFindings {
    private let errors: [RulesFault]
    private let warnings: [FileRulesWarning]

    /// Checks a text.
    package init(of text: String) {
        do throws(RulesError) {
            (errors, warnings) = ([], try FileRuleset.load(text).warnings)
        } catch {
            (errors, warnings) = (error.faults, [])
        }
    }

    /// `{"errors":[{"line","column","message","hint"?}],"warnings":[{"code","line","column","message","hint"}]}`, positions
    /// from 1, in scalars.
    package var json: JSONValue {
        [
            "errors": .list(errors.map { Self.json($0.line, $0.column, $0.message, $0.hint) }),
            "warnings": .list(
                warnings.map {
                    let (line, column) = ($0.position.line, $0.position.column)
                    return Self.json(line, column, $0.message, $0.hint, code: $0.code.rawValue)
                }
            ),
        ]
    }

    private static func json(
        _ line: Int,
        _ column: Int,
        _ message: String,
        _ hint: String?,
        code: String? = nil
    ) -> JSONValue {
        [
            "code": code.map { .string($0) }, "line": .number(line), "column": .number(column),
            "message": .string(message), "hint": hint.map { .string($0) },
        ]
    }
}
