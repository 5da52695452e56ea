import FileRules
import Foundation
import SecurityRules
import Testing

@Suite("loading file rules")
struct LoadingTests {
    /// What loading a text gives: its faults, else its warnings, each with its hint.
    static func findings(_ text: String) -> [String] {
        do throws(RulesError) {
            return try FileRuleset.load(text).warnings.map { "\($0) [\($0.hint)]" }
        } catch {
            return error.faults.map { $0.description + ($0.hint.map { " [\($0)]" } ?? "") }
        }
    }

    @Test("a text gives every fault", arguments: try RulesWorld.blocks("faults.txt"))
    func faults(_ block: RulesWorld.Block) {
        #expect(Self.findings(block.text) == block.lines)
        #expect(throws: RulesError.self) { try FileRuleset.load(block.text) }
    }

    @Test("a text gives every warning", arguments: try RulesWorld.blocks("warnings.txt"))
    func warnings(_ block: RulesWorld.Block) throws {
        #expect(Self.findings(block.text) == block.lines)
        #expect(throws: Never.self) { try FileRuleset.load(block.text) }
    }

    @Test(
        "the tables are written anew on demand",
        .enabled(if: ProcessInfo.processInfo.environment["UPDATE_SPECS"] != nil),
        arguments: ["faults.txt", "warnings.txt"]
    )
    func update(_ name: String) throws {
        let old = try RulesWorld.spec(name)
        var text = old.components(separatedBy: "\n=== ")[0] + "\n"
        for block in try RulesWorld.blocks(name) {
            let lines = Self.findings(block.text).map { $0 + "\n" }.joined()
            text += "=== \(block.title)\n\(block.text)\n---\n\(lines)\n"
        }
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Specs/\(name)"
        )
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    @Test(
        "a text is meant for files by its first word",
        arguments: [
            ("rules_version = '2';", true), ("\u{FEFF} // a {\r\n /* { */ service x", true),
            ("function f() {}", true), ("{\"rules\":{}}", false), ("// service\n{", false),
            ("/* service", false), ("services", false), ("", false),
        ]
    )
    func meaning(_ text: String, _ isMeant: Bool) {
        #expect(FileRuleset.isMeant(text) == isMeant)
    }
}
