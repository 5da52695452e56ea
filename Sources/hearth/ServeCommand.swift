import ArgumentParser
import DatabaseServer
import Files

/// `hearth serve`.
///
/// Flags stay texts here: `Configuration` reads them together with environment and settings file, so that all
/// faults are told at once.
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

    @Option(help: "Settings file; hearth.json is read without being named.")
    var config: String?

    @OptionGroup(title: "Where and how")
    var process: ProcessOptions

    @OptionGroup(title: "Databases")
    var databases: DatabaseOptions

    @OptionGroup(title: "Who may")
    var access: AccessOptions

    @OptionGroup(title: "Limits")
    var limits: LimitOptions

    @OptionGroup(title: "As an emulator")
    var emulator: EmulatorOptions

    func run() throws {
        let groups = [process.flags, databases.flags, access.flags, limits.flags, emulator.flags]
        let flags = groups.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
        let configuration: Configuration
        do throws(ConfigurationFaults) {
            configuration = try Configuration.load(
                commandLine: Setting.layer(commandLine: flags),
                file: config,
                environment: ProcessEnvironment.variables(),
            )
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
