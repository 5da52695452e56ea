import ArgumentParser

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

    @Option(help: "Rules decisions to record: off, refused or all (default: off; with --dev all).")
    var inspect: String?

    @Option(help: "Form of log lines: text or json (default: text).")
    var logFormat: String?

    @Option(help: "trace, debug, info, notice, warning, error or critical (default: info).")
    var logLevel: String?
}

/// Which databases there are and how requests name them.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "Rules of every database that has none of its own.")
    var rules: String?

    @Option(help: .value("name[=rules]", "A database, with its rules file; may be repeated."))
    var database: [String] = []

    @Option(help: .value("name", "Database of requests that name none (default: default)."))
    var defaultNs: String?

    @Option(help: "Serve NAME.domain as database NAME.")
    var domain: String?

    @Option(help: .value("host=name", "Serve a host as a database; may be repeated."))
    var mapHost: [String] = []

    @Option(help: .value("other=name", "Another name of a database; may be repeated."))
    var alias: [String] = []
}

/// Hosts, origins, secrets and tokens.
struct AccessOptions: ParsableArguments {
    @Option(help: .value("name", "Host that may be asked for on a loopback bind; may be repeated."))
    var allowHost: [String] = []

    @Option(help: .value("origin", "Origin whose pages may use a loopback bind; may be repeated."))
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

    @Flag(inversion: .prefixedNo, help: "Serve the console at /.console/ (default: on).")
    var console: Bool?

    @Option(
        help:
            "A port of its own for the console, which the server's port lacks then; 0 lets the system choose."
    )
    var consolePort: String?

    @Option(help: "What makes the server authorize a listen again: data or auth (default: data).")
    var listenRecheck: String?
}

/// Limits of the cost of one connection.
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
}
