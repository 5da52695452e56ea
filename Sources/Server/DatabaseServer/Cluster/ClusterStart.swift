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
            var brokers = try JetStreamConfiguration(
                brokers: settings.brokers,
                node: settings.node
            )
            brokers.replicaCount = settings.replicaCount
            brokers.credentials = try credentials(settings)
            let failed: @Sendable (BrokerFault) -> Void = { fault in
                log.log(level: fault.isPassing ? .warning : .critical, "\(fault)")
            }
            return { [brokers] deliver in
                BrokerLog(failed: failed) { () throws(BrokerFault) in
                    try check(settings)
                    return try JetStreamLog(brokers, failed: failed, deliver: deliver)
                }
            }
        #else
            throw ClusterStartError.notBuilt
        #endif
    }

    /// Looks whether brokers keep what they acknowledge.
    private static func check(_ settings: ClusterSettings) throws(BrokerFault) {
        guard !settings.monitors.isEmpty else { return }
        let checked = BrokerMonitor.check(
            settings.monitors,
            requiresSync: true,
            http: HTTPOptions()
        )
        if let fault = checked.faults.first { throw fault }
    }

    private static func credentials(_ settings: ClusterSettings) throws -> BrokerCredentials {
        guard let path = settings.brokerUserFile else { return .none }
        let bytes = try SmallFile.readPrivate(path, "this password", byteLimit: 4096)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
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
                rulesDigest: 0
            ),
            mark: mark,
            folder: folder,
            open: open,
            reports: reports
        )
    }
}

/// Makes a data folder the beginning of a group's log: its first entry builds on this data.
///
/// - Throws: as opening the folder does; `ClusterStartError.inGroup` when it is of one.
package func foundGroup(_ path: String) throws {
    let storage = FileLogStorage(path: path)
    let folder = try DataFolder.open(storage, options: storage.options(syncPolicy: .onRequest))
    defer { folder.close() }
    guard try MarkFile.read(folder) == nil else { throw ClusterStartError.inGroup(folder: path) }
    try MarkFile.write(.start, to: folder)
}

/// Why a node of a group does not start.
enum ClusterStartError: Error, CustomStringConvertible {
    /// The folder holds data, and does not say of which group.
    case foreignData(folder: String)
    /// The folder is of a group already.
    case inGroup(folder: String)
    case userFile(path: String)
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
            "the file \(path) of --cluster-broker-user-file must have two lines: a user and a password"
        case .notBuilt:
            "this hearth was built without libnats: leave --cluster-node out, or build with the trait Cluster"
        }
    }
}
