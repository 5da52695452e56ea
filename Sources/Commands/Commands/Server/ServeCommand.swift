import ArgumentParser
import DatabaseServer
import Files

/// `hearth serve`.
///
/// Flags stay texts here: `Configuration` reads them together with the environment and the settings file, so that it
/// reports all faults at once.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server.",
        discussion: """
            Examples:
              hearth serve --dev
              hearth serve --database chat=rules/chat.json --jwks keys.json
              hearth serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem

            Every flag can also be set by a variable (HEARTH_DATA_DIR for --data-dir; lists with commas) and by \
            a member of hearth.json ("data-dir"; comments allowed). Flags beat variables beat the file.
            """,
    )

    @OptionGroup
    var settings: ServerSettings

    func run() throws {
        let configuration: Configuration
        do throws(ConfigurationFaults) {
            configuration = try settings.configuration()
        } catch {
            try Self.refuse(error.faults)
        }
        let faults = configuration.fileFaults()
        guard faults.isEmpty else { try Self.refuse(faults) }
        let code = serve(configuration)
        guard code == 0 else { throw ExitCode(code) }
    }

    private static func refuse(_ faults: [ConfigurationFault]) throws -> Never {
        for fault in faults { StandardError.print("error: \(fault)") }
        throw ExitCode(2)
    }
}
