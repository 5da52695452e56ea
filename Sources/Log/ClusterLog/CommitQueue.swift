import WriteAheadLog

/// Commits that wait to be sent, in batches that are closed as they come.
///
///     append  ──►  [ 12 commits, open ]  [ 256 commits ]  [ 64 KiB ]  ──►  next
struct CommitQueue {
    private struct Batch {
        var records: [LogRecord] = []
        var byteCount = 0
    }

    /// What the next entry holds.
    struct Payload {
        let kind: LogEntry.Kind
        let count: UInt32
        let bytes: [UInt8]
    }

    private let options: ClusterOptions
    private var batches: [Batch] = []
    private var cut: CommitCut?
    /// Bytes of the commits that wait.
    private(set) var byteCount = 0

    init(_ options: ClusterOptions) { self.options = options }

    var isEmpty: Bool { batches.isEmpty && cut == nil }

    /// Adds commits behind the others. One that does not fit into an entry is a batch of its own.
    mutating func append(_ records: [LogRecord]) {
        for record in records {
            let recordByteCount = CommitCoder.byteCount(of: record)
            byteCount += recordByteCount
            if batches.last.map({ isClosed($0, to: recordByteCount) }) ?? true {
                batches.append(Batch())
            }
            batches[batches.count - 1].records.append(record)
            batches[batches.count - 1].byteCount += recordByteCount
        }
    }

    /// Takes what the next entry holds; nil when there is nothing, or, with `onlyFull`, no batch that is closed.
    mutating func next(onlyFull: Bool) -> Payload? {
        if cut != nil { return nextPart() }
        guard let first = batches.first else { return nil }
        guard !onlyFull || batches.count > 1 || isClosed(first, to: 1) else { return nil }
        batches.removeFirst()
        if first.byteCount > options.payloadByteCount, let large = first.records.first {
            cut = CommitCut(large)
            return nextPart()
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(first.byteCount)
        for record in first.records { CommitCoder.append(record, to: &bytes) }
        byteCount -= first.byteCount
        return Payload(kind: .batch, count: UInt32(first.records.count), bytes: bytes)
    }

    private func isClosed(_ batch: Batch, to recordByteCount: Int) -> Bool {
        batch.records.count >= options.batchCommitCount || batch.byteCount >= options.batchByteCount
            || batch.byteCount + recordByteCount > options.payloadByteCount
    }

    private mutating func nextPart() -> Payload? {
        let limit = options.payloadByteCount
        guard let (bytes, isLast) = cut?.next(limit) else { return nil }
        byteCount -= bytes.count
        if isLast { cut = nil }
        return Payload(kind: isLast ? .batch : .part, count: isLast ? 1 : 0, bytes: bytes)
    }
}

/// A commit that is sent in parts. Memory: one part, and one piece of the payload.
private struct CommitCut {
    /// Made, and not taken yet.
    private var made: [UInt8] = []
    /// What is not made yet; nil when all is.
    private var pieces: (any PayloadPieces)?

    init(_ record: LogRecord) {
        CommitCoder.appendHead(of: record, to: &made)
        switch record.payload {
        case .bytes(let payload): made += payload
        case .pieces(let pieces): self.pieces = pieces
        }
    }

    /// The next part, and whether it is the last one.
    mutating func next(_ limit: Int) -> (bytes: [UInt8], isLast: Bool) {
        while made.count <= limit, pieces != nil {
            if pieces?.next(into: &made) != true { pieces = nil }
        }
        let part = Array(made.prefix(limit))
        made.removeFirst(part.count)
        return (part, made.isEmpty && pieces == nil)
    }
}
