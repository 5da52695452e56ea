import ArgumentParser
import DatabaseServer

/// Texts of the flags that were given; nil or empty for the others.
typealias Flags = [Setting: [String]?]

extension Optional where Wrapped == Bool {
    /// The text of a flag that was given.
    var texts: [String]? { map { ["\($0)"] } }
}

extension Optional where Wrapped == String {
    /// The text of an option that was given.
    var texts: [String]? { map { [$0] } }
}

/// Address, mode, storage and logs.
struct ProcessOptions: ParsableArguments {
    @Option(help: "Address to listen on (default: 127.0.0.1).")
    var host: String?

    @Option(help: "Port; 0 lets the system choose (default: 9000).")
    var port: String?

    @Flag(inversion: .prefixedNo, help: "Development mode: emulator conventions, open rules.")
    var dev: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Let a --dev server listen on other than loopback addresses."
    )
    var devExposed: Bool?

    @Option(help: "Folder of all data (default: hearth-data).")
    var dataDir: String?

    @Flag(inversion: .prefixedNo, help: "Keep nothing on disk; only with --dev.")
    var memory: Bool?

    @Option(
        help: "When a write counts as durable: always, interval=MS or memory (default: always)."
    )
    var durability: String?

    @Option(help: "PEM certificate chain; serves TLS.")
    var tlsCert: String?

    @Option(help: "PEM private key of the certificate.")
    var tlsKey: String?

    @Option(
        help:
            "Rules decisions to record: off, refused or all (default: off; with --dev all)."
    )
    var inspect: String?

    @Option(help: "Form of log lines: text or json (default: text).")
    var logFormat: String?

    @Option(help: "trace, debug, info, notice, warning, error or critical (default: info).")
    var logLevel: String?

    var flags: Flags {
        [
            .host: host.texts, .port: port.texts, .dev: dev.texts, .devExposed: devExposed.texts,
            .dataDir: dataDir.texts, .memory: memory.texts, .durability: durability.texts,
            .tlsCert: tlsCert.texts, .tlsKey: tlsKey.texts, .inspect: inspect.texts,
            .logFormat: logFormat.texts,
            .logLevel: logLevel.texts,
        ]
    }
}

/// Which databases there are and how requests name them.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "Rules of every database that has none of its own.")
    var rules: String?

    @Option(
        help: ArgumentHelp(
            "A database, with its rules file; may be repeated.",
            valueName: "name[=rules]"
        )
    )
    var database: [String] = []

    @Option(
        help: ArgumentHelp(
            "Database of requests that name none (default: default).",
            valueName: "name"
        )
    )
    var defaultNs: String?

    @Option(help: "Serve NAME.domain as database NAME.")
    var domain: String?

    @Option(
        help: ArgumentHelp("Serve a host as a database; may be repeated.", valueName: "host=name")
    )
    var mapHost: [String] = []

    @Option(
        help: ArgumentHelp("Another name of a database; may be repeated.", valueName: "other=name")
    )
    var alias: [String] = []

    var flags: Flags {
        [
            .rules: rules.texts, .database: database, .defaultNs: defaultNs.texts,
            .domain: domain.texts, .mapHost: mapHost, .alias: alias,
        ]
    }
}

/// Hosts, origins, secrets and tokens.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Host that may be asked for on a loopback bind; may be repeated.",
            valueName: "name"
        )
    )
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            "Origin whose pages may use a loopback bind; may be repeated.",
            valueName: "origin"
        )
    )
    var allowOrigin: [String] = []

    @Option(
        help: "File of the admin secret, mode 0600 (default: one is generated in the data folder)."
    )
    var adminSecretFile: String?

    @Option(help: "JWKS file with the public keys of user tokens; read again when it changes.")
    var jwks: String?

    @Option(help: "The 'iss' that tokens must have.")
    var tokenIssuer: String?

    @Option(help: "The 'aud' that tokens must have.")
    var tokenAudience: String?

    @Option(help: "File of the secret of HS256 tokens (default: such tokens are refused).")
    var hs256SecretFile: String?

    @Option(help: "What makes the server judge a listen again: data or auth (default: data).")
    var listenRecheck: String?

    var flags: Flags {
        [
            .allowHost: allowHost, .allowOrigin: allowOrigin,
            .adminSecretFile: adminSecretFile.texts, .jwks: jwks.texts,
            .tokenIssuer: tokenIssuer.texts, .tokenAudience: tokenAudience.texts,
            .hs256SecretFile: hs256SecretFile.texts, .listenRecheck: listenRecheck.texts,
        ]
    }
}

/// Numbers that bound what one connection can cost.
struct LimitOptions: ParsableArguments {
    @Option(help: "Connections at a time (default: 200000).")
    var maxConnections: String?

    @Option(
        help:
            "Connections of one address at a time; 0 for no limit (default: 10000; 0 with --dev). Trusted proxies have none."
    )
    var maxAddressConnections: String?

    @Option(
        help:
            "New connections of one address in a second, ten times as many at once; 0 for no limit (default: 200; 0 with --dev)."
    )
    var maxConnectionRate: String?

    @Option(help: "Bytes that may wait for one connection before it is closed (default: 8MiB).")
    var queueLimit: String?

    @Option(help: "Bytes of one WebSocket message (default: 16MiB).")
    var maxMessage: String?

    @Option(help: "Bytes of one request body (default: 256MiB).")
    var maxBody: String?

    @Option(help: "Bytes of one reply (default: 256MiB).")
    var maxResponse: String?

    @Option(help: "Time for the headers of a request (default: 10s).")
    var headerTimeout: String?

    @Option(help: "Time without progress of a request body (default: 30s).")
    var bodyTimeout: String?

    @Option(help: "Time between requests of one connection (default: 60s).")
    var idleTimeout: String?

    @Option(help: "Time of silence before a WebSocket is pinged (default: 45s).")
    var pingInterval: String?

    @Option(help: "Time between two keep-alive events of an event stream (default: 12s).")
    var keepAliveInterval: String?
    @Option(help: .hidden)
    var pollHold: String?

    @Option(help: .hidden)
    var pollSilence: String?

    @Option(help: "Time for connections to end after SIGTERM (default: 10s).")
    var drainTimeout: String?

    var flags: Flags {
        [
            .maxConnections: maxConnections.texts,
            .maxAddressConnections: maxAddressConnections.texts,
            .maxConnectionRate: maxConnectionRate.texts, .queueLimit: queueLimit.texts,
            .maxMessage: maxMessage.texts, .maxBody: maxBody.texts,
            .maxResponse: maxResponse.texts, .headerTimeout: headerTimeout.texts,
            .bodyTimeout: bodyTimeout.texts, .idleTimeout: idleTimeout.texts,
            .pingInterval: pingInterval.texts, .keepAliveInterval: keepAliveInterval.texts,
            .pollHold: pollHold.texts, .pollSilence: pollSilence.texts,
            .drainTimeout: drainTimeout.texts,
        ]
    }
}
