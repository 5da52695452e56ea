import ArgumentParser
import DatabaseServer

/// Every setting of a server as flags, for the commands that read them.
struct ServerSettings: ParsableArguments {
    @Option(help: "Settings file; hearth.json is read without being named.")
    var config: String?

    @OptionGroup(title: "Where and how")
    var process: ProcessOptions

    @OptionGroup(title: "Databases")
    var databases: DatabaseOptions

    @OptionGroup(title: "Who may")
    var access: AccessOptions

    @OptionGroup(title: "Accounts")
    var accounts: AccountOptions

    @OptionGroup(title: "Limits")
    var limits: LimitOptions

    @OptionGroup(title: "As an emulator")
    var emulator: EmulatorOptions

    /// The configuration of flags, environment and settings file together.
    func configuration() throws(ConfigurationFaults) -> Configuration {
        let groups = [
            process.flags, databases.flags, access.flags, accounts.flags, limits.flags,
            emulator.flags,
        ]
        let flags = groups.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
        return try Configuration.load(
            commandLine: Setting.layer(commandLine: flags),
            file: config,
            environment: ProcessEnvironment.variables(),
        )
    }
}
