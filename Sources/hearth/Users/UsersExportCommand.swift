import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users export`.
struct UsersExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all accounts to a file, in the form of 'firebase auth:export'.",
        discussion: """
            The file holds the hashes of passwords: its owner alone can read it, and nobody else should. 'hearth users import' takes it in \
            on another server, where the users go on with their passwords. It has its name when it is whole.

            Examples:
              hearth users export users.json
              hearth users export - | gzip > users.json.gz
            """,
    )

    @Argument(help: "The file; '-' writes to standard output.", completion: .file())
    var file: String

    @OptionGroup
    var options: AccountServiceOptions

    func run() throws {
        try report { () throws(CommandError) in
            try UserExport.write(options.service(), to: file)
        }
    }
}
