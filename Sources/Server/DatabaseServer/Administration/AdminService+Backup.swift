import ClusterLog
import DatabaseCore
import Logging
import StateRecovery
import Synchronization
import Transport
import WriteAheadLog

/// One of a limited number of things that may be under way. Released with its last reference.
final class WorkSlot: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit {
        release()
    }
}

/// `GET /.backup`: every database at one point, in one archive.
extension AdminService {
    /// Sends the archive, once every commit in it is durable.
    func streamBackup(to exchange: HTTPExchange, token: String?) {
        guard let slot = takeArchiveSlot() else {
            return answer(exchange, .error(503, "Too many backups are under way."))
        }
        server.fileService.collection.hold()
        // Before the snapshots: what comes behind the mark and is in them is known by its number.
        let mark = server.cluster?.markOfCopy()
        // The commits in these snapshots are exactly those that stand before the barrier.
        let snapshots = engine.snapshots()
        let now = Clock.now()
        commits.barrier { position, _ in
            let id = UInt64.random(in: 0...UInt64.max)
            let pieces = Result { () throws(LogError) in
                try ArchivePieces(snapshots, at: position, time: now, id: id)
            }
            EventLoop.shared.enqueue { [self] in
                streamBackup(pieces, mark, to: exchange, slot, token)
            }
        }
    }

    private func streamBackup(
        _ pieces: Result<ArchivePieces, LogError>,
        _ mark: LogMark?,
        to exchange: HTTPExchange,
        _ slot: WorkSlot,
        _ token: String?
    ) {
        guard exchange.isAnswerable else { return }
        switch pieces {
        case .failure(let error): answer(exchange, .error(500, "No backup: \(error)"))
        case .success(let pieces):
            let line = BackupLine(deed("a backup is sent", exchange, token: token), log)
            server.audit.record(
                AuditEntry(
                    time: Clock.now(),
                    author: server.audit.author(of: exchange),
                    peer: clientAddress(of: exchange.head),
                    door: server.audit.isFromConsole(.of(exchange)) ? "console" : "request",
                    request: "GET /.backup",
                    deed: AuditDeed(what: "a backup is sent")
                )
            )
            let body = WorkerBody(
                exchange,
                workers.archives,
                waitingByteLimit: 2 * Self.pieceByteCount,
                Self.maker(of: pieces)
            )
            var headers =
                HTTPResponse.headers(type: "application/octet-stream", cache: "no-store")
                + [("Content-Disposition", "attachment; filename=\"hearth.backup\"")]
            if let mark { headers.append((BackupCommands.markHeader, mark.text)) }
            exchange.respondStream(
                status: 200,
                headers: headers + server.requests.crossOriginHeaders(exchange),
                byteCount: nil
            ) {
                let step = body.next()
                switch step {
                case .next(let bytes): line.add(bytes.count)
                case .end: line.end()
                case .wait: break
                }
                return withExtendedLifetime(slot) { step }
            }
        }
    }

    /// Bytes of one piece.
    private nonisolated static let pieceByteCount = 256 * 1024

    private nonisolated static func maker(of pieces: ArchivePieces) -> sending WorkerBody.Maker {
        var rest: ArchivePieces? = pieces
        return {
            guard var pieces = rest else { return ([], true) }
            // Held once, so that it is not copied, and let go on the worker.
            rest = nil
            var bytes: [UInt8] = []
            let isMore = pieces.next(into: &bytes, atLeast: pieceByteCount)
            if isMore { rest = pieces }
            return (bytes, !isMore)
        }
    }
}

/// The line of the log about a backup: written with its last reference gone, whether or not all of it has left.
final class BackupLine: Sendable {
    private let deed: AdministratorLog.Deed
    private let log: Logger
    /// Bytes that have left, and whether they are all.
    private let sent = Mutex((byteCount: 0, isWhole: false))

    init(_ deed: AdministratorLog.Deed, _ log: Logger) {
        self.deed = deed
        self.log = log
    }

    func add(_ byteCount: Int) { sent.withLock { $0.byteCount += byteCount } }

    func end() { sent.withLock { $0.isWhole = true } }

    deinit {
        let (byteCount, isWhole) = sent.withLock { $0 }
        let what = isWhole ? deed.what : "a backup is cut off: its reader has left"
        log.notice("\(what)", metadata: deed.metadata.merging(["bytes": "\(byteCount)"]) { $1 })
    }
}
