import DatabaseCore
import Logging
import Transport

/// Every setting of `hearth serve`, checked.
///
/// Made by `Configuration.read`; files it names exist when `fileFaults()` is empty.
package struct Configuration: Sendable {
    /// The address to listen on, without brackets: `127.0.0.1`, `::1`, `0.0.0.0`.
    var host = "127.0.0.1"
    /// 0 lets the system choose.
    var port = 9000
    var mode = Mode.production
    var storage = Storage.folder("hearth-data")
    var durability = Durability.always
    /// The rules of every database that has none of its own.
    var rulesFile: String?
    /// The databases that exist from the start, by name, at least one; in production the only ones.
    var databases: [Database] = [Database(name: .standard, rulesFile: nil)]
    var selection = DatabaseSelection()
    var allowedHosts: Set<Authority.Host> = []
    var allowedOrigins: Set<WebOrigin> = []
    var tls: TLSFiles?
    var tokens = TokenSettings()
    /// The file of the admin secret; nil generates one in the data folder.
    var adminSecretFile: String?
    var listenRecheck = ListenRecheck.data
    /// Which decisions of the rules are recorded for `/.inspect/requests`.
    var inspection = InspectionLevel.off
    var logFormat = LogFormat.text
    var logLevel = Logger.Level.info
    var limits = ServerLimits()
    var emulator = EmulatorSettings()
    var files = FileSettings()
    var accounts = AccountSettings()
    /// Whether the console is served.
    var servesConsole = true
    /// A port of its own for the console; nil to have it on the server's port.
    var consolePort: Int?
    /// The addresses of proxies whose headers about a client's address count.
    var trustedProxies: [AddressRange] = []
    /// Whether the pages of the sample services are served, with their databases; only in development.
    var servesSamples = false
    /// The group whose log this server shares; nil for a server that is alone.
    var cluster: ClusterSettings?
    /// Whether the server ends when its standard input does.
    var stopsAtEndOfInput = false
    /// Things that are allowed and probably not meant, to be logged at the start.
    var warnings: [String] = []
    /// The settings file that was read.
    var settingsFile: String?
    /// What was set, and where.
    var written: SettingLayer = [:]

    /// The data folder whose admin secret counts; nil when a setting names another one, or in memory.
    var secretFolder: String? {
        guard adminSecretFile == nil, case .folder(let path) = storage else { return nil }
        return path
    }

    /// Who is trusted.
    enum Mode: Equatable, Sendable {
        case production
        /// Emulator conventions: the literal `owner`, unsigned tokens, open rules, databases on first use.
        case development
    }

    /// Where commits go.
    enum Storage: Equatable, Sendable {
        case memory
        /// A folder, as written; relative to the working directory.
        case folder(String)
    }

    /// When a commit counts as durable.
    enum Durability: Equatable, Sendable, CustomStringConvertible {
        /// After its sync.
        case always
        /// After its write; a sync follows within this time.
        case interval(milliseconds: Int)
        /// After its write; the log is never synced.
        case memory

        /// The text that sets it.
        var description: String {
            switch self {
            case .always: "always"
            case .interval(let milliseconds): "interval=\(milliseconds)"
            case .memory: "memory"
            }
        }
    }

    /// One `--database NAME[=RULES]`.
    struct Database: Equatable, Sendable {
        var name: DatabaseName
        /// Stands before `Configuration.rulesFile` for this database.
        var rulesFile: String?
    }

    /// How user tokens are checked.
    struct TokenSettings: Equatable, Sendable {
        var jwksFile: String?
        var issuer: String?
        var audience: String?
        var hs256SecretFile: String?
    }

    /// What makes the server reauthorize a listen.
    enum ListenRecheck: String, CaseIterable, Sendable {
        /// A change of its session's auth, of the rules, or of data the rule looked at.
        case data
        /// A change of its session's auth or of the rules only.
        case auth
    }

    /// The form of log lines.
    enum LogFormat: String, CaseIterable, Sendable {
        case text, json
    }

    /// Whether only this machine can reach the server.
    var bindIsLoopback: Bool {
        let text = host.contains(":") ? "[\(host)]" : host
        return Authority.Host(text)?.isLoopback == true
    }

    /// The host of `--public-url`, by which clients know the server.
    private var publicHost: Authority.Host? {
        accounts.publicURL.flatMap { WebOrigin($0) }?.authority.host
    }

    /// The guard against pages of other origins that this configuration asks for.
    var originGuard: OriginGuard {
        OriginGuard(
            bindIsLoopback: bindIsLoopback,
            hosts: allowedHosts.union(selection.hosts.keys).union(publicHost.map { [$0] } ?? []),
            domain: selection.domain,
            origins: allowedOrigins,
        )
    }
}

/// Limits of a server's connections, each set by its flag.
struct ServerLimits: Equatable, Sendable {
    /// Sockets at a time. Source: Firebase Realtime Database, "Usage and limits".
    var connectionCount = 200_000
    /// Connections that one address may have open; 0 for as many as it likes, which development begins with. An
    /// office of 2,000 people behind one address has several each.
    var addressConnectionCount = 10_000
    /// New connections of one address in a second; 0 as before. Ten seconds' worth may come at once: that office is
    /// back at once after a restart.
    var connectionRate = 200
    /// Bytes that may wait for one connection behind the message being sent; then it is closed.
    var queueByteCount = 8 << 20
    /// Bytes of one WebSocket message. Source: Firebase Realtime Database, "Usage and limits": 16 MB.
    var messageByteCount = 16 << 20
    /// Bytes of one request body. Source: the same, 256 MB.
    var bodyByteCount = 256 << 20
    /// Bytes of one reply or first value. Source: the same, 256 MB.
    var responseByteCount = 256 << 20
    /// From the first byte of a request to the end of its headers.
    var headerTimeout = Duration.seconds(10)
    /// Without a byte of a request body that has begun.
    var bodyTimeout = Duration.seconds(30)
    /// Of a kept-alive HTTP connection without a request.
    var idleTimeout = Duration.seconds(60)
    /// Without a word from a WebSocket before it is asked for one; twice that closes it.
    var pingInterval = Duration.seconds(45)
    /// Between two keep-alive events of an event stream. Readers of the Admin SDK stop at the next byte only.
    var keepAliveInterval = Duration.seconds(12)
    /// Of a long poll before it is answered with nothing: clients open another after 25 s.
    var pollHold = Duration.seconds(20)
    /// Without a request of a long-polling client before its session ends.
    var pollSilence = Duration.seconds(60)
    /// From SIGTERM until connections still open are cut.
    var drainTimeout = Duration.seconds(10)

    /// The settings of sizes, in bytes.
    static var sizes: [(Setting, WritableKeyPath<Self, Int>, ClosedRange<Int>)] {
        [
            (.queueLimit, \.queueByteCount, (64 << 10)...(1 << 30)),
            (.maxMessage, \.messageByteCount, (64 << 10)...(256 << 20)),
            (.maxBody, \.bodyByteCount, 1024...(1 << 30)),
            (.maxResponse, \.responseByteCount, (64 << 10)...(1 << 30)),
        ]
    }

    /// The settings of numbers of connections.
    static var counts: [(Setting, WritableKeyPath<Self, Int>, ClosedRange<Int>)] {
        [
            (.maxConnections, \.connectionCount, 1...1_000_000),
            (.maxAddressConnections, \.addressConnectionCount, 0...1_000_000),
            (.maxConnectionRate, \.connectionRate, 0...100_000),
        ]
    }

    /// The settings of times, each from 1 s to an hour.
    static var times: [(Setting, WritableKeyPath<Self, Duration>)] {
        [
            (.headerTimeout, \.headerTimeout), (.bodyTimeout, \.bodyTimeout),
            (.idleTimeout, \.idleTimeout), (.pingInterval, \.pingInterval),
            (.keepAliveInterval, \.keepAliveInterval), (.pollHold, \.pollHold),
            (.pollSilence, \.pollSilence), (.drainTimeout, \.drainTimeout),
        ]
    }
}
