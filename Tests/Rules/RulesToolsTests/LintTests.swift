import RulesTools
import TestSupport
import Foundation
import SecurityRules
import Testing

@Suite("warnings about rules")
struct LintTests {
    private static let isUpdating = ProcessInfo.processInfo.environment["UPDATE_SPECS"] == "1"

    /// The cases of each lint, by family; each file holds whole sections.
    private static let files = [
        "lint-grants.txt", "lint-expressions.txt", "lint-keys.txt", "lint-texts.txt",
        "lint-rights.txt",
    ]

    @Test(
        "a rules text gives its warnings at their places",
        arguments: files + ["party-published.txt"]
    )
    func spec(_ file: String) throws {
        let spec = try LintSpec(file)
        if LintTests.isUpdating { try spec.update() }
        #expect(!spec.cases.isEmpty)
        for example in spec.cases {
            let found = try LintSpec.warnings(of: example.rules)
            #expect(found == example.expected, "\(file): \(example.testDescription)")
            #expect(found.isEmpty == example.mustBeClean, "\(file): \(example.testDescription)")
        }
    }

    @Test(
        "each warning has at least three texts that give it and three clean ones",
        arguments: Lint.all.map(\.code).filter { $0 != .unusedAllow }
    )
    func coverage(_ code: LintCode) throws {
        let cases = try LintTests.files.flatMap { try LintSpec($0).cases }.filter {
            $0.section == code.rawValue
        }
        #expect(cases.count { $0.expected.contains { $0.hasSuffix(" \(code.rawValue)") } } >= 3)
        #expect(cases.count { $0.mustBeClean } >= 3)
    }

    @Test("the examples of a lint are what they say", arguments: Lint.all)
    func examples(_ lint: Lint) throws {
        let wrong = try Ruleset.load(lint.wrong).lint().map(\.code)
        #expect(wrong.contains(lint.code))
        let right = try Ruleset.load(lint.right).lint()
        #expect(right.map(\.code).filter { $0 == lint.code } == [])
    }

    @Test(
        "the warning says who can delete or replace, signed out or signed in",
        arguments: [
            (
                "data.val() != null || newData.child('by').val() == auth.uid",
                "Anybody, also signed out, can delete"
            ),
            (
                "!newData.exists() || auth != null && auth.uid == $post",
                "Anybody, also signed out, can delete"
            ),
            (
                "newData.hasChild('by') || auth.uid == $post",
                "Anybody, also signed out, can replace"
            ),
            ("auth != null", "Any signed-in user can delete"),
            ("auth.uid != null && newData.exists()", "Any signed-in user can replace"),
        ]
    )
    func strangers(rule: String, message: String) throws {
        let text = #"{"rules":{"posts":{"$post":{".write":"\#(rule)"}}}}"#
        let warnings = try Ruleset.load(text).lint().filter { $0.code == .writeWithoutExists }
        #expect(warnings.map { $0.message.hasPrefix(message) } == [true], "\(warnings)")
    }

    @Test("the right example of a lint gives no warning at all", arguments: Lint.all)
    func rightExamples(_ lint: Lint) throws {
        #expect(try Ruleset.load(lint.right).lint().map(\.description) == [])
    }

    @Test("there is one lint for each code, and it says what it means")
    func everyCode() {
        #expect(
            Lint.all.map(\.code.rawValue).sorted() == LintCode.allCases.map(\.rawValue).sorted()
        )
        for lint in Lint.all {
            #expect(lint.summary.hasSuffix("."))
            #expect(lint.reason.count > 100)
        }
    }

    @Test(
        "a known hole of the published party rules is found",
        arguments: [
            (
                "signed-out callers create messages, and forge their sender",
                "7:22 unauthenticated-create"
            ),
            ("signed-out callers change messages without a sender", "7:40 null-equality"),
            ("signed-out callers change messages without a receiver", "7:81 null-equality"),
            ("signed-out callers create parties in anybody's name", "13:20 unauthenticated-create"),
            ("signed-out callers change parties without an owner", "13:38 null-equality"),
            (
                "signed-out callers read parties that are missing or have no owner",
                "14:19 null-equality"
            ),
            ("everybody reads every user's e-mail address", "18:16 read-above-secret"),
        ]
    )
    func publishedHoles(_ hole: String, _ warning: String) throws {
        let published = try #require(try LintSpec("party-published.txt").cases.first)
        #expect(try LintSpec.warnings(of: published.rules).contains(warning), "\(hole)")
    }

    @Test("the pages on warnings say of each what the lint itself says, and of no other")
    func page() throws {
        var list = """
            # Warnings about rules

            `hearth rules check FILE` loads a rules file and tells every error, and every rule that loads but rarely means what was meant. Each warning has a code; `hearth rules check --explain CODE` prints what stands here. With `--strict` warnings fail, too. A lint warns only of what it is sure of: where a grant depends on data that the rules do not show, it is quiet.

            What is meant can be silenced by a comment in the rules file, with one code or several:

            ```js
            ".read": true, // hearth:allow open-root
            // hearth:allow null-equality, unauthenticated-create -- a comment alone speaks of the next rule
            /* hearth:allow-file missing-index */
            ```

            """
        let access = Lint.all.prefix { $0.code != .constantRule }
        let parts = [
            ("LINT_ACCESS", "Warnings about who may read and write", access),
            ("LINT_FORM", "Warnings about what rules say", Lint.all[access.endIndex...]),
        ]
        var headings: [Substring] = []
        for (name, subject, lints) in parts {
            list += "\n## \(subject)\n\n"
            var text = "# \(subject)\n\n"
            text += "[LINT.md](LINT.md) lists all warnings, and says how one is silenced.\n\n"
            for lint in lints {
                let code = lint.code.rawValue
                list += "- [`\(code)`](\(name).md#\(code)): \(lint.summary)\n"
                text += "## \(code)\n\n\(lint.summary)\n\n\(lint.reason)\n\n"
                text += "Wrong:\n```json\n\(lint.wrong)\n```\n\n"
                text += "Right:\n```json\n\(lint.right)\n```\n\n"
            }
            text.removeLast()
            let page = try Self.page(name, shouldBe: text)
            headings += page.split(separator: "\n").filter { $0.hasPrefix("## ") }
                .map { $0.dropFirst(3) }
        }
        _ = try Self.page("LINT", shouldBe: list)
        #expect(headings.sorted() == LintCode.allCases.map { Substring($0.rawValue) }.sorted())
    }

    /// A page of `docs/reference`, which must have this text; it is written when specs are updated.
    private static func page(_ name: String, shouldBe text: String) throws -> String {
        let file = URL(filePath: "\(Checkout.path)/docs/reference/\(name).md")
        if isUpdating { try text.write(to: file, atomically: true, encoding: .utf8) }
        let page = try String(contentsOf: file, encoding: .utf8)
        #expect(page == text, "\(name).md")
        return page
    }

    @Test("every sample under rules/ is clean, without a comment that silences")
    func samples() throws {
        let folder = URL(filePath: "\(Checkout.path)/rules")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path())
            .filter { $0.hasSuffix(".json") && !$0.hasSuffix(".cases.json") }
        #expect(files.contains("members.json"))
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            #expect(try Ruleset.load(text).lint().map(\.description) == [], "\(file)")
            #expect(!text.contains("hearth:allow"), "\(file)")
        }
    }

    @Test("a warning says where, what and how to put it right")
    func message() throws {
        let warnings = try Ruleset.load(
            """
            {
              "rules": {
                "p": { "$p": { ".read": "data.child('owner').val() === auth.uid" } }
              }
            }
            """
        ).lint()
        #expect(
            warnings.map(\.description) == [
                "3:30: warning[null-equality]: Holds for everybody who is signed out where the other side is missing, "
                    + "since null equals null."
            ]
        )
        #expect(warnings.map(\.hint) == ["Begin with auth != null &&."])
    }

    @Test("a rule that would take more steps than its share is looked at in part")
    func longChains() throws {
        let pieces = ["auth.uid == data.child('a').val()", "data.child($k + 'x').exists()"]
        for (piece, joint) in zip(pieces, [" || ", " && "]) {
            let rule = Array(repeating: piece, count: 100).joined(separator: joint)
            let rules = try Ruleset.load(
                "{\"rules\":{\"$k\":{\".read\":\"(\(rule)) && data.exists()\"}}}"
            )
            #expect(rules.lint().count < 3, "\(piece)")
        }
    }

    @Test("conditions nested as deep as they may be are linted")
    func deepest() throws {
        var rule = "data.exists()"
        for _ in 0..<95 { rule = "(\(rule) ? newData.exists() : auth != null)" }
        let warnings = try Ruleset.load("{\"rules\":{\"a\":{\".write\":\"\(rule)\"}}}").lint()
        #expect(warnings.count <= RulesLimits.faultCount)
    }
}
