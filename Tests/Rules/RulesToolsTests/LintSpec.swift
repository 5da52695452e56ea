import Foundation
import RulesTools
import SecurityRules
import Testing

/// A file of rules texts with the warnings that each must give.
///
///     ## a code: what follows is about it
///
///     === a title, with `(clean)` at its end where there must be no warning
///     <rules text>
///     ---
///     <line>:<column> <code>, one a line
///
/// With `UPDATE_SPECS=1` the warnings are written anew, for review.
struct LintSpec {
    struct Case: Sendable, CustomTestStringConvertible {
        let section: String
        let title: String
        let rules: String
        let expected: [String]

        var mustBeClean: Bool { title.hasSuffix("(clean)") }
        var testDescription: String { "\(section): \(title)" }
    }

    let cases: [Case]
    private let file: URL

    init(_ name: String) throws {
        file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Specs/\(name)")
        var section = ""
        var cases: [Case] = []
        let text = try String(contentsOf: file, encoding: .utf8)
        for part in ("\n" + text).components(separatedBy: "\n## ").dropFirst() {
            let blocks = part.components(separatedBy: "\n=== ")
            section = blocks[0].trimmingCharacters(in: .whitespacesAndNewlines)
            for block in blocks.dropFirst() {
                let halves = block.components(separatedBy: "\n---\n")
                let lines = halves[0].components(separatedBy: "\n")
                cases.append(
                    Case(
                        section: section,
                        title: lines[0],
                        rules: lines.dropFirst().joined(separator: "\n"),
                        expected: halves.dropFirst().joined().split(separator: "\n").map {
                            String($0)
                        }
                    )
                )
            }
        }
        self.cases = cases
    }

    /// What linting a text gives, as the file has it.
    static func warnings(of rules: String) throws -> [String] {
        try Ruleset.load(rules).lint().map { "\($0.line):\($0.column) \($0.code.rawValue)" }
    }

    /// Writes the file anew with the warnings that are given now.
    func update() throws {
        var text = ""
        var section = ""
        for example in cases {
            if example.section != section {
                section = example.section
                text += "## \(section)\n\n"
            }
            text += "=== \(example.title)\n\(example.rules)\n---\n"
            text += try LintSpec.warnings(of: example.rules).map { $0 + "\n" }.joined() + "\n"
        }
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
}
