import ArgumentParser
import Files

struct UsersImportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take in the accounts of 'hearth users export' or 'firebase auth:export'.",
        discussion: """
            Reads JSON and CSV, compressed by gzip or not. Passwords are taken along: the options say how they are hashed, as the Firebase \
            console shows it; each is hashed anew when its user first signs in. Those of 'hearth users export' need no options.

            Accounts that are there already stay as they are, so that the same command goes on where it was stopped; --overwrite replaces \
            them. An account that cannot be taken in is reported with its position, and the others go on.

            Examples:
              hearth users import users.json
              hearth users import users.json --hash-algo SCRYPT --hash-key KEY --salt-separator Bw== --rounds 8 --mem-cost 14
              hearth users import users.csv --hash-algo HMAC_SHA256 --hash-key KEY
            """,
    )

    @Argument(
        help: "The file, whose name ends in .json or .csv; '-' reads standard input.",
        completion: .file()
    )
    var file: String

    @Flag(help: "It is CSV, whatever its name says.")
    var csv = false

    @Flag(help: "Replace accounts that are there already.")
    var overwrite = false

    @OptionGroup
    var hash: HashOptions

    @OptionGroup
    var options: AccountServiceOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let service = try options.service()
        let hashing = try hash.members()
        let source = try ImportSource(file)
        let name = file.lowercased()
        let isCSV = csv || name.hasSuffix(".csv") || name.hasSuffix(".csv.gz")
        let realm = try service.realm()
        var run = UserImport(
            service: service,
            project: try service.project(realm),
            taken: realm.taken,
            overwrites: overwrite,
            hashing: hashing
        )
        return try run.outcome(of: source, isCSV: isCSV, file)
    }
}
