import FileRules
import FileRulesTools
import SecurityRules
import Testing

@Suite("expressions of file rules")
struct ExpressionTests {
    @Test(
        "an expression has the value that its row says",
        arguments: try RulesWorld.rows("expressions.txt")
    )
    func table(_ row: RulesWorld.Row) throws {
        #expect(try RulesWorld.value(of: row.left) == row.right)
    }

    @Test("a pattern takes what its row says", arguments: try RulesWorld.rows("matching.txt"))
    func matching(_ row: RulesWorld.Row) throws {
        let words = row.left.split(separator: " ", maxSplits: 2).map { String($0) }
        let text =
            "rules_version = '\(words[0])'; service firebase.storage { match /b/{bucket}/o { match \(words[1]) { allow get; } } }"
        let decision = try RulesWorld.decide(text, RulesWorld.request(.get, words[2]))
        let found = decision.candidates.first.map { candidate in
            candidate.bindings.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
        }
        #expect(found ?? "no" == row.right)
    }
}
