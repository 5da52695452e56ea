import JSONTree

/// Which server, which of its databases, and as whom.
package struct ServerAddress: Equatable, Sendable {
    /// What a user says; nil for what was left out.
    package struct Choice: Sendable {
        package var url: String?
        package var instance: String?
        package var token: String?
        package var tokenFile: String?
        package var adminSecretFile: String?
        package var authOverride: String?
        package var isAnonymous = false

        package init() {}
    }

    /// What a request says about who asks.
    package enum Credential: Equatable, Sendable {
        case none
        /// What emulators take for an administrator; sent unasked to loopback addresses only.
        case owner
        case bearer(String)
    }

    /// `http://127.0.0.1:9000`, without a slash at the end.
    package let origin: String

    /// The database; nil leaves it to the server.
    package let instance: String?

    package let credential: Credential

    /// JSON of the `auth` that rules shall see instead of the administrator.
    package let authOverride: String?

    /// Works out the address from flags and the process's variables; flags win.
    ///
    /// - Parameters:
    ///   - choice: The flags.
    ///   - environment: The variables.
    ///   - read: Reads a small file.
    /// - Throws: `CommandError` for an address or a file that is of no use.
    package init(
        _ choice: Choice,
        environment: [String: String],
        read: (String) throws(CommandError) -> String,
    ) throws(CommandError) {
        let variable = { (name: String) in
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let (url, source) =
            choice.url.map { ($0, "--url") }
            ?? variable("HEARTH_URL").map { ($0, "HEARTH_URL") }
            ?? variable("FIREBASE_DATABASE_EMULATOR_HOST")
            .map { ($0, "FIREBASE_DATABASE_EMULATOR_HOST") }
            ?? ("http://127.0.0.1:9000", "the default")
        let parts = try Self.parts(url, source)
        origin = parts.origin
        instance = choice.instance ?? parts.instance
        authOverride = choice.authOverride

        let tokenFile = choice.tokenFile ?? choice.adminSecretFile
        let given = [choice.token, choice.tokenFile, choice.adminSecretFile].count { $0 != nil }
        guard given + (choice.isAnonymous ? 1 : 0) <= 1 else {
            throw .usage(
                "--token, --token-file, --admin-secret-file and --anonymous: give one of them"
            )
        }
        if choice.isAnonymous {
            credential = .none
        } else if let token = choice.token {
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

    /// The URL of `path`; `parameters` are encoded here.
    func url(_ path: DatabasePath, _ parameters: [(name: String, value: String)] = []) -> String {
        url(resource: path.resource, parameters)
    }

    /// The URL of what is no place of the data, such as `/.simulate`; `parameters` are encoded here.
    func url(resource: String, _ parameters: [(name: String, value: String)] = []) -> String {
        var all = parameters
        if let instance { all.append(("ns", instance)) }
        if let authOverride { all.append(("auth_variable_override", authOverride)) }
        let query = all.map { "\($0.name)=\(PercentCoding.encode($0.value))" }
        return origin + resource + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// Header lines of every request.
    var headers: [String] {
        switch credential {
        case .none: []
        case .owner: ["Authorization: Bearer owner"]
        case .bearer(let token): ["Authorization: Bearer \(token)"]
        }
    }

    /// For people: the place with its database.
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
            throw .usage("\(source): '\(text)' is no http or https address")
        }
        let rest = url.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" && $0 != "?" }
        guard !host.isEmpty, !host.contains("@"), host.utf8.allSatisfy({ (33...126).contains($0) })
        else {
            throw .usage(
                "\(source): '\(text)' is no address like http://127.0.0.1:9000"
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

/// Files that hold a token or a secret.
package enum CredentialFile {
    /// The text of the file at `path`.
    package static func read(_ path: String) throws(CommandError) -> String {
        let bytes = try Descriptor.reading(path).readAll(
            byteLimit: DataLimits.credentialByteCount
        )
        return String(decoding: bytes, as: UTF8.self)
    }
}
