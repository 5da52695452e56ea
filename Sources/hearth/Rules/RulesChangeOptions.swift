import ArgumentParser
import RulesCommands

/// Who changes rules.
struct AuthorOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Who makes the change, as the history shows it (default: user@host).",
            valueName: "name"
        )
    )
    var author: String?

    /// The name that is given, else that of whoever runs the process.
    var name: String? { author ?? ChangeAuthor.ofProcess(ProcessEnvironment.variables()) }
}

/// What may be left out of a change of rules.
struct RulesChangeOptions: ParsableArguments {
    @OptionGroup
    var author: AuthorOption

    @Option(
        help: ArgumentHelp(
            "Change nothing unless this version is in force; 0 stands for none.",
            valueName: "version"
        )
    )
    var expect: Int?

    @Flag(help: "Only ask the server whether it would do it.")
    var dryRun = false

    func validate() throws {
        if let expect, expect < 0 {
            throw ValidationError("--expect: \(expect) is the number of no version")
        }
    }

    var choice: RulesPublishing.Choice {
        var choice = RulesPublishing.Choice()
        choice.author = author.name
        choice.expectedVersion = expect
        choice.isDryRun = dryRun
        return choice
    }
}
