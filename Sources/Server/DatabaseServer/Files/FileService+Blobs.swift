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
        let (worker, blobs) = (disk.worker, disk.blobs)
        let isTaken = worker.perform {
            Result { () throws(BlobError) in try blobs.open(hash) }
        } then: { [self] outcome in
            guard exchange.isAnswerable else { return }
            switch outcome {
            case .success(let reader): send(reader, worker, exchange)
            case .failure(.missing):
                answer(exchange, .error(404, "There is no content \(hash) here."))
            case .failure(let error): answer(exchange, .error(500, "\(error)"))
            }
        }
        if !isTaken { answer(exchange, Self.tooMuch) }
    }

    private func send(_ reader: any BlobReader, _ worker: Worker, _ exchange: HTTPExchange) {
        let byteCount = reader.byteCount
        let wanted = ByteRange(
            exchange.head.header("range"),
            byteCount: byteCount,
            emptyIsWhole: true
        )
        var headers = HTTPResponse.headers(type: "application/octet-stream", cache: "no-store")
        let status: Int
        let range: Range<Int64>
        switch wanted {
        case .whole: (status, range) = (200, 0..<byteCount)
        case .part(let part):
            (status, range) = (206, part)
            let ends = "\(part.lowerBound)-\(part.upperBound - 1)"
            headers.append(("Content-Range", "bytes \(ends)/\(byteCount)"))
        case .unsatisfiable: (status, range) = (416, 0..<0)
        }
        guard !range.isEmpty else {
            return exchange.respond(HTTPResponse(status: status, headers: headers))
        }
        guard let slot = downloadSlot() else { return answer(exchange, Self.tooMuch) }
        stream(reader, range, status: status, headers, slot, worker, exchange)
    }
}

extension BlobPage {
    /// Where there are no blobs.
    fileprivate static let none = BlobPage(entries: [], isLast: true)
}
