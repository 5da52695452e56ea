import JSONTree

/// Which server, which of its databases, and as whom.
struct ServerAddress: Equatable, Sendable {
    enum Credential: Equatable, Sendable {
        case none
        /// The administrator's credential of emulators; sent by default, only to loopback addresses.
        case owner
        case bearer(String)
    }

    /// `http://127.0.0.1:9000`, without a slash at the end.
    let origin: String

    /// The database; nil leaves it to the server.
    let instance: String?

    let credential: Credential

    /// JSON of the `auth` that rules shall see instead of the administrator.
    let authOverride: String?

    /// Works out the address from flags and the process's variables; flags win. `read` reads a small file.
    ///
    /// - Throws: `CommandError` for an address or a file that is of no use.
    init(
        _ options: ServerOptions,
        environment: [String: String],
        read: (String) throws(CommandError) -> String,
    ) throws(CommandError) {
        let variable = { (name: String) in
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let (url, source) =
            options.url.map { ($0, "--url") }
            ?? variable("HEARTH_URL").map { ($0, "HEARTH_URL") }
            ?? variable("FIREBASE_DATABASE_EMULATOR_HOST")
            .map { ($0, "FIREBASE_DATABASE_EMULATOR_HOST") }
            ?? ("http://127.0.0.1:9000", "the default")
        let parts = try Self.parts(url, source)
        origin = parts.origin
        instance = options.instance ?? parts.instance
        authOverride = options.authOverride

        let tokenFile = options.tokenFile ?? options.adminSecretFile
        let given = [options.token, options.tokenFile, options.adminSecretFile].count { $0 != nil }
        guard given + (options.anonymous ? 1 : 0) <= 1 else {
            throw .usage(
                "--token, --token-file, --admin-secret-file and --anonymous: give one of them"
            )
        }
        if options.anonymous {
            credential = .none
        } else if let token = options.token {
            credential = .bearer(try Self.credential(token, "--token"))
        } else if let tokenFile {
            credential = .bearer(try Self.credential(read(tokenFile), tokenFile))
        } else if let token = variable("HEARTH_TOKEN") {
            credential = .bearer(try Self.credential(token, "HEARTH_TOKEN"))
        } else if let file = variable("HEARTH_ADMIN_SECRET_FILE") {
            credential = .bearer(try Self.credential(read(file), file))
        } else {
            credential = Self.isLoopback(parts.origin) ? .owner : .none
        }
    }

    /// The address of a store that is no server of Hearth, which gets this token and nothing else.
    ///
    /// - Throws: `CommandError` for an address that is of no use, or one to which a token would go in the clear.
    init(store url: String, token: String?) throws(CommandError) {
        let parts = try Self.parts(url, "--store")
        origin = parts.origin
        (instance, authOverride) = (nil, nil)
        guard let token else {
            credential = .none
            return
        }
        guard origin.hasPrefix("https://") || Self.isLoopback(origin) else {
            throw .usage(
                "--store: '\(url)' would get the token in the clear; write an https address"
            )
        }
        credential = .bearer(try Self.credential(token, "the token of the store"))
    }

    /// The URL of `path`; `parameters` are encoded here.
    func url(_ path: DatabasePath, _ parameters: Parameters = []) -> String {
        url(resource: path.resource, parameters)
    }

    /// The URL of a resource outside the data, such as `/.simulate`; `parameters` are encoded here.
    func url(resource: String, _ parameters: Parameters = []) -> String {
        var all = parameters
        if let instance { all.append(("ns", instance)) }
        if let authOverride { all.append(("auth_variable_override", authOverride)) }
        return origin + resource + all.query
    }

    /// Header lines of every request.
    var headers: [String] {
        switch credential {
        case .none: []
        case .owner: ["Authorization: Bearer owner"]
        case .bearer(let token): ["Authorization: Bearer \(token)"]
        }
    }

    /// The location with its database, as text for people.
    func describe(_ path: DatabasePath) -> String {
        origin + path.description + (instance.map { " of \($0)" } ?? "")
    }

    // MARK: - Reading

    /// `HOST:PORT` or a URL, which may end in `/` and name a database by `?ns=`.
    private static func parts(
        _ text: String,
        _ source: String,
    ) throws(CommandError) -> (origin: String, instance: String?) {
        let url = text.contains("://") ? text : "http://" + text
        let lower = url.lowercased()
        guard let scheme = ["http://", "https://"].first(where: lower.hasPrefix) else {
            throw .usage("\(source): '\(text)' is not an http or https address")
        }
        let rest = url.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" && $0 != "?" }
        guard !host.isEmpty, !host.contains("@"), host.utf8.allSatisfy({ (33...126).contains($0) })
        else {
            throw .usage(
                "\(source): '\(text)' is not an address like http://127.0.0.1:9000"
            )
        }
        let tail = rest.dropFirst(host.count).drop { $0 == "/" }
        guard !tail.isEmpty else { return (scheme + host, nil) }
        guard tail.hasPrefix("?ns="), let instance = PercentCoding.decode(tail.dropFirst(4)),
            !tail.dropFirst(4).contains("&")
        else {
            throw .usage("\(source): '\(text)' goes on after the host; name the path separately")
        }
        return (scheme + host, instance)
    }

    private static func credential(
        _ text: String,
        _ source: String,
    ) throws(CommandError) -> String {
        let words = text.split { $0.isWhitespace }
        guard words.count == 1, words[0].utf8.allSatisfy({ (33...126).contains($0) }) else {
            throw .usage("\(source): holds no token: one word of printable ASCII")
        }
        return String(words[0])
    }

    /// Whether an address is plain HTTP to this machine.
    static func isLoopback(_ origin: String) -> Bool {
        guard origin.hasPrefix("http://") else { return false }
        let host = origin.dropFirst("http://".count)
        if host.hasPrefix("[::1]") { return true }
        let name = host.prefix { $0 != ":" }
        if name == "localhost" || name.hasSuffix(".localhost") { return true }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }
}
