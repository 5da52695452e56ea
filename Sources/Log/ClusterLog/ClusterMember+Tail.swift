/// A tail that was asked for.
///
///     tail(from: 8)                       the last valid entry; 9 was void
///     … 11, 12                            of an earlier tail: ignored
///     bounds 3...13                       what the log holds
///     8                                   compared with what is known: the tail is open
///     9, 10, 11, 12, 13                   read; then all is read
struct LogTail {
    let askedAt: Duration
    /// Where the node stood.
    let from: LogMark
    /// How far the furthest node was that follows this log.
    let furthest: LogProgress
    /// The first and the last entry of the log.
    var bounds: (first: UInt64, last: UInt64)?
    /// The last entry of the log, as far as it is known.
    private(set) var last: UInt64 = 0
    /// Whether the first entry that was asked for has come.
    var isOpen = false

    init(askedAt: Duration, from: LogMark, furthest: LogProgress) {
        self.askedAt = askedAt
        self.from = from
        self.furthest = furthest
    }

    mutating func learn(last: UInt64) { self.last = max(self.last, last) }

    /// Whether the log ends before what this node has read of it.
    var isShort: Bool { bounds.map { $0.last < from.sequence } ?? false }

    /// Whether the entry of the mark is gone by trimming, so that the one after it comes first; or there was none.
    var beginsBehindMark: Bool {
        from.sequence == 0 || bounds.map { $0.first == from.sequence + 1 } ?? false
    }
}

extension ClusterMember {
    /// Whether this node has read everything that it knows of. Void entries at the end count as read once the entry
    /// before them was compared.
    private var hasReadAll: Bool {
        guard let tail, tail.bounds != nil, replay.sequence >= tail.last else { return false }
        return tail.isOpen || tail.beginsBehindMark || tail.isShort
    }

    var isCaughtUp: Bool { hasReadAll && tail?.isShort == false && shortTailCount == 0 }

    /// Whether the log may take entries: what is known of it does not contradict what this node has read.
    var isLogSound: Bool { tail?.bounds != nil && tail?.isShort == false && shortTailCount == 0 }

    mutating func openTail() {
        replay.rewind()
        tail = LogTail(
            askedAt: now,
            from: replay.last,
            furthest: furthest ?? replay.last.progress
        )
        counts.tails += 1
        effects.append(.tail(from: max(1, replay.last.sequence)))
    }

    /// How far the furthest node is that was heard lately.
    var furthest: LogProgress? {
        heard.furthest(since: now - options.aheadMemory, of: replay.last.logID)
    }

    mutating func takeBounds(first: UInt64, last: UInt64) {
        guard tail != nil else { return }
        tail?.bounds = (first, last)
        tail?.learn(last: last)
        if first > replay.last.sequence + 1 {
            stop(.gap(expected: replay.last.sequence + 1, found: first))
        }
    }

    mutating func takeEntry(_ bytes: [UInt8], at sequence: UInt64) {
        guard let tail else { return }
        newsAt = now
        if sequence == replay.last.sequence {
            if let fault = replay.faultOfLast(bytes) { return stop(fault) }
            self.tail?.isOpen = true
            return
        }
        // Entries of an earlier tail may come until the first one of this.
        guard tail.isOpen || sequence == replay.sequence + 1 && tail.beginsBehindMark else {
            return
        }
        self.tail?.isOpen = true
        // Known: this tail has begun anew.
        guard sequence > replay.sequence else { return }
        entryAt = now
        self.tail?.learn(last: sequence)
        read(bytes, at: sequence)
    }

    private mutating func read(_ bytes: [UInt8], at sequence: UInt64) {
        let decision = replay.read(bytes, at: sequence)
        if case .stop(let fault) = decision { return stop(fault) }
        window.append(sequence, byteCount: bytes.count)
        switch decision {
        case .stop: break
        case .void(_, let chain):
            counts.voidEntries += 1
            pipeline.takeVoid(chain, at: now)
        case .part: takeReturned(at: sequence)
        case .commits(let records):
            takeReturned(at: sequence)
            if !isStopped { effects.append(.committed(records, replay.mark)) }
        case .claim(let owner):
            effects.append(.committed([], replay.mark))
            takeClaim(of: owner)
        }
    }

    /// A valid entry of an owner is one of those that it has sent, and the next of them.
    private mutating func takeReturned(at sequence: UInt64) {
        guard role == .owning || role == .leaving else { return }
        guard pipeline.takeReturned(replay.last.chain, at: now) else {
            return stop(.otherLog(sequence: sequence))
        }
        progressAt = now
        isSlotFree = true
    }

    /// Asks for the tail again when it should have brought more, and stops when the log holds less than it did.
    mutating func watchTail() {
        guard let tail, now >= max(tail.askedAt, entryAt) + options.tailWait else { return }
        let hasReadAll = hasReadAll
        let progress = replay.last.progress
        let isLess = hasReadAll && (tail.isShort || tail.furthest > progress)
        if isLess {
            shortTailCount += 1
            if shortTailCount == options.shortTailCount {
                let known = max(tail.furthest, tail.from.progress)
                return stop(.wentBack(last: tail.last, known: known))
            }
        } else if hasReadAll {
            shortTailCount = 0
        }
        if isLess || !hasReadAll || furthest.map({ $0 > progress }) ?? false { openTail() }
    }
}
