import ArgumentParser
import DataCommands
import Files
import RulesCommands

/// `hearth rules coverage`.
struct RulesCoverageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage",
        abstract: "Show which rules of a running server were consulted, and what they came to.",
        discussion: """
            Counted are requests that the server decided while it records all decisions: with --dev, or with \
            --inspect all. New rules begin anew.

            Examples:
              hearth rules coverage
              hearth rules coverage --html coverage.html
              hearth rules coverage --reset
            """,
    )

    @Flag(help: "Print JSON.")
    var json = false

    @Option(
        help: ArgumentHelp("Write a page that shows the counts over the rules.", valueName: "file"),
        completion: .file()
    )
    var html: String?

    @Flag(help: "Count anew.")
    var reset = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        let forms = [json, html != nil, reset].count { $0 }
        if forms > 1 { throw ValidationError("--json, --html and --reset: give one of them") }
    }

    func run() throws {
        try report { () throws(CommandError) in
            let database = try server.database()
            if reset {
                try RulesInspection.resetCoverage(of: database)
                return .done("", errors: "counting anew")
            }
            let form: InspectionForm = json ? .json : html == nil ? .text : .page
            try RulesInspection.showCoverage(of: database, as: form, to: html)
            return .done("")
        }
    }
}
