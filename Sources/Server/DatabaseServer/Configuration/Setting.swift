import SecurityRules

/// One setting of `hearth serve`: the same word is its flag (`--port`), its variable (`HEARTH_PORT`) and its member
/// of `hearth.json` (`"port"`).
package enum Setting: String, CaseIterable, Sendable {
    case host, port
    case dev
    case devExposed = "dev-exposed"
    case dataDir = "data-dir"
    case memory, durability
    case rules
    case database
    case defaultNs = "default-ns"
    case domain
    case mapHost = "map-host"
    case alias
    case allowHost = "allow-host"
    case allowOrigin = "allow-origin"
    case tlsCert = "tls-cert"
    case tlsKey = "tls-key"
    case adminSecretFile = "admin-secret-file"
    case jwks
    case tokenIssuer = "token-issuer"
    case tokenAudience = "token-audience"
    case hs256SecretFile = "hs256-secret-file"
    case console
    case consolePort = "console-port"
    case accountsIssuer = "accounts-issuer"
    case accountsAudience = "accounts-audience"
    case accountsPort = "accounts-port"
    case accountsWebhook = "accounts-webhook"
    case accountsWebhookSecretFile = "accounts-webhook-secret-file"
    case publicURL = "public-url"
    case signIn = "sign-in"
    case signUp = "sign-up"
    case emailGuard = "email-guard"
    case passwordLength = "password-length"
    case passwordRequires = "password-requires"
    case passwordMemory = "password-memory"
    case passwordPasses = "password-passes"
    case signingKeyLifetime = "signing-key-lifetime"
    case trustedProxy = "trusted-proxy"
    case listenRecheck = "listen-recheck"
    case inspect
    case logFormat = "log-format"
    case logLevel = "log-level"
    case maxConnections = "max-connections"
    case maxAddressConnections = "max-address-connections"
    case maxConnectionRate = "max-connection-rate"
    case queueLimit = "queue-limit"
    case maxMessage = "max-message"
    case maxBody = "max-body"
    case maxResponse = "max-response"
    case headerTimeout = "header-timeout"
    case bodyTimeout = "body-timeout"
    case idleTimeout = "idle-timeout"
    case pingInterval = "ping-interval"
    case keepAliveInterval = "keep-alive-interval"
    case pollHold = "poll-hold"
    case pollSilence = "poll-silence"
    case drainTimeout = "drain-timeout"
    case project
    case hubPort = "hub-port"
    case filesRules = "files-rules"
    case filesBucket = "files-bucket"
    case filesClientLimit = "files-client-limit"
    case filesLimit = "files-limit"
    case filesQuota = "files-quota"
    case filesS3 = "files-s3"
    case filesS3Bucket = "files-s3-bucket"
    case filesS3Region = "files-s3-region"
    case filesS3KeyFile = "files-s3-key-file"
    case filesS3CAFile = "files-s3-ca-file"
    case `import`
    case exportOnExit = "export-on-exit"
    case stopAtEof = "stop-at-eof"
    case samples
    case clusterNode = "cluster-node"
    case clusterBrokers = "cluster-brokers"
    case clusterMonitors = "cluster-monitors"
    case clusterBrokerUserFile = "cluster-broker-user-file"
    case clusterCAFile = "cluster-ca-file"
    case clusterSecretFile = "cluster-secret-file"
    case clusterAdvertise = "cluster-advertise"

    /// How the setting is written.
    package enum Kind: Sendable {
        case text
        /// `true` or `false`; on the command line the flag alone, or with `--no-` before its name.
        case toggle
        /// May be given several times; in a variable with commas between.
        case list
    }

    package var kind: Kind {
        switch self {
        case .dev, .devExposed, .memory, .stopAtEof, .emailGuard, .samples,
            .console:
            .toggle
        case .database, .filesBucket, .filesQuota, .mapHost, .alias, .allowHost, .allowOrigin,
            .import, .signIn, .passwordRequires, .trustedProxy, .clusterBrokers, .clusterMonitors:
            .list
        default: .text
        }
    }

    /// The environment variable: `HEARTH_DATA_DIR` for `data-dir`.
    package var variable: String {
        Self.variablePrefix + rawValue.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// The variable that names a server to clients.
    package static let addressVariable = "HEARTH_URL"

    /// What every environment variable of ours begins with.
    package static let variablePrefix = "HEARTH_"
}

/// Where a setting's value was found.
package enum SettingOrigin: Hashable, Sendable, CustomStringConvertible {
    case commandLine(Setting)
    case environment(Setting)
    /// Line and column count from 1.
    case file(path: String, line: Int, column: Int)
    case builtIn(Setting)

    /// The origin for people: `--port`, `HEARTH_PORT`, `hearth.json:3:9`.
    package var description: String {
        switch self {
        case .commandLine(let setting): "--\(setting.rawValue)"
        case .environment(let setting): setting.variable
        case .file(let path, let line, let column): "\(path):\(line):\(column)"
        case .builtIn(let setting): "--\(setting.rawValue) (built in)"
        }
    }
}

/// The values of one setting as they were written.
package struct SettingValue: Equatable, Sendable {
    /// One text, or several of a list.
    package let texts: [String]
    package let origin: SettingOrigin

    package init(_ texts: [String], from origin: SettingOrigin) {
        self.texts = texts
        self.origin = origin
    }
}

/// The settings of one source.
package typealias SettingLayer = [Setting: SettingValue]

extension Setting {
    /// The layer of the process's environment.
    ///
    /// - Returns: The known variables, and a warning for each that begins with our prefix and is none.
    package static func layer(
        environment: [String: String]
    ) -> (layer: SettingLayer, warnings: [String]) {
        var layer: SettingLayer = [:]
        // All but the first are for programs that ask a server.
        var known: Set<String> = [
            ConfigurationFile.variable, addressVariable, "HEARTH_TOKEN", "HEARTH_CA_FILE",
        ]
        for setting in allCases {
            known.insert(setting.variable)
            guard let text = environment[setting.variable] else { continue }
            layer[setting] = SettingValue(
                setting.kind == .list ? text.split(separator: ",").map(trimmed) : [text],
                from: .environment(setting),
            )
        }
        let strangers = environment.keys.filter { $0.hasPrefix(variablePrefix) }.filter {
            !known.contains($0)
        }
        return (layer, strangers.sorted().map { "\($0) is no setting of hearth; it is ignored" })
    }

    /// The layer of `flags` that were given; those left out are nil or empty.
    package static func layer(commandLine flags: [Setting: [String]?]) -> SettingLayer {
        var layer: SettingLayer = [:]
        for setting in allCases {
            guard let texts = flags[setting] ?? nil, !texts.isEmpty else { continue }
            layer[setting] = SettingValue(texts, from: .commandLine(setting))
        }
        return layer
    }

    /// The setting a misspelt name may mean: the nearest within two edits.
    static func nearest(to name: String) -> Setting? {
        let distances = allCases.map { ($0, Spelling.distance(name, $0.rawValue)) }
        return distances.filter { $0.1 <= 2 }.min { $0.1 < $1.1 }?.0
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
