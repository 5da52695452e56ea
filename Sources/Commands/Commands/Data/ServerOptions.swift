import ArgumentParser
import DatabaseServer
import HTTPClient

/// Which server, which database, as whom: options of every command that asks a server.
struct ServerOptions: ParsableArguments {
    @Option(
        value: "address",
        help:
            "The server (default: $HEARTH_URL, $FIREBASE_DATABASE_EMULATOR_HOST, else http://127.0.0.1:9000)."
    )
    var url: String?

    @Option(
        name: [.customLong("instance"), .customLong("ns")],
        value: "name",
        help: "The database (default: the address's '?ns=', else the server's default)."
    )
    var instance: String?

    @Option(help: "Token to be sent; $HEARTH_TOKEN keeps it out of process lists.")
    var token: String?

    @Option(file: "File that holds the token.")
    var tokenFile: String?

    @Option(file: "File of the server's admin secret (default: $HEARTH_ADMIN_SECRET_FILE).")
    var adminSecretFile: String?

    @Flag(help: "Send no token, not even 'owner' to a server on this machine.")
    var anonymous = false

    @Option(
        value: "json",
        help:
            "As administrator, let the rules decide for this 'auth', in JSON; null is a user who is not signed in."
    )
    var authOverride: String?

    @Option(file: "PEM file of the authorities to trust for https (default: $HEARTH_CA_FILE).")
    var caFile: String?

    @Option(
        value: "seconds",
        help: "Give up after this many seconds without a byte; 0 waits for ever (default: 120)."
    )
    var timeout: Int?

    func validate() throws {
        if let timeout, !(0...86_400).contains(timeout) {
            throw ValidationError(
                "--timeout: must be a number of seconds from 0 to 86400, not \(timeout)"
            )
        }
    }

    /// The database of these options and the process's variables; `isRaw` as `RemoteDatabase`.
    func database(isRaw: Bool = false) throws(CommandError) -> RemoteDatabase {
        let variables = ProcessEnvironment.variables()
        let address = try ServerAddress(self, environment: variables, read: Self.credential)
        return try database(at: address, isRaw: isRaw)
    }

    /// The text of a file with a credential.
    static func credential(from path: String) throws(CommandError) -> String {
        let bytes = try Descriptor.reading(path)
            .readAll(byteLimit: DataLimits.credentialByteCount)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A server of another address, reached as these options say.
    func database(at address: ServerAddress, isRaw: Bool) throws(CommandError) -> RemoteDatabase {
        let environment = ProcessEnvironment.variables()
        var options = HTTPOptions()
        options.authorityFile =
            caFile ?? environment["HEARTH_CA_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        options.agent = "hearth/\(Version.text)"
        // A redirect could lead a credential elsewhere.
        options.followsRedirects = !isRaw
        if let timeout { options.silenceSeconds = timeout }
        return try RemoteDatabase(address, options, Console(), isRaw: isRaw)
    }
}
