/// An upload, step by step, without its bytes: which request comes next, and what its answer changes.
///
///     whole -------------------------------------------> done
///     start -> chunk, chunk, ... chunk with finalize --> done
///                 ^ |  cut, 408, 429, 5xx
///                 | v
///                query ---------------------------------> done, when the last answer was lost
///
/// Chunks begin with 256 KiB and double with each success up to 32 MiB; behind a cut they begin anew. What the server
/// says that it has counts, more or less than was sent: the source is still there, so each byte can be sent again.
struct UploadState: Equatable, Sendable {
    /// What to send next, or how it has ended.
    enum Step: Equatable, Sendable {
        /// The object in one request.
        case whole
        /// The beginning of a session.
        case start
        case chunk(Range<Int64>, isLast: Bool)
        case query
        /// The object is there, and the answer that said so did not have its metadata.
        case metadata
        case done(StorageAnswer)
        /// The server refuses it, once and for all.
        case refused(StorageAnswer)
        /// The server's answers make no sense.
        case broken(String)
    }

    /// Whether the next step waits, since the last one did not succeed.
    enum Pace: Equatable, Sendable { case atOnce, later }

    let byteCount: Int64
    private(set) var step: Step
    /// Path and query of the session; nil before it has begun.
    private(set) var session: String?
    /// Bytes that the server has said it has.
    private(set) var offset: Int64 = 0
    private var granularity = StorageLimits.granularity
    /// Size of the next chunk; a power of two times 256 KiB.
    private var chunkByteCount = StorageLimits.wholeByteCount
    /// Steps in a row that changed nothing.
    private var stallCount = 0
    /// Whether a session that was gone has been replaced by a new one already.
    private var hasRestarted = false

    init(byteCount: Int64) {
        self.byteCount = byteCount
        step = byteCount <= StorageLimits.wholeByteCount ? .whole : .start
    }

    /// Whether there is nothing more to send.
    var isEnded: Bool {
        switch step {
        case .done, .refused, .broken: true
        case .whole, .start, .chunk, .query, .metadata: false
        }
    }

    /// The request is broken off by the app, or its answer was lost: what the server has of it is unknown.
    mutating func lose() {
        chunkByteCount = StorageLimits.wholeByteCount
        if case .chunk = step { step = .query }
    }

    /// Takes the answer to `step`.
    mutating func take(_ answer: StorageAnswer) -> Pace {
        switch step {
        case .done, .refused, .broken: return .atOnce
        case .whole, .start, .metadata:
            if answer.isPassing { return .later }
            guard answer.isSuccess else { return end(.refused(answer)) }
            if step == .start { return begin(answer) }
            return end(.done(answer))
        case .chunk(let range, _): return take(answer, toChunk: range)
        case .query: return take(answer, toChunk: nil)
        }
    }

    private mutating func end(_ step: Step) -> Pace {
        self.step = step
        return .atOnce
    }

    private mutating func begin(_ answer: StorageAnswer) -> Pace {
        guard let target = answer.sessionTarget else {
            return end(.broken("the server began an upload and gave no address for it"))
        }
        session = target
        granularity = answer.granularity ?? granularity
        offset = 0
        nextChunk()
        return .atOnce
    }

    /// Takes the answer to a chunk, or to a query when `range` is nil.
    private mutating func take(_ answer: StorageAnswer, toChunk range: Range<Int64>?) -> Pace {
        if answer.uploadStatus == .final {
            guard answer.isSuccess else { return end(.refused(answer)) }
            return end(answer.body.isEmpty ? .metadata : .done(answer))
        }
        if answer.isPassing {
            lose()
            return .later
        }
        if answer.status == 404, !hasRestarted {
            // The session is over, as after a week, and the bytes are still here.
            hasRestarted = true
            session = nil
            offset = 0
            chunkByteCount = StorageLimits.wholeByteCount
            return end(.start)
        }
        if answer.uploadStatus == .cancelled {
            return end(.broken("the upload was cancelled at the server"))
        }
        if !answer.isSuccess {
            // The server and the client differ about the offset, when it still takes bytes.
            guard answer.uploadStatus == .active, range != nil else { return end(.refused(answer)) }
            lose()
            return stall()
        }
        // Servers that do not say how much they took took everything.
        guard let reached = answer.receivedByteCount ?? range?.upperBound, reached <= byteCount
        else {
            return end(.broken("the server does not say how much of the upload it has"))
        }
        return reach(reached, isAnswerToQuery: range == nil)
    }

    private mutating func reach(_ reached: Int64, isAnswerToQuery: Bool) -> Pace {
        let isProgress = reached > offset
        offset = reached
        if isProgress {
            stallCount = 0
            if !isAnswerToQuery {
                chunkByteCount = min(chunkByteCount * 2, StorageLimits.chunkByteCount)
            }
        }
        nextChunk()
        // A query changes nothing by itself.
        return isProgress || isAnswerToQuery ? .atOnce : stall()
    }

    private mutating func stall() -> Pace {
        stallCount += 1
        if stallCount < StorageLimits.stallCount { return .later }
        return end(.broken("the server takes no more of the upload at byte \(offset)"))
    }

    /// All but the last chunk end at a multiple of the granularity, wherever they begin.
    private mutating func nextChunk() {
        let length = max(chunkByteCount, granularity)
        var end = offset + length
        end -= end % granularity
        if end >= byteCount {
            step = .chunk(offset..<byteCount, isLast: true)
        } else {
            step = .chunk(offset..<end, isLast: false)
        }
    }
}
