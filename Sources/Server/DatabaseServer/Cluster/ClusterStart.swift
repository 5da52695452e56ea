import ClusterLog
import DatabaseCore
import Files
import HTTPClient
import JetStream
import Logging
import WriteAheadLog

/// What a node of a group does before it follows.
enum ClusterStart {
    /// Where the data folder stands in the shared log. One that is empty is of the group from here on.
    ///
    /// - Throws: `ClusterStartError.foreignData` for data that no group has.
    static func mark(of folder: DataFolder, isEmpty: Bool) throws -> LogMark {
        if let mark = try MarkFile.read(folder) { return mark }
        guard isEmpty else {
            throw ClusterStartError.foreignData(folder: folder.storage.path)
        }
        // Before its first commit: a node that is killed then has data, and must know whose.
        try MarkFile.write(.start, to: folder)
        return .start
    }

    /// What opens the shared log, once brokers answer that may carry it.
    static func log(
        _ settings: ClusterSettings,
        _ log: Logger
    ) throws -> @Sendable (@escaping @Sendable (LogNews) -> Void) -> any ReplicatedLog {
        #if Cluster
            let brokers = try brokers(settings, settings.brokers)
            let failed: @Sendable (BrokerFault) -> Void = { fault in
                log.log(level: fault.isPassing ? .warning : .critical, "\(fault)")
            }
            return { deliver in
                BrokerLog(failed: failed) { () throws(BrokerFault) in
                    try check(settings)
                    return try JetStreamLog(brokers, failed: failed, deliver: deliver)
                }
            }
        #else
            throw ClusterStartError.notBuilt
        #endif
    }

    /// How a node speaks to these brokers.
    static func brokers(
        _ settings: ClusterSettings,
        _ addresses: [String]
    ) throws -> JetStreamConfiguration {
        var brokers = try JetStreamConfiguration(brokers: addresses, node: settings.node)
        brokers.replicaCount = settings.replicaCount
        brokers.credentials = try credentials(settings)
        if settings.usesBrokerTLS {
            brokers.tls = BrokerTLS(authorityFile: settings.authorityFile)
        }
        return brokers
    }

    /// Looks whether brokers keep what they acknowledge.
    private static func check(_ settings: ClusterSettings) throws(BrokerFault) {
        guard !settings.monitors.isEmpty else { return }
        if let fault = look(at: settings).faults.first { throw fault }
    }

    /// What brokers say of themselves at their monitoring addresses, and all that is wrong.
    static func look(
        at settings: ClusterSettings
    ) -> (facts: [BrokerFacts], faults: [BrokerFault]) {
        var http = HTTPOptions()
        http.authorityFile = settings.authorityFile
        return BrokerMonitor.check(settings.monitors, requiresSync: true, http: http)
    }

    private static func credentials(_ settings: ClusterSettings) throws -> BrokerCredentials {
        guard let path = settings.brokerUserFile else { return .none }
        let bytes = try SmallFile.readPrivate(path, "this password", byteLimit: 64 * 1024)
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains("-----BEGIN NATS USER JWT-----") { return .file(path: path) }
        let lines = text.split(separator: "\n")
        guard lines.count == 2 else { throw ClusterStartError.userFile(path: path) }
        return .user(String(lines[0]), password: String(lines[1]))
    }
}

extension ClusterLink {
    /// The link of a new life of a node.
    init(
        _ settings: ClusterSettings,
        _ folder: DataFolder,
        from mark: LogMark,
        rulesDigest: UInt64,
        secret: GroupSecret?,
        open: @escaping @Sendable (@escaping @Sendable (LogNews) -> Void) -> any ReplicatedLog,
        _ reports: Reports
    ) {
        self.init(
            incarnation: Incarnation(
                node: NodeID(settings.nodeNumber),
                number: .random(in: 1...UInt64.max)
            ),
            details: Beat.Details(
                clientAddress: settings.address,
                nodeAddress: settings.address,
                rulesDigest: rulesDigest
            ),
            mark: mark,
            folder: folder,
            secret: secret,
            open: open,
            reports: reports
        )
    }
}

/// Makes a data folder the beginning of a group's log: its first entry builds on the commits of this data, so that a node
/// without them cannot follow it.
///
/// - Throws: as opening the folder does; `ClusterStartError.inGroup` when it is of one.
package func foundGroup(_ path: String) throws {
    let storage = FileLogStorage(path: path)
    let folder = try DataFolder.open(storage, options: storage.options(syncPolicy: .onRequest))
    defer { folder.close() }
    guard try MarkFile.read(folder) == nil else { throw ClusterStartError.inGroup(folder: path) }
    var mark = LogMark.start
    mark.commit = try BackupCommands.state(of: folder).all.reduce(0) { $0 + $1.number.value }
    try MarkFile.write(mark, to: folder)
}

/// Why a node of a group does not start.
enum ClusterStartError: Error, CustomStringConvertible {
    /// The folder holds data, and does not say of which group.
    case foreignData(folder: String)
    /// The folder is of a group already.
    case inGroup(folder: String)
    case userFile(path: String)
    /// The secret of the group is too short or too long.
    case secret(path: String, byteCount: Int)
    /// The nodes have keys in common, and this one has no secret to open them with.
    case noSecret
    /// The keys in the log do not open with the secret of this node.
    case otherSecret(path: String)
    /// This program was built without the library.
    case notBuilt

    var description: String {
        switch self {
        case .foreignData(let folder):
            """
            the data folder \(folder) holds data that is of no group. Start with an empty folder to join a group, \
            or make this data the beginning of a new one with 'hearth cluster found --data-dir \(folder)'.
            """
        case .inGroup(let folder): "the data folder \(folder) is of a group already"
        case .userFile(let path):
            "the file \(path) of --cluster-broker-user-file must have two lines, a user and a password, or a JWT and its seed"
        case .secret(let path, let byteCount):
            """
            the secret in \(path) of --cluster-secret-file has \(byteCount) characters; it must have 32 to 4096 random \
            ones: 'openssl rand -hex 32' makes some
            """
        case .noSecret:
            "the nodes of this group have keys in common: give this one their --cluster-secret-file too"
        case .otherSecret(let path):
            """
            the keys of the group do not open with the secret in \(path): give each node the same --cluster-secret-file, and \
            a node that is older than the others their version
            """
        case .notBuilt:
            "this hearth was built without libnats: leave --cluster-node out, or build with the trait Cluster"
        }
    }
}
