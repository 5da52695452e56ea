import RulesOracle
import RulesTools
import TestSupport
import Foundation
import JSONTree
import SecurityRules
import Testing

@Suite("regular expressions")
struct PatternTests {
    /// One row of `Specs/patterns.json`: texts that match and texts that do not, or a load error.
    struct Row: Sendable, Decodable, CustomTestStringConvertible {
        let pattern: String
        let flags: String
        let matches: [String]?
        let refuses: [String]?
        let fault: String?

        var testDescription: String { "/\(pattern.prefix(60))/\(flags)" }

        static func load() throws -> [Row] {
            let folder = URL(filePath: #filePath).deletingLastPathComponent()
            let data = try Data(contentsOf: folder.appending(path: "Specs/patterns.json"))
            return try JSONDecoder().decode([Row].self, from: data)
        }
    }

    @Test("a pattern takes and refuses what its row says", arguments: try Row.load())
    func table(_ row: Row) throws {
        do throws(RulesError) {
            let rules = try PatternTests.rules(row.pattern, row.flags)
            #expect(row.fault == nil)
            for text in row.matches ?? [] {
                #expect(PatternTests.matches(rules, text), "\(text.debugDescription)")
            }
            for text in row.refuses ?? [] {
                #expect(!PatternTests.matches(rules, text), "\(text.debugDescription)")
            }
        } catch {
            #expect(error.faults.map(\.message) == [row.fault])
        }
    }

    @Test("random patterns agree with a matcher that tries everything")
    func twin() throws {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        for round in 0..<200 {
            let node = NaivePattern.random(&random, depth: 3)
            let (start, end) = (Bool.random(using: &random), Bool.random(using: &random))
            let (head, tail) = (start ? "^" : "", end ? "$" : "")
            // More than 64 states takes the other matcher; no text holds a z.
            let patterns = [
                "\(head)(\(node.text))\(tail)", "\(head)((\(node.text))|z{70})\(tail)",
            ]
            let rules = try patterns.map { (pattern) throws(RulesError) in
                try PatternTests.rules(pattern, "")
            }
            for _ in 0..<8 {
                let text = (0..<random.index(9)).map { _ in ["a", "b", "c"][random.index(3)] }
                let starts = start ? [0] : Set(0...text.count)
                let ends = node.ends(in: text, from: starts)
                let expected = end ? ends.contains(text.count) : !ends.isEmpty
                for rule in rules {
                    #expect(
                        PatternTests.matches(rule, text.joined()) == expected,
                        "seed \(seed) round \(round): /\(patterns[0])/ on \(text.joined())"
                    )
                }
            }
        }
    }

    @Test(
        "a pattern that ruins a backtracking matcher takes a bounded number of steps",
        arguments: [
            "^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(a*)*b$", "(a*)*(a*)*b", "^(([a-z])+.)+[A-Z]$",
            "^(.*)*x$", "(x+x+)+y", "^(a?){50}a{50}$", "^((a{1,20}){1,20})$",
        ]
    )
    func adversarial(_ pattern: String) throws {
        let rules = try PatternTests.rules(pattern, "")
        let text = String(repeating: "a", count: 2_000) + "!"
        let decision = PatternTests.decide(rules, text)
        #expect(!decision.isAllowed)
    }

    @Test("a pattern that would take too long aborts the request")
    func tooManySteps() throws {
        let rules = try PatternTests.rules("^((a{1,60}){1,60})$", "")
        let decision = PatternTests.decide(rules, String(repeating: "a", count: 200_000))
        #expect(!decision.isAllowed)
        guard case .error(let error) = decision.rule?.result else {
            Issue.record("the rule that ran out of steps decides")
            return
        }
        #expect(
            error.message
                == "The request takes more than 500000 steps of rules (of an update, 100 more a path)."
        )
    }

    @Test("a fifth of a megabyte is matched within the steps of one request")
    func longText() throws {
        let rules = try PatternTests.rules("^[a-z]+$", "")
        #expect(PatternTests.matches(rules, String(repeating: "k", count: 200_000)))
    }

    @Test("anchors beside ungrouped alternatives are warned of")
    func anchorWarning() throws {
        let warnings = try PatternTests.rules("^a|b$", "").lint()
            .filter { $0.code == .regexAlternatives }
        #expect(
            warnings.map(\.message) == [
                "Anchors apply to the whole pattern, not to one alternative."
            ]
        )
        #expect(try PatternTests.rules("^(a|b)$", "").lint().map(\.description) == [])
    }

    @Test("a question mark that opens a group is warned of")
    func groupWarning() throws {
        let warnings = try PatternTests.rules("(?:a)", "").lint()
            .filter { $0.code == .regexGroup }
        #expect(
            warnings.map(\.description) == [
                "1:40: warning[regex-group]: A '?' that opens a group is the character itself."
            ]
        )
    }

    // MARK: Through the door of a rule

    private static func rules(
        _ pattern: String,
        _ flags: String
    ) throws(RulesError) -> Ruleset {
        var text = Array("{\"rules\":{\".read\":".utf8)
        appendJSONString("auth.text.matches(/\(pattern)/\(flags))", to: &text)
        text.append(contentsOf: "}}".utf8)
        return try Ruleset.load(String(decoding: text, as: UTF8.self))
    }

    private static func decide(_ rules: Ruleset, _ text: String) -> Decision {
        var auth = Node.absent
        auth.set(Node(string: text), at: Path([Key(unchecked: Array("text".utf8))]))
        let request = RulesRequest(
            root: .absent,
            auth: AuthVariable(auth),
            now: Timestamp(milliseconds: 0)
        )
        return rules.decideRead(.root, query: nil, request)
    }

    private static func matches(_ rules: Ruleset, _ text: String) -> Bool {
        decide(rules, text).isAllowed
    }
}
