import ArgumentParser
import Files
import HTTPClient

struct RulesCoverageCommand: Command {
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
              hearth rules coverage --files
            """,
    )

    @Flag(help: "Print JSON.")
    var json = false

    @Option(file: "Write a page that shows the counts over the rules.")
    var html: String?

    @Flag(help: "Count anew.")
    var reset = false

    @OptionGroup
    var service: RulesServiceOption

    @Option(help: .value("name", "With --files: a bucket that has a rules file of its own."))
    var bucket: String?

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        let forms = [json, html != nil, reset].count { $0 }
        if forms > 1 { throw ValidationError("--json, --html and --reset: give one of them") }
        if bucket != nil, !service.files { throw ValidationError("--bucket needs --files") }
    }

    private var parameters: Parameters {
        PublishedRules.parameters(files: service.files) + Parameters([("bucket", bucket)])
    }

    private static let address = DatabasePath("/.inspect/coverage")

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        if reset {
            try database.clearInspection(Self.address, parameters)
            return .done("", errors: "counting anew")
        }
        guard let html else {
            try database.copyInspection(Self.address, parameters, as: json ? .json : .text)
            return .silent
        }
        let report = try database.perform(
            database.request(.get, Self.address, parameters)
        ).body
        guard report.starts(with: "{\"rules\":".utf8) else {
            throw .failed("\(database.location) says nothing of its rules: is it an older server?")
        }
        try database.write(CoveragePage.bytes(title: database.location, report), to: html)
        return .silent
    }
}
