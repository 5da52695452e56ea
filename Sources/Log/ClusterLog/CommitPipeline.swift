import WriteAheadLog

/// An entry on its way to the log.
struct LogAppend {
    let bytes: [UInt8]
    /// Names the try in the news.
    let number: UInt64
    /// The entry that must be the last one of the log.
    let expected: UInt64
}

/// Counters of one incarnation.
struct EntryNumbers {
    private(set) var entry: UInt64 = 0
    private(set) var tried: UInt64 = 0

    mutating func nextEntry() -> UInt64 {
        entry += 1
        return entry
    }

    mutating func nextTry() -> UInt64 {
        tried += 1
        return tried
    }
}

/// The commits of an owner on their way into the log, and the entries that did not come back yet.
///
/// Group commit without a timer: a batch is what arrived while the entries before it were in flight.
///
///     commits    A   B C    D E F                    G
///     in flight  [A]─────────────►                           A has come back: a slot is free
///                                 [B C D E F]────────►       more slots take full batches
///                                                    [G]──►
///
/// In one epoch no other node makes a valid entry. So an entry that was sent counts once, or a newer claim counts and
/// it never will; while the epoch lasts its bytes stay as they are. Whatever becomes of a try, the answer is one: read
/// the tail as far as the engine said, or wait, then send everything pending again, in order, after what is last now.
struct CommitPipeline {
    private struct Pending {
        let bytes: [UInt8]
        let chain: LogChain
        let count: UInt32
    }

    private let writer: Incarnation
    private let options: ClusterOptions
    private var queue: CommitQueue
    private var pending: [Pending] = []
    /// The first try of this round: news of earlier ones is ignored.
    private var roundStart: UInt64 = 0
    /// Tries of this round without an answer.
    private var unansweredCount = 0
    /// The last entry of the log when this round began.
    private var roundBase: UInt64 = 0
    /// The last entry of the log as far as answers of this round say.
    private var answeredLast: UInt64 = 0
    /// The last entry of the log when everything in flight is stored.
    private var expected: UInt64 = 0
    /// Whether a try of this round was refused: everything is sent again once all are answered and the tail was read as
    /// far as the answers say. Before that, what is still on its way would take the positions of what is sent.
    private var isRefused = false
    /// Everything is sent again at this time, whatever is known.
    private var resendAt: Duration?
    /// When something was sent or came back last.
    private var newsAt = Duration.zero

    init(_ writer: Incarnation, _ options: ClusterOptions) {
        self.writer = writer
        self.options = options
        queue = CommitQueue(options)
    }

    /// Whether everything came back.
    var isEmpty: Bool { pending.isEmpty && queue.isEmpty }

    /// Whether commits wait that are in no entry yet.
    var hasUnsent: Bool { !queue.isEmpty }

    /// Bytes of commits that did not come back.
    var waitingByteCount: Int {
        queue.byteCount + pending.reduce(0) { $0 + $1.bytes.count - LogEntry.headerByteCount }
    }

    /// Adds commits behind the others.
    mutating func append(_ records: [LogRecord]) { queue.append(records) }

    /// Whether a valid entry is the one that must come back next; then it has.
    mutating func takeReturned(_ chain: LogChain, at now: Duration) -> Bool {
        guard pending.first?.chain == chain else { return false }
        pending.removeFirst()
        newsAt = now
        if pending.isEmpty { (isRefused, resendAt) = (false, nil) }
        return true
    }

    /// A void entry: one of these that came before the one it builds on has to be sent again.
    mutating func takeVoid(_ chain: LogChain, at now: Duration) {
        if pending.contains(where: { $0.chain == chain }) { resendLater(at: now) }
    }

    /// A try was stored.
    mutating func takeStored(_ number: UInt64, at sequence: UInt64) {
        guard number >= roundStart else { return }
        unansweredCount -= 1
        answeredLast = max(answeredLast, sequence)
    }

    /// A try was refused.
    mutating func takeRefused(_ number: UInt64, last: UInt64, at now: Duration) {
        guard number >= roundStart else { return }
        unansweredCount -= 1
        answeredLast = max(answeredLast, last)
        guard !pending.isEmpty else { return }
        // An engine that holds less than it did answers at once, again and again.
        if last >= roundBase { isRefused = true }
        resendLater(at: now)
    }

    /// What became of a try is not known.
    mutating func takeUnknown(_ number: UInt64, at now: Duration) {
        guard number >= roundStart else { return }
        unansweredCount -= 1
        if !pending.isEmpty { resendLater(at: now) }
    }

    /// What became of all tries is not known.
    mutating func takeAllUnknown(at now: Duration) {
        if !pending.isEmpty { resendLater(at: now) }
    }

    private mutating func resendLater(at now: Duration) {
        let time = now + options.resendDelay
        resendAt = min(resendAt ?? time, time)
    }

    /// Everything pending once more, when it is due.
    mutating func resend(
        after sequence: UInt64,
        at now: Duration,
        _ numbers: inout EntryNumbers
    ) -> [LogAppend] {
        guard !pending.isEmpty else { return [] }
        let isKnown = isRefused && unansweredCount == 0 && sequence >= answeredLast
        let isLate = resendAt.map { $0 <= now } ?? false || newsAt + options.answerLimit <= now
        guard isKnown || isLate else { return [] }
        (isRefused, resendAt) = (false, nil)
        beginRound(after: sequence, numbers)
        return pending.map { send($0.bytes, at: now, &numbers) }
    }

    /// The next entries, as far as there are slots: a slot that is free takes what there is, the others full batches.
    ///
    /// `mark` stands at the last valid entry, `sequence` is the last entry.
    mutating func fill(
        after mark: LogMark,
        _ sequence: UInt64,
        isSlotFree: Bool,
        at now: Duration,
        _ numbers: inout EntryNumbers
    ) -> [LogAppend] {
        guard !isRefused, resendAt == nil else { return [] }
        var appends: [LogAppend] = []
        var onlyFull = !isSlotFree && !pending.isEmpty
        while pending.count < options.inFlightCount, let payload = queue.next(onlyFull: onlyFull) {
            onlyFull = true
            if pending.isEmpty { beginRound(after: sequence, numbers) }
            let entry = LogEntry(
                payload.kind,
                epoch: mark.epoch,
                base: pending.reduce(mark.commit) { $0 + UInt64($1.count) },
                count: payload.count,
                writer: writer,
                number: numbers.nextEntry(),
                payload: payload.bytes
            )
            let (bytes, chain) = entry.encoded(after: pending.last?.chain ?? mark.chain)
            pending.append(Pending(bytes: bytes, chain: chain, count: payload.count))
            appends.append(send(bytes, at: now, &numbers))
        }
        return appends
    }

    private mutating func beginRound(after sequence: UInt64, _ numbers: EntryNumbers) {
        roundStart = numbers.tried + 1
        (roundBase, expected, answeredLast) = (sequence, sequence, sequence)
        unansweredCount = 0
    }

    private mutating func send(
        _ bytes: [UInt8],
        at now: Duration,
        _ numbers: inout EntryNumbers
    ) -> LogAppend {
        defer { expected += 1 }
        newsAt = now
        unansweredCount += 1
        return LogAppend(bytes: bytes, number: numbers.nextTry(), expected: expected)
    }
}
