import BlobStore
import FileProtocol
import JSONTree
import Transport

/// Contents of files by their hash, for backups and checks of administrators.
///
///     GET /.backup                   the records: which contents there are
///     GET /.backup/blobs.json        the contents that are stored, 1,000 at a time, behind `after=HASH`
///     GET /.backup/blobs/HASH        the bytes of one, or a range of them
///
/// Nothing is collected for ten minutes after each, so that what the records name can still be read.
extension FileService {
    /// Answers the contents behind one, ascending.
    func answerBlobs(_ exchange: HTTPExchange) {
        collection.hold()
        let after = exchange.head.queryValue("after")
        let hash = after.flatMap { BlobHash(hex: $0) }
        guard hash != nil || after == nil else {
            return answer(exchange, .error(400, "'after' must be a hash of 64 hexadecimal digits."))
        }
        guard disk.hasBlobs else { return answer(exchange, Self.page(.none)) }
        let blobs = disk.blobs
        let isTaken = disk.worker.perform {
            Result { () throws(BlobError) in
                try blobs.list(after: hash, limit: BlobLimits.sliceCount)
            }
        } then: { [self] outcome in
            switch outcome {
            case .success(let page): answer(exchange, Self.page(page))
            case .failure(let error):
                answer(exchange, .error(500, "The contents of files cannot be listed: \(error)"))
            }
        }
        if !isTaken { answer(exchange, Self.tooMuch) }
    }

    private static let tooMuch = HTTPResponse.error(503, "Too much is being done; try again.")

    private static func page(_ page: BlobPage) -> HTTPResponse {
        .json(of: [
            "blobs": .list(
                page.entries.map { entry in
                    [
                        "hash": .string(entry.hash.hex), "bytes": .integer(entry.byteCount),
                        "modified": .integer(entry.modified.milliseconds),
                    ]
                }
            ),
            "isLast": .boolean(page.isLast),
        ])
    }

    /// Answers the bytes of one.
    func answerBlob(_ exchange: HTTPExchange) {
        collection.hold()
        guard let hash = BlobHash(hex: ResolvedRequest.of(exchange).name) else {
            return answer(exchange, .error(400, "A hash has 64 lower-case hexadecimal digits."))
        }
        // Nothing is collected now, so this says only that it is being removed already.
        guard let pin = disk.pin(hash) else { return answer(exchange, Self.tooMuch) }
        let worker = disk.worker
        // A check, or a backup, wants what is on the disk now.
        open(.pinned(hash, pin), on: worker, keeps: false) { [self] opening in
            guard exchange.isAnswerable else { return }
            switch opening {
            case .open(let blob): send(blob, worker, exchange)
            case .failed(.missing):
                answer(exchange, .error(404, "There is no content \(hash) here."))
            case .failed(let error): answer(exchange, .error(500, "\(error)"))
            case .busy: answer(exchange, Self.tooMuch)
            }
        }
    }

    private func send(_ blob: OpenBlob, _ worker: Worker, _ exchange: HTTPExchange) {
        let byteCount = blob.reader.byteCount
        let wanted = ByteRange(
            exchange.head.header("range"),
            byteCount: byteCount,
            emptyIsWhole: true
        )
        var headers = HTTPResponse.headers(type: "application/octet-stream", cache: "no-store")
        if let text = wanted.contentRange(byteCount: byteCount) {
            headers.append(("Content-Range", text))
        }
        let content = BlobRange(blob: blob, bytes: wanted.bytes(byteCount: byteCount))
        guard !content.bytes.isEmpty else {
            return exchange.respond(HTTPResponse(status: wanted.status, headers: headers))
        }
        guard let slot = downloadSlot() else { return answer(exchange, Self.tooMuch) }
        stream(content, status: wanted.status, headers, slot, worker, exchange)
    }
}

extension BlobPage {
    /// Where there are no blobs.
    fileprivate static let none = BlobPage(entries: [], isLast: true)
}
