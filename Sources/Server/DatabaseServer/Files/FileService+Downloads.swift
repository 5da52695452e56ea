import BlobStore
import FileProtocol
import FileRecords
import FileRules
import Gzip
import Logging
import Transport

/// Bytes of objects on their way out: a worker reads a piece when the socket has taken the one before, so a slow reader costs
/// one descriptor and two pieces.
extension FileService {
    /// Downloads at a time, each with a descriptor.
    private static let downloadLimit = 4_000

    /// Answers a request for the bytes of an object.
    func download(
        _ address: ObjectAddress,
        _ conditions: Preconditions,
        _ media: MediaRequest,
        _ ask: FileAsk
    ) {
        let dialect = ask.request.dialect
        do throws(FileFault) {
            try admit(address.bucket)
            let found = store.record(address)
            let byToken = dialect == .client && Self.opens(ask.request.token, found)
            if !byToken { try authorize(.get, address, ask.caller, old: found) }
            guard let record = conditions.named(found) else {
                throw Self.notFound(address, dialect)
            }
            let outcome = conditions.check(record)
            guard outcome == .met || outcome.isNotModified else { throw .conditionNotMet }
            var media = media
            if outcome.isNotModified { media.ifNoneMatch = "*" }
            let plan = Download(
                record,
                media,
                dialect,
                byToken: byToken,
                honoursOverrides: ask.isSigned
            )
            store.whenDurable { [self] in send(plan, record, ask) }
        } catch {
            refuse(ask, error, isMedia: true)
        }
    }

    private func send(_ plan: Download, _ record: FileRecord, _ ask: FileAsk) {
        let exchange = ask.exchange
        // The transport knows the length.
        let headers =
            plan.headers.filter { $0.name != "Content-Length" }
            + server.requests.crossOriginHeaders(exchange)
        guard exchange.isAnswerable else { return }
        let byteCount = plan.inflates ? nil : plan.range.count
        if ask.request.isHead {
            return exchange.respondStream(
                status: plan.status,
                headers: headers,
                byteCount: byteCount
            ) { .end }
        }
        guard !plan.range.isEmpty else {
            return exchange.respond(HTTPResponse(status: plan.status, headers: headers))
        }
        guard let hash = BlobHash(hex: record.content.blob) else { return }
        guard let slot = downloadSlot() else {
            return refuse(ask, .busy(retryAfter: 2), isMedia: true)
        }
        let (worker, blobs) = (disk.worker, disk.blobs)
        let isTaken = worker.perform {
            Result { () throws(BlobError) in try blobs.open(hash) }
        } then: { [self] outcome in
            switch outcome {
            case .success(let reader) where reader.byteCount == record.content.byteCount:
                figures.downloadedCount += 1
                stream(
                    reader,
                    plan.range,
                    inflates: plan.inflates,
                    status: plan.status,
                    headers,
                    slot,
                    worker,
                    exchange
                )
            case .success(let reader):
                failed(record, "it has \(reader.byteCount) bytes", ask)
            case .failure(let error): failed(record, "\(error)", ask)
            }
        }
        if !isTaken { refuse(ask, .busy(retryAfter: 1), isMedia: true) }
    }

    private func failed(_ record: FileRecord, _ reason: String, _ ask: FileAsk) {
        figures.missingBlobCount += 1
        log.critical(
            "the bytes of a file cannot be read: \(reason)",
            metadata: ["file": "\(record.bucket.text)/\(record.name.text)"]
        )
        refuse(ask, FileFault(500, "The bytes of this object cannot be read."), isMedia: true)
    }

    /// A place among the downloads; nil when all are taken.
    func downloadSlot() -> WorkSlot? {
        guard downloadCount < Self.downloadLimit else { return nil }
        downloadCount += 1
        return WorkSlot { EventLoop.shared.enqueue { [self] in downloadCount -= 1 } }
    }

    /// Sends a range of a blob.
    func stream(
        _ reader: any BlobReader,
        _ range: Range<Int64>,
        inflates: Bool = false,
        status: Int,
        _ headers: HTTPHeaders,
        _ slot: WorkSlot,
        _ worker: Worker,
        _ exchange: HTTPExchange
    ) {
        let pieces = BlobPieces(reader, range, inflates: inflates, slot)
        let body = WorkerBody(
            exchange,
            worker,
            waitingByteLimit: BlobLimits.pieceByteCount
        ) { pieces.next() }
        exchange.respondStream(
            status: status,
            headers: headers,
            byteCount: inflates ? nil : range.count
        ) { body.next() }
    }
}

/// The bytes of a range of a blob, piece by piece, inflated on the way where the client cannot.
private final class BlobPieces {
    private let reader: any BlobReader
    private var rest: Range<Int64>
    private let inflater: Inflater?
    private let slot: WorkSlot

    /// Bytes that one object may inflate to, whatever it is.
    private static let inflatedByteLimit = 1 << 30
    /// How many times its size.
    private static let ratio = 200

    init(_ reader: any BlobReader, _ range: Range<Int64>, inflates: Bool, _ slot: WorkSlot) {
        self.reader = reader
        self.slot = slot
        rest = range
        let limit = min(Self.inflatedByteLimit, (1 << 20) + range.count * Self.ratio)
        inflater = inflates ? Inflater(byteLimit: limit) : nil
    }

    deinit { reader.close() }

    /// The next bytes, and whether they are the last. What cannot be read ends the body early, which the client sees.
    func next() -> (bytes: [UInt8], isLast: Bool) {
        guard let inflater else {
            let piece = read()
            return (piece ?? [], piece == nil || rest.isEmpty)
        }
        do throws(GzipError) {
            while true {
                if let piece = try inflater.next() { return (piece, false) }
                guard let piece = read() else {
                    try inflater.finish()
                    return ([], true)
                }
                inflater.append(piece)
            }
        } catch {
            return ([], true)
        }
    }

    private func read() -> [UInt8]? {
        if rest.isEmpty { return nil }
        let count = min(rest.count, BlobLimits.pieceByteCount)
        do throws(BlobError) {
            let piece = try reader.read(at: rest.lowerBound, count: count)
            rest = piece.isEmpty ? 0..<0 : rest.lowerBound + Int64(piece.count)..<rest.upperBound
            return piece.isEmpty ? nil : piece
        } catch {
            rest = 0..<0
            return nil
        }
    }
}
