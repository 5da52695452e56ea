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

    @OptionGroup(title: "Files")
    var files: FileOptions

    @OptionGroup(title: "Who may")
    var access: AccessOptions

    @OptionGroup(title: "Accounts")
    var accounts: AccountOptions

    @OptionGroup(title: "Limits")
    var limits: LimitOptions

    @OptionGroup(title: "As one of several nodes")
    var cluster: ClusterOptions

    @OptionGroup(title: "As an emulator")
    var emulator: EmulatorOptions

    /// The configuration of flags, environment and settings file together.
    func configuration() throws(ConfigurationFaults) -> Configuration {
        let groups: [any ParsableArguments] = [
            process, databases, files, access, accounts, limits, cluster, emulator,
        ]
        var flags: [Setting: [String]?] = [:]
        for option in groups.flatMap({ Mirror(reflecting: $0).children }) {
            guard let setting = Self.settings[option.label ?? ""] else {
                preconditionFailure("an option is named as its setting")
            }
            flags[setting] = .some(Self.texts(option.value))
        }
        return try Configuration.load(
            commandLine: Setting.layer(commandLine: flags),
            file: config,
            environment: ProcessEnvironment.variables(),
        )
    }

    /// The settings by the names of the options that hold them: `_dataDir` is that of `dataDir`.
    private static let settings = Dictionary(
        uniqueKeysWithValues: Setting.allCases.map { ("_\($0)", $0) }
    )

    /// The texts of an option or flag that was given; nil or none for the others.
    private static func texts(_ option: Any) -> [String]? {
        switch option {
        case let option as Option<String?>: option.wrappedValue.map { [$0] }
        case let option as Option<[String]>: option.wrappedValue
        case let flag as Flag<Bool?>: flag.wrappedValue.map { ["\($0)"] }
        default: preconditionFailure("a setting is a text, a list or a flag")
        }
    }
}
