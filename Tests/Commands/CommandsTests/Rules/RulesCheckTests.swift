import ArgumentParser
import Files
import Testing

@testable import Commands

@Suite("hearth rules check")
struct RulesCheckTests {
    @Test("a file that is not there is a failure that names it")
    func missingFile() throws {
        let outcome = try RulesCheckCommand.parse(["/no/such/rules.json"]).outcome()
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("/no/such/rules.json"))
    }
}
