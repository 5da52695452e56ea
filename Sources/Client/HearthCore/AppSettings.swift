import Foundation

/// Options that were checked, with the defaults filled in.
package struct AppSettings: Equatable, Sendable {
    /// Address of the database as given, with `http` or `https`.
    package let databaseURL: String

    /// Name of the database.
    package let databaseName: String

    /// `https://db.example.com`: scheme, host and port of the accounts, without a slash at the end; a path is kept.
    package let accountsURL: String

    /// Scheme, host and port of the files, as `accountsURL` is.
    package let storageURL: String

    /// Bucket of files that a program does not name another for, never empty.
    package let storageBucket: String

    /// `key` of requests to accounts, never empty.
    package let apiKey: String

    package let projectID: String?

    /// PEM file; nil: the system's authorities.
    package let authorityFile: String?

    /// Folder of this app alone; it may not be there yet.
    package let folder: String

    package let persistsUser: Bool

    /// The file that says who is signed in.
    package var savedUserFile: String { "\(folder)/signed-in-user.json" }

    /// `User-Agent`.
    package let agent: String

    static let defaultURL = "http://localhost:9000"
    static let defaultDatabaseName = "default"

    /// Checks `options` for the app `name`.
    ///
    /// - Throws: The error of the first invalid option.
    package init(
        _ options: HearthOptions,
        appName: String,
        environment: [String: String],
    ) throws(HearthAppError) {
        let (option, text) = Self.address(options, environment)
        let database = try Self.url(text, option: option)
        databaseURL = database.text
        databaseName = try Self.name(options, database.components)
        var origin = database.components
        origin.path = ""
        let server = Self.server(origin)
        accountsURL =
            try options.accountsURL.map { url throws(HearthAppError) in
                Self.server(try Self.url(url, option: "accountsURL").components)
            } ?? server
        storageURL =
            try options.storageURL.map { url throws(HearthAppError) in
                Self.server(try Self.url(url, option: "storageURL").components)
            } ?? server
        let bucket = options.storageBucket ?? ""
        storageBucket =
            bucket.isEmpty ? "\(options.projectID ?? "hearth").appspot.com" : bucket
        let key = options.apiKey ?? ""
        apiKey = key.isEmpty ? "hearth" : key
        projectID = options.projectID
        authorityFile = options.authorityFile
        persistsUser = options.persistsUser
        agent = options.agent ?? "hearth-swift"
        folder = options.cacheFolder ?? Self.folder(of: appName, environment)
        if let file = authorityFile, !FileManager.default.isReadableFile(atPath: file) {
            throw .unreadableAuthorityFile(file)
        }
    }

    private static func address(
        _ options: HearthOptions,
        _ environment: [String: String],
    ) -> (option: String, text: String) {
        if let url = options.databaseURL { return ("databaseURL", url) }
        if let url = environment["HEARTH_URL"], !url.isEmpty { return ("HEARTH_URL", url) }
        return ("databaseURL", defaultURL)
    }

    /// The parts of an address; error texts never contain its password.
    private static func url(
        _ text: String,
        option: String,
    ) throws(HearthAppError) -> (text: String, components: URLComponents) {
        guard var components = URLComponents(string: text) else {
            throw .invalidURL(option: option, reason: "it cannot be read")
        }
        if let reason = components.serverFault {
            throw .invalidURL(option: option, reason: reason)
        }
        components.scheme = components.isSecure ? "https" : "http"
        guard let whole = components.string else {
            throw .invalidURL(option: option, reason: "it cannot be read")
        }
        return (whole, components)
    }

    private static func server(_ components: URLComponents) -> String {
        var components = components
        components.query = nil
        components.fragment = nil
        while components.path.hasSuffix("/") { components.path.removeLast() }
        return components.string ?? defaultURL
    }

    private static func name(
        _ options: HearthOptions,
        _ url: URLComponents,
    ) throws(HearthAppError) -> String {
        let asked = url.queryItems?.first { $0.name == "ns" }?.value
        let name =
            options.databaseName ?? asked ?? DatabaseName.inHost(url.host ?? "")
            ?? defaultDatabaseName
        guard DatabaseName.isName(name) else { throw .invalidDatabaseName(name) }
        return name
    }

    /// `~/.local/state/hearth/PROGRAM/APP`, or below Application Support.
    private static func folder(of appName: String, _ environment: [String: String]) -> String {
        let program = (CommandLine.arguments.first ?? "app").split(separator: "/").last ?? "app"
        // No name that is escaped has a plus sign.
        let app = appName == HearthApp.defaultName ? "+default" : escaped(appName)
        let folder = "hearth/\(escaped(String(program)))/\(app)"
        #if canImport(Darwin)
            let support = FileManager.default.urls(
                for: .applicationSupportDirectory,
                in: .userDomainMask
            )
            return (support.first?.path ?? NSTemporaryDirectory()) + "/" + folder
        #else
            if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
                return "\(state)/\(folder)"
            }
            return "\(environment["HOME"] ?? NSHomeDirectory())/.local/state/\(folder)"
        #endif
    }

    /// A unique folder name, also on file systems that ignore case.
    private static func escaped(_ name: String) -> String {
        let kept = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789-_")
        let text = name.addingPercentEncoding(withAllowedCharacters: kept) ?? "app"
        // A longer name than a file can have.
        return String(text.utf8.count <= 200 ? text[...] : text.prefix(180) + "~\(text.utf8.count)")
    }
}

extension URLComponents {
    /// Why this is no address of a server, as part of a sentence; nil when it is one.
    package var serverFault: String? {
        if user != nil || password != nil { return "it has a user or a password" }
        guard let scheme = scheme?.lowercased(), ["http", "ws", "https", "wss"].contains(scheme)
        else { return "it begins with neither http:// nor https://" }
        if host?.isEmpty ?? true { return "it has no host" }
        if let port, !(1...65535).contains(port) { return "its port is not in 1...65535" }
        return nil
    }

    /// Whether the scheme is one with TLS.
    package var isSecure: Bool { ["https", "wss"].contains(scheme?.lowercased()) }
}
