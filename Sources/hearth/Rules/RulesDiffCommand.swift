import ArgumentParser
import Files
import RulesCommands

/// `hearth rules diff`.
struct RulesDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Say which saved cases two rules files judge differently; exit code 1 when any.",
        discussion: """
            Every case is tried under both, whatever it expects. Cases that bring rules of their own are left out.

            Examples:
              hearth rules diff rules/chat.json new.json rules/chat.cases.json
              hearth rules diff old.json new.json *.cases.json --verbose
            """,
    )

    @Argument(help: "The rules as they are.", completion: .file())
    var old: String

    @Argument(help: "The rules as they would be.", completion: .file())
    var new: String

    @Argument(help: "Files of cases.", completion: .file(extensions: ["json"]))
    var files: [String]

    @Flag(name: .shortAndLong, help: "Say of each difference why the new rules decide so.")
    var verbose = false

    func run() throws {
        var diff = RulesDiff(old: old, new: new, files: files)
        diff.isVerbose = verbose
        try diff.run().report()
    }
}
