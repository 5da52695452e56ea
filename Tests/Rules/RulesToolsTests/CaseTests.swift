import Foundation
import RulesTools
import SecurityRules
import TestSupport
import Testing

/// A case of a file, with the rules that decide it.
struct DecidedCase: Sendable, CustomTestStringConvertible {
    let example: RuleCase
    let rules: LoadedRules

    var testDescription: String { example.name }

    private static let package = URL(filePath: Checkout.path)

    /// The cases of a file in which each brings its rules.
    static func conformance(_ file: String) throws -> [DecidedCase] {
        let folder = package.appending(path: "Tests/Rules/SecurityRulesTests/Specs")
        return try load(folder.appending(path: file), shared: nil)
    }

    /// The cases of every sample for databases under `rules/`, each with the rules file beside it.
    static func samples() throws -> [DecidedCase] {
        let folder = package.appending(path: "rules")
        let suffix = ".cases.json"
        let all = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        let files = all.filter { $0.hasSuffix(suffix) && !$0.hasSuffix(".storage" + suffix) }
        return try files.sorted().flatMap { file in
            let rules = folder.appending(path: file.dropLast(suffix.count) + ".json")
            let text = try String(contentsOf: rules, encoding: .utf8)
            return try load(folder.appending(path: file), shared: try Ruleset.load(text))
        }
    }

    private static func load(_ url: URL, shared: Ruleset?) throws -> [DecidedCase] {
        let file = try CaseFile.read([UInt8](Data(contentsOf: url)))
        return try file.cases.map { example in
            let rules = file.rules(of: example, shared: shared.map { .success($0) })
            return DecidedCase(example: example, rules: try #require(rules))
        }
    }
}

@Suite("cases of rules, data and a request")
struct CaseTests {
    @Test(
        "a conformance case comes out as written",
        arguments: try DecidedCase.conformance("rules-cases.json")
    )
    func conformance(_ decided: DecidedCase) { check(decided) }

    @Test(
        "a case of our own comes out as written",
        arguments: try DecidedCase.conformance("rules-own-cases.json")
    )
    func own(_ decided: DecidedCase) { check(decided) }

    @Test(
        "a case of a sample under rules/ comes out as written",
        arguments: try DecidedCase.samples()
    )
    func sample(_ decided: DecidedCase) { check(decided) }

    @Test("there are samples with cases")
    func samplesExist() throws {
        #expect(try DecidedCase.samples().count >= 18)
    }

    /// What is recorded changes neither the decision nor the rule that makes it.
    private func check(_ decided: DecidedCase) {
        for recording: Recording in [[], .trace, .values, [.values, .paths]] {
            let outcome = decided.example.run(under: decided.rules, recording: recording)
            #expect(outcome.problems == [], "\(recording): \(outcome.explanation ?? "")")
        }
        let outcome = decided.example.run(under: decided.rules)
        guard let decision = outcome.decision else { return }
        // Whatever is decided can be explained.
        let text = outcome.explanation ?? ""
        #expect(text.contains(decision.isAllowed ? " allowed: " : " refused: "))
        #expect(text.utf8.count <= RulesLimits.explanationByteCount)
    }
}
