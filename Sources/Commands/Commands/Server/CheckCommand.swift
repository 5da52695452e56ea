import ArgumentParser
import DatabaseServer
import Files

struct CheckCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Show every setting, where it comes from, and what is wrong or unsafe.",
        discussion: """
            Examples:
              hearth check
              hearth check --config /etc/hearth/hearth.json --strict
              hearth check --port 9001 --json

            Takes the flags of hearth serve, and reads the same variables and settings file. Loads rules, \
            certificate, keys and secrets, looks at the data folder, and says which rules are in force for \
            each database. Starts nothing and changes nothing. Exit codes: 0 good, 1 a warning with --strict, 2 a server would not start.
            """,
    )

    @Flag(help: "Fail on warnings, too.")
    var strict = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup
    var settings: ServerSettings

    func outcome() -> CommandOutcome {
        let report: CheckReport
        do throws(ConfigurationFaults) {
            report = CheckReport(try settings.configuration())
        } catch {
            report = CheckReport(error)
        }
        return json ? report.json(isStrict: strict) : report.text(isStrict: strict)
    }
}
