import ClusterLog
import Dispatch
import Files
import Synchronization
import WriteAheadLog

/// The log thread of a node of a group, as the rest of the server sees it.
final class SharedLog: Sendable {
    private let waiting = Atomic<Int>(0)
    /// Entries of the shared log that wait for the log thread.
    private let newsCredit = NewsCredit(256)
    /// Groups of commits that wait for the loop.
    private let loopCredit = NewsCredit(64)

    /// At least this often the thread looks what is due.
    private static let tickMilliseconds = 50

    /// Own commits that are not in the shared log.
    var waitingCount: Int { waiting.load(ordering: .relaxed) }

    /// So many more commits are on their way.
    func waits(for count: Int) { waiting.add(count, ordering: .relaxed) }

    /// Lets the thread write what waits, hand the group over, and end.
    func leave(_ mailbox: Mailbox<LogMessage>) {
        newsCredit.end()
        loopCredit.end()
        _ = mailbox.post(.leave)
    }

    /// Runs the thread to its end.
    func run(
        _ link: ClusterLink,
        _ log: LogWriter,
        _ audit: AuditFolder?,
        _ mailbox: Mailbox<LogMessage>,
        _ reports: CommitWriter.Reports
    ) {
        let shared = link.open { [newsCredit] news in
            // Only entries are many, and their thread may wait.
            if case .entry = news { newsCredit.take() }
            _ = mailbox.post(.news(news))
        }
        let start = ContinuousClock.now
        var thread = ClusterThread(
            link,
            log,
            shared,
            loopCredit,
            now: { ContinuousClock.now - start },
            returned: { [self] count in waiting.subtract(count, ordering: .relaxed) },
            flushed: reports.flushed
        )
        var reportedSpace: SpaceState?
        var messages: [LogMessage] = []
        do throws(LogError) {
            while !thread.isOver {
                _ = mailbox.takeAll(&messages, limit: .milliseconds(Self.tickMilliseconds))
                CommitWriter.write(messages, to: audit, reports)
                try thread.take(messages)
                for case .news(.entry) in messages { newsCredit.give() }
                if log.spaceState != reportedSpace {
                    reportedSpace = log.spaceState
                    reports.space(log.spaceState)
                }
            }
            try thread.settle()
            try log.close()
        } catch {
            reports.failed(error)
        }
        newsCredit.end()
    }
}
