import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth users import`.
struct UsersImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take in the accounts of 'hearth users export' or 'firebase auth:export'.",
        discussion: """
            Reads JSON and CSV, compressed by gzip or not. Passwords come along: the options say how they are hashed, as the Firebase \
            console tells it; each is hashed anew when its user first signs in. Those of 'hearth users export' need no options.

            Accounts that are there already stay as they are, so that the same command goes on where it was stopped; --overwrite replaces \
            them. An account that cannot be taken in is told with its place, and the others go on.

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

    @Option(
        help: ArgumentHelp(
            "How passwords are hashed: SCRYPT, STANDARD_SCRYPT, PBKDF2_SHA256, HMAC_SHA256, ...",
            valueName: "algorithm"
        )
    )
    var hashAlgo: String?

    @Option(help: ArgumentHelp("The key of the algorithm, in base64.", valueName: "base64"))
    var hashKey: String?

    @Option(help: ArgumentHelp("Stands behind each salt, in base64.", valueName: "base64"))
    var saltSeparator: String?

    @Option(help: ArgumentHelp("Rounds of the algorithm.", valueName: "number"))
    var rounds: Int?

    @Option(help: ArgumentHelp("Memory cost of the scrypt algorithms.", valueName: "number"))
    var memCost: Int?

    @Option(help: ArgumentHelp("Of STANDARD_SCRYPT.", valueName: "number"))
    var parallelization: Int?

    @Option(help: ArgumentHelp("Of STANDARD_SCRYPT.", valueName: "number"))
    var blockSize: Int?

    @Option(help: ArgumentHelp("Bytes of a hash of STANDARD_SCRYPT.", valueName: "number"))
    var dkLen: Int?

    @Option(
        help: ArgumentHelp(
            "What is hashed first: SALT_FIRST or PASSWORD_FIRST.",
            valueName: "order"
        )
    )
    var hashInputOrder: String?

    @OptionGroup
    var options: AccountServiceOptions

    func run() throws {
        var choice = UserImport.Choice()
        choice.overwrites = overwrite
        choice.isCSV = csv ? true : nil
        choice.hash.algorithm = hashAlgo
        choice.hash.key = hashKey
        choice.hash.saltSeparator = saltSeparator
        choice.hash.rounds = rounds
        choice.hash.memoryCost = memCost
        choice.hash.parallelization = parallelization
        choice.hash.blockSize = blockSize
        choice.hash.derivedKeyLength = dkLen
        choice.hash.inputOrder = hashInputOrder
        try report { () throws(CommandError) in
            try UserImport.run(file, into: options.service(), choice)
        }
    }
}
