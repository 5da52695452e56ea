import JSONTree
import Queries
import SecurityRules
import Testing

@Suite("cases of rules, data and a request")
struct CaseTests {
    @Test(
        "a conformance case comes out as written",
        arguments: try RulesCase.load("rules-cases.json")
    )
    func conformance(_ example: RulesCase) throws {
        try check(example)
    }

    @Test(
        "a case of our own comes out as written",
        arguments: try RulesCase.load("rules-own-cases.json")
    )
    func own(_ example: RulesCase) throws {
        try check(example)
    }

    @Test(
        "a case of a sample under rules/ comes out as written",
        arguments: try RulesCase.loadSamples()
    )
    func sample(_ example: RulesCase) throws {
        try check(example)
    }

    @Test("there are samples with cases")
    func samplesExist() throws {
        #expect(try RulesCase.loadSamples().count >= 18)
    }

    private func check(_ example: RulesCase) throws {
        let expected = try #require(try example.string("expect"))
        let ruleset: Ruleset
        do {
            ruleset = try Ruleset.load(try example.rulesText)
        } catch let error as RulesError {
            #expect(expected == "invalid-rules", "\(error)")
            if example.has("errors") {
                #expect(error.faults.map(\.description) == (try example.strings("errors")))
            }
            return
        }
        let operation = try example.operation()
        let request = try example.request()
        let decision = ruleset.simulate(operation, request).decision
        let verdict = decision.isAllowed ? "allow" : "deny"
        #expect(verdict == expected, "\(String(decoding: decision.simulatorJSON(), as: UTF8.self))")
        let silent = ruleset.simulate(operation, request, recording: []).decision
        #expect(silent.isAllowed == decision.isAllowed, "recording changes no verdict")
        if example.has("decidedBy") {
            let rule = decision.rule.map { "\($0.kind.rawValue) \($0.path)" }
            #expect(rule == (try example.string("decidedBy")))
            #expect(silent.rule.map { "\($0.kind.rawValue) \($0.path)" } == rule)
        }
        if let message = try example.string("error") {
            let messages = decision.trace.compactMap { outcome in
                if case .error(let error) = outcome.result { error.message } else { nil }
            }
            #expect(messages.contains(message), "\(messages)")
        }
    }
}
