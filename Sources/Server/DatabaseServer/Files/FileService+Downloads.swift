import BlobStore
import FileProtocol
import FileRecords
import FileRules
import Gzip
import Logging
import Transport

/// Bytes of objects on their way out: copied from the memory of the system, or read by a worker in pieces when the socket has
/// taken those before, so a slow reader costs two pieces at most.
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
        do throws(FileFault) {
            try admit(address.bucket)
            let found = store.known(address)
            let dialect = ask.request.dialect
            let byToken = dialect == .client && Self.opens(ask.request.token, found?.record)
            if !byToken { try authorize(.get, address, ask.caller, old: found?.record) }
            guard let found, let record = conditions.named(found.record) else {
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
                honoursOverrides: ask.isSigned,
                headers: found.headers
            )
            let held = hold(found)
            store.whenDurable { [self] in send(plan, record, held, ask) }
        } catch {
            refuse(ask, error, isMedia: true)
        }
    }

    private func send(
        _ plan: Download,
        _ record: FileRecord,
        _ held: HeldBlob?,
        _ ask: FileAsk
    ) {
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
        guard let held, let slot = downloadSlot() else {
            return refuse(ask, .busy(retryAfter: 2), isMedia: true)
        }
        let worker = disk.worker
        open(held, on: worker) { [self] opening in
            switch opening {
            case .open(let blob) where blob.reader.byteCount == record.content.byteCount:
                figures.downloadedCount += 1
                let content = BlobRange(blob: blob, bytes: plan.range, inflates: plan.inflates)
                stream(content, status: plan.status, headers, slot, worker, exchange)
            case .open(let blob):
                openBlobs.forget(blob)
                failed(record, "it has \(blob.reader.byteCount) bytes", ask)
            case .failed(let error): failed(record, "\(error)", ask)
            case .busy: refuse(ask, .busy(retryAfter: 1), isMedia: true)
            }
        }
    }

    /// What came of opening a blob.
    enum Opening {
        case open(OpenBlob)
        case failed(BlobError)
        /// Too much is being done.
        case busy
    }

    /// A blob that no sweep takes before it is open.
    enum HeldBlob {
        case open(OpenBlob)
        case pinned(BlobHash, WorkSlot)
    }

    /// Holds the blob of a record; nil when it is being removed.
    private func hold(_ known: KnownRecord) -> HeldBlob? {
        guard let hash = known.blob else { return nil }
        if let blob = openBlobs.blob(hash) { return .open(blob) }
        return disk.pin(hash).map { .pinned(hash, $0) }
    }

    /// Opens a blob on a worker, unless it was opened a moment ago; `keeps` it open for the next downloads.
    func open(
        _ held: HeldBlob,
        on worker: Worker,
        keeps: Bool = true,
        then: @escaping @LoopActor (Opening) -> Void
    ) {
        let (hash, pin): (BlobHash, WorkSlot)
        switch held {
        case .open(let blob): return then(.open(blob))
        case .pinned(let pinned, let slot): (hash, pin) = (pinned, slot)
        }
        let blobs = disk.blobs
        let isTaken = worker.perform {
            Result { () throws(BlobError) in try blobs.open(hash) }
        } then: { [self] outcome in
            withExtendedLifetime(pin) {}
            switch outcome {
            case .success(let reader):
                let blob = OpenBlob(hash, reader, worker)
                if keeps { keep(blob) }
                then(.open(blob))
            case .failure(let error): then(.failed(error))
            }
        }
        if !isTaken { then(.busy) }
    }

    /// Keeps a blob open for the next downloads. A store elsewhere has nothing to keep.
    private func keep(_ blob: OpenBlob) {
        if disk.remote != nil { return }
        openBlobs.keep(blob, now: EventLoop.shared.tickTime)
        if isClosingBlobs { return }
        isClosingBlobs = true
        closeOldBlobs()
    }

    private func closeOldBlobs() {
        EventLoop.shared.after(.seconds(1)) { [self] in
            openBlobs.removeOld(now: EventLoop.shared.tickTime)
            isClosingBlobs = openBlobs.count > 0
            if isClosingBlobs { closeOldBlobs() }
        }
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
        _ content: BlobRange,
        status: Int,
        _ headers: HTTPHeaders,
        _ slot: WorkSlot,
        _ worker: Worker,
        _ exchange: HTTPExchange
    ) {
        guard content.inflates || disk.remote != nil else {
            let blob = content.blob
            let body = BlobBody(blob, content.bytes, worker, slot) {
                exchange.resumeStream()
            } note: { [self] event in
                switch event {
                case .diskRead: figures.diskReadCount += 1
                case .broken: openBlobs.forget(blob)
                }
            }
            return exchange.respondCopying(
                status: status,
                headers: headers,
                byteCount: content.bytes.count,
                copy: { body.copy(into: $0) },
                taken: { body.advance($0) }
            )
        }
        let pieces = BlobPieces(content, slot)
        let body = WorkerBody(
            exchange,
            worker,
            waitingByteLimit: BlobLimits.pieceByteCount
        ) { pieces.next() }
        exchange.respondStream(
            status: status,
            headers: headers,
            byteCount: content.inflates ? nil : content.bytes.count
        ) { body.next() }
    }
}

/// What is sent of a blob.
struct BlobRange {
    let blob: OpenBlob
    let bytes: Range<Int64>
    /// Whether it is inflated on the way.
    var inflates = false
}

/// The bytes of a range of a blob, piece by piece, read by a worker: from a store elsewhere, or inflated where the client cannot.
private final class BlobPieces {
    private let blob: OpenBlob
    private var rest: Range<Int64>
    private let inflater: Inflater?
    private let slot: WorkSlot

    /// Bytes that one object may inflate to, whatever it is.
    private static let inflatedByteLimit = 1 << 30
    /// How many times its size.
    private static let ratio = 200

    init(_ content: BlobRange, _ slot: WorkSlot) {
        blob = content.blob
        self.slot = slot
        rest = content.bytes
        let limit = min(Self.inflatedByteLimit, (1 << 20) + rest.count * Self.ratio)
        inflater = content.inflates ? Inflater(byteLimit: limit) : nil
    }

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
            let piece = try blob.reader.read(at: rest.lowerBound, count: count)
            rest = piece.isEmpty ? 0..<0 : rest.lowerBound + Int64(piece.count)..<rest.upperBound
            return piece.isEmpty ? nil : piece
        } catch {
            rest = 0..<0
            return nil
        }
    }
}
