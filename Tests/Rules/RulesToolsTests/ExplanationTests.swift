import Foundation
import JSONTree
import RulesTools
import SecurityRules
import Testing

/// Each `Explanations/NAME.txt` holds requests as the simulator takes them, each with the text that explains its
/// decision:
///
///     rules of all requests below, as a rules file
///     === a title
///     {"op":"read",...}
///     ---
///     the explanation
@Suite("explanations")
struct ExplanationTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Explanations")

    static let names: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path())
        return (files ?? []).filter { $0.hasSuffix(".txt") }.sorted()
    }()

    @Test("there are transcripts")
    func transcriptsExist() { #expect(Self.names.count >= 4) }

    /// `UPDATE_SPECS=1` rewrites the files; the difference is then for people to review.
    @Test("a decision is explained as the transcript says", arguments: names)
    func transcript(name: String) throws {
        let file = Self.folder.appending(path: name)
        let written = try String(contentsOf: file, encoding: .utf8)
        let played = try Self.play(written)
        if ProcessInfo.processInfo.environment["UPDATE_SPECS"] == "1" {
            try played.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(played == written)
        }
    }

    private static func play(_ text: String) throws -> String {
        var sections = text.components(separatedBy: "\n=== ")
        let rules = sections.removeFirst()
        let ruleset = try Ruleset.load(rules)
        var out = rules
        for section in sections {
            let title = section.prefix { $0 != "\n" }
            let rest = section.dropFirst(title.count + 1)
            let body = String(rest).components(separatedBy: "\n---")[0]
                .trimmingCharacters(in: .newlines)
            let request = try SimulationRequest(body: Array(body.utf8))
            let simulated = request.simulate(under: ruleset, on: .absent, at: RuleCase.usualTime)
            let text = Explanation.text(of: simulated.result.decision, for: simulated.explained)
            out += "\n=== \(title)\n\(body)\n---\n\(text)\n"
        }
        return out
    }
}
