import ArgumentParser
import Files
import RulesCommands

extension RulesCheck.Format: ExpressibleByArgument {}

/// `hearth rules check`.
struct RulesCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Load rules files and tell every error and warning.",
        discussion: """
            Exit code 1 when there is an error, with --strict also when there is a warning. A comment in the file silences what is meant: \
            // hearth:allow CODE on the line of a rule or above it, /* hearth:allow-file CODE */ for the whole file. Files of \
            cases, X.cases.json, are skipped.

            Examples:
              hearth rules check rules.json
              hearth rules check --strict rules/*.json
              generate-rules | hearth rules check --format json -
              hearth rules check --list
              hearth rules check --explain null-equality
            """,
    )

    @Flag(help: "Fail on warnings, too.")
    var strict = false

    @Option(help: "How to tell: text or json.")
    var format = RulesCheck.Format.text

    @Flag(help: "Say what the named warnings mean, with examples; without a name, list them.")
    var explain = false

    @Flag(help: "List all warnings.")
    var list = false

    @Argument(help: "Rules files, - for standard input; with --explain, names of warnings.")
    var files: [String] = []

    func validate() throws {
        if files.isEmpty, !explain, !list {
            throw ValidationError("Missing expected argument '<files> ...'")
        }
        if list, !files.isEmpty { throw ValidationError("--list takes no files") }
    }

    func run() throws {
        if list || explain && files.isEmpty {
            try RulesCheck.list().report()
        } else if explain {
            try RulesCheck.explain(files).report()
        } else {
            try RulesCheck.run(files, isStrict: strict, format: format).report()
        }
    }
}
