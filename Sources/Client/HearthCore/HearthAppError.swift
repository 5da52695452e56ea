/// Why an app cannot be configured.
public enum HearthAppError: Error, Equatable, Sendable, CustomStringConvertible {
    /// An app of this name is there already.
    case nameInUse(String)
    /// An app's name has 1 to 100 characters, without control characters.
    case invalidName(String)
    /// An option is not a server address; `reason` says why.
    case invalidURL(option: String, reason: String)
    /// A database name has 1 to 64 ASCII letters, digits, hyphens and underscores.
    case invalidDatabaseName(String)
    /// The file of the authorities cannot be read.
    case unreadableAuthorityFile(String)

    /// The fault and how to correct it.
    public var description: String {
        switch self {
        case .nameInUse(let name):
            "an app named '\(name)' is configured already: configure it once, before its first "
                + "use, or give the second one another name"
        case .invalidName(let name):
            "'\(name)' cannot name an app: use 1 to 100 characters without controls"
        case .invalidURL(let option, let reason):
            "\(option) is no address of a server: \(reason); use one such as "
                + "https://db.example.com or http://localhost:9000?ns=chat"
        case .invalidDatabaseName(let name):
            "'\(name)' cannot name a database: use 1 to 64 ASCII letters, digits, hyphens and underscores"
        case .unreadableAuthorityFile(let path):
            "authorityFile \(path) cannot be read: name a PEM file, or leave the option out to "
                + "trust the system's authorities"
        }
    }
}
