import Logging
import Transport

/// What administrators ask for, and the lines of the log about what they do.
@LoopActor
final class AdminService: Service {
    let server: Server
    /// What administrators are in the middle of.
    private var series = AdministratorLog()
    /// Exports and backups that have begun and are not whole.
    private var archivesUnderWay = 0

    /// Exports and backups at a time; each keeps an old state of every database in memory.
    private static let archiveLimit = 4

    init(_ server: Server) {
        self.server = server
    }

    /// A slot among the exports and backups; nil when all are taken. The last export of the process gets one in any case.
    func takeArchiveSlot(isLast: Bool = false) -> WorkSlot? {
        guard isLast || archivesUnderWay < Self.archiveLimit else { return nil }
        archivesUnderWay += 1
        return WorkSlot {
            EventLoop.shared.enqueue { [self] in archivesUnderWay -= 1 }
        }
    }

    /// Adds to the series of a deed.
    func count(
        _ deed: AdministratorLog.Deed,
        path: @autoclosure () -> String? = nil,
        _ amounts: [String: Int],
    ) {
        series.add(deed, path: path(), amounts)
    }

    /// Writes the lines of series that have ended; with `isOver` of all.
    func logEndedSeries(isOver: Bool = false) {
        for line in series.takeEnded(isOver: isOver) {
            log.notice("\(line.deed.what)", metadata: line.metadata)
        }
    }
}
