import DatabaseCore
import Logging
import Synchronization
import Transport
import WriteAheadLog

/// One of the few exports and backups that may be under way; gives its place back when nobody
/// holds it any more.
final class ArchiveSlot: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit {
        release()
    }
}

/// `GET /.backup`: every database at one point, in one archive.
extension Server {
    /// A place among the exports and backups; nil when all are taken.
    func takeArchiveSlot() -> ArchiveSlot? {
        guard archivesUnderWay < Server.archiveLimit else { return nil }
        archivesUnderWay += 1
        return ArchiveSlot {
            EventLoop.shared.enqueue { [self] in archivesUnderWay -= 1 }
        }
    }

    /// Sends the archive, once every commit in it is durable.
    func streamBackup(to exchange: HTTPExchange, token: String?) {
        guard let slot = takeArchiveSlot() else {
            answer(exchange, RESTAnswer.error(503, "Too many backups are under way."))
            return
        }
        // The commits in these snapshots are exactly those that stand before the barrier.
        let snapshots = engine.snapshots()
        let now = Clock.now()
        commits.barrier { position, _ in
            let id = UInt64.random(in: 0...UInt64.max)
            let pieces = Result { () throws(LogError) in
                try ArchivePieces(snapshots, at: position, time: now, id: id)
            }
            EventLoop.shared.enqueue { [self] in
                streamBackup(pieces, to: exchange, slot, token)
            }
        }
    }

    private func streamBackup(
        _ pieces: Result<ArchivePieces, LogError>,
        to exchange: HTTPExchange,
        _ slot: ArchiveSlot,
        _ token: String?
    ) {
        guard exchange.isAnswerable else { return }
        switch pieces {
        case .failure(let error): answer(exchange, RESTAnswer.error(500, "No backup: \(error)"))
        case .success(let pieces):
            let line = BackupLine(deed("a backup is sent", exchange.head, token: token), log)
            let stream = BackupStream(pieces, workers.archives, exchange, slot, line)
            let headers = [
                (name: "Content-Type", value: "application/octet-stream"),
                (name: "Content-Disposition", value: "attachment; filename=\"hearth.backup\""),
                (name: "Cache-Control", value: "no-store"),
            ]
            exchange.respondStream(
                status: 200,
                headers: headers + crossOriginHeaders(exchange.head),
                byteCount: nil
            ) { stream.next() }
        }
    }
}

/// The line of the log about a backup: written when nobody holds it any more, whether or not all of it has left.
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

/// The pieces of an archive on their way to a socket: a worker makes them, two at most wait.
@LoopActor
final class BackupStream {
    private let worker: Worker
    private let slot: ArchiveSlot
    private let line: BackupLine
    private weak var exchange: HTTPExchange?
    /// nil while a worker has them, and when all are made.
    private var pieces: ArchivePieces?
    private var isMaking = false
    private var made: ArraySlice<[UInt8]> = []
    /// Whether the socket waits for a piece.
    private var isAwaited = false

    /// Bytes of one piece.
    private nonisolated static let pieceByteCount = 256 * 1024
    private static let madeLimit = 2

    init(
        _ pieces: ArchivePieces,
        _ worker: Worker,
        _ exchange: HTTPExchange,
        _ slot: ArchiveSlot,
        _ line: BackupLine
    ) {
        self.line = line
        self.pieces = pieces
        self.worker = worker
        self.exchange = exchange
        self.slot = slot
    }

    func next() -> StreamStep<[UInt8]> {
        let piece = made.popFirst()
        make()
        if let piece {
            line.add(piece.count)
            return .next(piece)
        }
        if pieces == nil, !isMaking {
            line.end()
            return .end
        }
        isAwaited = true
        return .wait
    }

    private func make() {
        guard !isMaking, made.count < Self.madeLimit, let taken = pieces else { return }
        isMaking = true
        pieces = nil
        let isTaken = worker.post(
            .read {
                var pieces = taken
                var bytes: [UInt8] = []
                let isMore = pieces.next(into: &bytes, atLeast: BackupStream.pieceByteCount)
                let rest = isMore ? pieces : nil
                EventLoop.shared.enqueue { [self] in take(bytes, rest) }
            }
        )
        // The worker has room for every archive that is let begin; it takes nothing only once the
        // server is on its way out, and then the connection is cut.
        if !isTaken { exchange = nil }
    }

    private func take(_ bytes: [UInt8], _ rest: ArchivePieces?) {
        isMaking = false
        pieces = rest
        made.append(bytes)
        guard isAwaited else { return make() }
        isAwaited = false
        exchange?.resumeStream()
    }
}
