package import DatabaseCore
package import Logging
import Tokens

/// Everything `hearth serve` is told, checked.
///
/// Made by `Configuration.read`; files it names exist when `fileFaults()` is empty.
package struct Configuration: Sendable {
    /// The address to listen on, without brackets: `127.0.0.1`, `::1`, `0.0.0.0`.
    package var host = "127.0.0.1"
    /// 0 lets the system choose.
    package var port = 9000
    package var mode = Mode.production
    package var storage = Storage.folder("hearth-data")
    package var durability = Durability.always
    /// The rules of every database that has none of its own.
    package var rulesFile: String?
    /// The databases that exist from the start, by name, at least one; in production the only ones.
    package var databases: [Database] = [Database(name: .standard, rulesFile: nil)]
    package var selection = DatabaseSelection()
    package var allowedHosts: Set<Authority.Host> = []
    package var allowedOrigins: Set<WebOrigin> = []
    package var tls: TLSFiles?
    package var tokens = TokenSettings()
    /// The file of the admin secret; nil generates one in the data folder.
    package var adminSecretFile: String?
    package var listenRecheck = ListenRecheck.data
    /// Which decisions of the rules are recorded for `/.inspect/requests`.
    package var inspection = InspectionLevel.off
    package var logFormat = LogFormat.text
    package var logLevel = Logger.Level.info
    package var limits = ServerLimits()
    package var emulator = EmulatorSettings()
    package var accounts = AccountSettings()
    /// The addresses of proxies whose word about a client's address counts.
    package var trustedProxies: [AddressRange] = []
    /// Whether the pages of the sample services are served, with their databases; only in development.
    package var servesSamples = false
    /// Whether the server ends when its standard input does.
    package var stopsAtEndOfInput = false
    /// Things that are allowed and probably not meant, to be logged at the start.
    package var warnings: [String] = []
    /// The settings file that was read.
    var settingsFile: String?
    /// What was set, and where.
    var written: SettingLayer = [:]

    package init() {}

    /// Who is trusted.
    package enum Mode: Equatable, Sendable {
        case production
        /// Emulator conventions: the literal `owner`, unsigned tokens, open rules, databases on first use.
        case development
    }

    /// Where commits go.
    package enum Storage: Equatable, Sendable {
        /// No files at all.
        case memory
        /// A folder, as written; relative to the working directory.
        case folder(String)
    }

    /// When a commit counts as durable.
    package enum Durability: Equatable, Sendable, CustomStringConvertible {
        /// After its sync.
        case always
        /// After its write; a sync follows within this time.
        case interval(milliseconds: Int)
        /// After its write; the log is never synced.
        case memory

        /// The text that sets it.
        package var description: String {
            switch self {
            case .always: "always"
            case .interval(let milliseconds): "interval=\(milliseconds)"
            case .memory: "memory"
            }
        }
    }

    /// One `--database NAME[=RULES]`.
    package struct Database: Equatable, Sendable {
        package var name: DatabaseName
        /// Stands before `Configuration.rulesFile` for this database.
        package var rulesFile: String?

        package init(name: DatabaseName, rulesFile: String?) {
            self.name = name
            self.rulesFile = rulesFile
        }
    }

    /// The PEM files of a TLS server.
    package struct TLSFiles: Equatable, Sendable {
        package var certificate: String
        package var key: String
    }

    /// How user tokens are checked.
    package struct TokenSettings: Equatable, Sendable {
        package var jwksFile: String?
        package var issuer: String?
        package var audience: String?
        package var hs256SecretFile: String?
    }

    /// What makes the server judge a running listen again.
    package enum ListenRecheck: String, CaseIterable, Sendable {
        /// A change of its session's auth, of the rules, or of data the rule looked at.
        case data
        /// A change of its session's auth or of the rules only.
        case auth
    }

    /// The form of log lines.
    package enum LogFormat: String, CaseIterable, Sendable {
        case text, json
    }

    /// Whether only this machine can reach the server.
    package var bindIsLoopback: Bool {
        let text = host.contains(":") ? "[\(host)]" : host
        return Authority.Host(text)?.isLoopback == true
    }

    /// The host of `--public-url`, by which clients know the server.
    private var publicHost: Authority.Host? {
        accounts.publicURL.flatMap { WebOrigin($0) }?.authority.host
    }

    /// The guard against pages of other origins that this configuration asks for.
    package var originGuard: OriginGuard {
        OriginGuard(
            bindIsLoopback: bindIsLoopback,
            hosts: allowedHosts.union(selection.hosts.keys).union(publicHost.map { [$0] } ?? []),
            domain: selection.domain,
            origins: allowedOrigins,
        )
    }
}

/// Limits of a server's connections, each set by its flag.
package struct ServerLimits: Equatable, Sendable {
    /// Sockets at a time. Source: Firebase Realtime Database, "Usage and limits".
    package var connectionCount = 200_000
    /// Connections that one address may have open; 0 for as many as it likes, which development begins with. An
    /// office of 2,000 people behind one address has several each.
    package var addressConnectionCount = 10_000
    /// New connections of one address in a second; 0 as before. Ten seconds' worth may come at once: that office is
    /// back at once after a restart.
    package var connectionRate = 200
    /// Bytes that may wait for one connection behind the message being sent; then it is closed.
    package var queueByteCount = 8 << 20
    /// Bytes of one WebSocket message. Source: Firebase Realtime Database, "Usage and limits": 16 MB.
    package var messageByteCount = 16 << 20
    /// Bytes of one request body. Source: the same, 256 MB.
    package var bodyByteCount = 256 << 20
    /// Bytes of one reply or first value. Source: the same, 256 MB.
    package var responseByteCount = 256 << 20
    /// From the first byte of a request to the end of its headers.
    package var headerTimeout = Duration.seconds(10)
    /// Without a byte of a request body that has begun.
    package var bodyTimeout = Duration.seconds(30)
    /// Of a kept-alive HTTP connection without a request.
    package var idleTimeout = Duration.seconds(60)
    /// Without a word from a WebSocket before it is asked for one; twice that closes it.
    package var pingInterval = Duration.seconds(45)
    /// Between two keep-alive events of an event stream. Readers of the Admin SDK stop at the next byte only.
    package var keepAliveInterval = Duration.seconds(12)
    /// Of a long poll before it is answered with nothing: clients open another after 25 s.
    package var pollHold = Duration.seconds(20)
    /// Without a request of a long-polling client before its session ends.
    package var pollSilence = Duration.seconds(60)
    /// From SIGTERM until connections still open are cut.
    package var drainTimeout = Duration.seconds(10)

    package init() {}
}
