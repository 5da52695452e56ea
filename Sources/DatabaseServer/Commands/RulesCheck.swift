import Files
import SecurityRules

/// The command on rules files that no server runs on: `hearth rules check`.
package enum RulesCheck {
    /// Bytes of one file: more than rules may have, so that their own limit speaks.
    private static let byteLimit = 8 << 20

    /// Loads each file and tells every fault; exit code 1 when there is one.
    package static func run(_ paths: [String]) -> CommandOutcome {
        var output: [String] = []
        var errors: [String] = []
        var isGood = true
        for path in paths {
            switch check(path) {
            case .success(let warnings):
                output.append("\(path): ok")
                errors += warnings
            case .failure(let faults):
                errors += faults.texts
                isGood = false
            }
        }
        return CommandOutcome(
            output: output.joined(separator: "\n"),
            errors: errors.joined(separator: "\n"),
            exitCode: isGood ? 0 : 1,
        )
    }

    private struct Faults: Error {
        let texts: [String]
    }

    /// The warnings of a good file, or the faults of a bad one.
    private static func check(_ path: String) -> Result<[String], Faults> {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try SmallFile.read(path, byteLimit: byteLimit).bytes
        } catch {
            return .failure(Faults(texts: ["error: \(error)"]))
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .failure(Faults(texts: ["error: \(path): is not UTF-8 text"]))
        }
        let lines = text.unicodeScalars.split(
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == "\n" },
        )
        func shown(_ fault: RulesFault, _ kind: String) -> String {
            let line =
                lines.indices.contains(fault.line - 1)
                ? lines[fault.line - 1] : Substring().unicodeScalars
            return RulesCheck.text(of: fault, kind, path: path, line: line)
        }
        do throws(RulesError) {
            let ruleset = try Ruleset.load(text)
            return .success(ruleset.warnings.map { shown($0, "warning") })
        } catch {
            return .failure(Faults(texts: error.faults.map { shown($0, "error") }))
        }
    }

    /// A fault with its line, a caret below the place, and the hint.
    ///
    ///     rules/a.json:3:17: error: Unknown variable 'x'.
    ///         ".read": "x == 1"
    ///                   ^
    ///         hint: ...
    static func text(
        of fault: RulesFault,
        _ kind: String,
        path: String,
        line: Substring.UnicodeScalarView,
    ) -> String {
        // A window of the line around the place: rules of one long line are common.
        let place = max(0, fault.column - 1)
        let start = max(0, place - 60)
        let window = line.dropFirst(start).prefix(100)
        let shown = String(String.UnicodeScalarView(window.map { $0.value < 32 ? " " : $0 }))
        var text = "\(path):\(fault.line):\(fault.column): \(kind): \(fault.message)"
        text += "\n    \(shown)\n    \(String(repeating: " ", count: place - start))^"
        if let hint = fault.hint { text += "\n    hint: \(hint)" }
        return text
    }
}
