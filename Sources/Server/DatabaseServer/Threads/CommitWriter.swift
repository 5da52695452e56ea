import ClusterLog
import DatabaseCore
import Files
import StateRecovery
import Synchronization
import WriteAheadLog

/// What the log thread is given.
enum LogMessage: Sendable {
    case commit(CommitRecord)
    /// A line of the audit log, and what is called when it is on disk or has failed to get there.
    case audit(Int, [UInt8], @Sendable () -> Void)
    case sync
    case maintain
    /// Everything posted before is in the log up to this position.
    case barrier(@Sendable (LogPosition, [LogHead]) -> Void)
    /// Of the log that this node shares with others.
    case news(LogNews)
    /// The shared log must keep what stands behind this entry for so long as it keeps it for a node that is away.
    case keep(after: UInt64)
    /// The configured rules have this digest from now on.
    case rules(digest: UInt64)
    /// The node leaves its group.
    case leave
}

/// The log thread: makes commits durable in batches and says so.
///
/// Whatever arrived while the last sync ran is the next batch. Without a data folder (`--memory`)
/// there is no thread, and a commit counts as durable at once.
final class CommitWriter: Sendable {
    /// What the thread tells; called on it.
    struct Reports: Sendable {
        /// All commits up to these are durable, as far as the durability setting promises.
        let flushed: @Sendable ([(database: DatabaseID, through: CommitNumber)]) -> Void
        let space: @Sendable (SpaceState) -> Void
        /// Entries of the audit log could not be written; they wait.
        let auditFailed: @Sendable (FileError) -> Void
        /// The log has failed; nothing more can be made durable.
        let failed: @Sendable (LogError) -> Void
    }

    /// Commits that may wait for the disk; far more than one sync ever leaves behind.
    static let commitLimit = 200_000

    private let mailbox: Mailbox<LogMessage>
    private let thread: WorkThread?
    private let reports: Reports
    /// What a node of a group has beside; nil for a server that is alone.
    private let shared: SharedLog?

    /// Starts the thread, to which `log` is handed over: the caller must forget it. Without one, nothing is kept.
    ///
    /// `audit` goes along with `log`, which is the copy of a shared one when there is a `cluster`.
    init(
        _ log: LogWriter?,
        audit: AuditFolder? = nil,
        cluster: ClusterLink? = nil,
        _ reports: Reports
    ) {
        // Messages that are no commits come few at a time.
        let mailbox = Mailbox<LogMessage>(limit: CommitWriter.commitLimit + 1_000)
        self.mailbox = mailbox
        self.reports = reports
        shared = cluster.map { _ in SharedLog() }
        guard let log else {
            thread = nil
            return
        }
        let handover = Handover(log: log, audit: audit)
        thread = WorkThread { [shared] in
            if let cluster, let shared {
                shared.run(cluster, handover.log, handover.audit, mailbox, reports)
            } else {
                CommitWriter.run(handover.log, handover.audit, mailbox, reports)
            }
        }
    }

    /// Carries the log to the thread that owns it from then on.
    private struct Handover: @unchecked Sendable {
        // The caller gives both up, and only the new thread reads them: one owner at a time.
        let log: LogWriter
        let audit: AuditFolder?
    }

    /// Commits that wait to be written.
    var waitingCount: Int { shared?.waitingCount ?? mailbox.count }

    /// Hands a commit over; it is looked at after `announce` at the latest.
    func append(_ commit: CommitRecord) {
        if thread == nil {
            reports.flushed([(commit.database, commit.number)])
            return
        }
        shared?.waits(for: 1)
        // The engine refuses writes long before, at half the limit.
        let isTaken = mailbox.post(.commit(commit), wakes: false)
        precondition(isTaken, "the log thread takes every commit that the engine made")
    }

    /// Hands a line of the audit log over. It is written before the commits of its batch are durable, and before `then` is
    /// called, on the log thread. Returns whether there was room for it.
    func audit(_ number: Int, _ line: [UInt8], then: @escaping @Sendable () -> Void) -> Bool {
        mailbox.post(.audit(number, line, then), wakes: false)
    }

    /// Lets the log thread begin with what was appended: once a tick, so that all commits of the
    /// tick are one batch, one sync and one report.
    func announce() { mailbox.announce() }

    /// Whether commits wait for a log that other machines share.
    var isShared: Bool { shared != nil }

    /// Makes what has only been written durable.
    func sync() { post(.sync) }

    /// Prepares the next segment and looks at the room on the disk.
    func maintain() { post(.maintain) }

    /// Keeps what the shared log holds behind an entry.
    func keep(after sequence: UInt64) { post(.keep(after: sequence)) }

    /// Tells other nodes that the configured rules have this digest.
    func rulesChanged(digest: UInt64) { post(.rules(digest: digest)) }

    /// Calls `body` on the log thread once all earlier commits are in the log.
    func barrier(_ body: @escaping @Sendable (LogPosition, [LogHead]) -> Void) {
        if thread == nil {
            body(.start, [])
        } else {
            post(.barrier(body))
        }
    }

    private func post(_ message: LogMessage) {
        // One for which there is no room comes again with the next second.
        if thread != nil { _ = mailbox.post(message) }
    }

    /// Writes what waits, seals the log, and ends the thread.
    func stop() {
        if let shared { shared.leave(mailbox) } else { mailbox.close() }
        thread?.join()
    }

    // MARK: - On the log thread

    private static func run(
        _ log: LogWriter,
        _ audit: AuditFolder?,
        _ mailbox: Mailbox<LogMessage>,
        _ reports: Reports
    ) {
        var messages: [LogMessage] = []
        var reportedSpace: SpaceState?
        do throws(LogError) {
            while mailbox.takeAll(&messages) {
                write(messages, to: audit, reports)
                let isMaintenanceDue = try handle(messages, log, reports)
                // A batch that waits already says what is durable before it.
                if mailbox.count == 0 { try log.seal() }
                if isMaintenanceDue || !log.hasSpare { try log.maintain() }
                // Only what is new: each report wakes the loop.
                if log.spaceState != reportedSpace {
                    reportedSpace = log.spaceState
                    reports.space(log.spaceState)
                }
            }
            try log.close()
        } catch {
            reports.failed(error)
        }
    }

    /// Writes what there is for the audit log, with what could not be written before.
    static func write(_ messages: [LogMessage], to audit: AuditFolder?, _ reports: Reports) {
        var lines: [(number: Int, line: [UInt8])] = []
        var isDue = false
        for message in messages {
            switch message {
            case .audit(let number, let line, _): lines.append((number, line))
            case .maintain: isDue = true
            case .commit, .sync, .barrier, .news, .keep, .rules, .leave: break
            }
        }
        guard let audit, isDue || !lines.isEmpty else { return }
        do throws(FileError) { try audit.append(lines) } catch { reports.auditFailed(error) }
        for case .audit(_, _, let then) in messages { then() }
    }

    /// Returns whether it is time to look at the room on the disk.
    private static func handle(
        _ messages: [LogMessage],
        _ log: LogWriter,
        _ reports: Reports
    ) throws(LogError) -> Bool {
        var batch = CommitBatch()
        var isMaintenanceDue = false
        for message in messages {
            switch message {
            case .commit(let commit): try batch.append(commit)
            case .audit, .news, .keep, .rules, .leave: break
            case .sync:
                try flush(&batch, log, reports)
                try log.sync()
            case .maintain: isMaintenanceDue = true
            case .barrier(let body):
                try flush(&batch, log, reports)
                body(log.position, log.logHeads)
            }
        }
        try flush(&batch, log, reports)
        return isMaintenanceDue
    }

    private static func flush(
        _ batch: inout CommitBatch,
        _ log: LogWriter,
        _ reports: Reports
    ) throws(LogError) {
        let newest = try log.appendBatch(&batch)
        if !newest.isEmpty { reports.flushed(newest) }
    }
}
