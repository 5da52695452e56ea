import Files
import RulesCommands
import Testing

@Suite("hearth rules check")
struct RulesCheckTests {
    @Test("a file that is not there is a failure that names it")
    func missingFile() {
        let outcome = RulesCheck.run(["/no/such/rules.json"])
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("/no/such/rules.json"))
    }
}
