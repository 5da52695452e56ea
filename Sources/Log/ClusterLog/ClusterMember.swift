package import WriteAheadLog

/// What enters a member.
package enum MemberInput: Sendable {
    /// News of the replicated log.
    case news(LogNews)
    /// Commits that this node decided as the owner, in their order; only after `owned`.
    case commits([LogRecord])
    /// A checkpoint of this node covers the mark of this entry.
    case checkpointed(through: UInt64)
    /// Time has passed. To be given at least every 100 ms.
    case tick
    /// The node is to stop in good order. No commits follow.
    case leave
}

/// What a member asks for. To be done in order.
package enum MemberEffect: Sendable {
    /// As `ReplicatedLog.append`.
    case append([UInt8], number: UInt64, expecting: UInt64)
    /// As `ReplicatedLog.tail`.
    case tail(from: UInt64)
    /// As `ReplicatedLog.purge`.
    case purge(through: UInt64)
    /// As `ReplicatedLog.beat`.
    case beat([UInt8])
    /// These commits are in the log, in this order, and the mark stands behind them; a claim has none. On a node that
    /// follows they are to be applied, on the owner to be acknowledged.
    case committed([LogRecord], LogMark)
    /// This node owns the group, and has been given every commit before.
    case owned(LogMark)
    /// Another node owns the group. What this one decided and was not given back as `committed` was never made: the
    /// process ends, as in a crash. Nothing follows.
    case deposed
    /// After `leave`: the process may end. Nothing follows.
    case left
    /// Commits wait, and the log takes none of them; or it does so again.
    case stalled(Bool)
    /// This node cannot follow the log any further, and says so to others from here on. It serves nothing.
    case stopped(LogFault)
}

/// One node of a group: follows the log, claims the group when no owner is heard, and writes when it owns it.
///
/// No clock, thread or randomness is inside: times are those of a clock that never goes back, counted
/// from any moment.
///
///     following ──own claim is valid──► owning ──all came back, after `leave`──► leaving ──► left
///         │                               │                                        ▲
///         └──leave────────────────────────┼────────────────────────────────────────┘
///                                         └──claim of another is valid──► deposed
///     any ──damage, gap, other log, log gone back──► stopped
package struct ClusterMember {
    /// What a member does.
    package enum Role: Sendable, Equatable {
        case following, owning, leaving, left, deposed
        case stopped(LogFault)
    }

    /// What was counted since the start.
    package struct Counts: Sendable, Equatable {
        /// Void entries that were read.
        package var voidEntries: UInt64 = 0
        /// Tries of claims.
        package var claims: UInt64 = 0
        /// Entries that were sent once more.
        package var sentAgain: UInt64 = 0
        /// Tails that were asked for.
        package var tails: UInt64 = 0
    }

    /// The life that it is of.
    package let incarnation: Incarnation
    /// What it does.
    package internal(set) var role = Role.following
    /// What was counted since the start.
    package internal(set) var counts = Counts()
    /// When an entry or a beat came last, own ones included. A node without any for long is cut off.
    package internal(set) var newsAt: Duration

    let options: ClusterOptions
    /// What its beats say of its configuration.
    package var details: Beat.Details
    var random: any RandomNumberGenerator & Sendable
    var now: Duration
    var effects: [MemberEffect] = []
    var replay: LogReplay
    var numbers = EntryNumbers()
    var heard = HeardNodes()
    var checkpointed: UInt64 = 0

    private var isLinkUp = false
    /// The tail that was asked for last; nil while the link is down.
    var tail: LogTail?
    /// When an entry was read last.
    var entryAt: Duration
    /// Tails in a row that ended before what was known.
    var shortTailCount = 0

    /// When a claim is due, unless an owner is heard.
    var claimAt: Duration
    var claim: Claim?

    var pipeline: CommitPipeline
    /// Whether an own entry came back since entries were sent last.
    var isSlotFree = false
    /// When nothing waited, or an own entry came back.
    var progressAt: Duration
    var isStalled = false
    var isDraining = false
    /// When an owner that leaves waits for no next one any longer.
    var leaveBy: Duration?

    var window: TrimWindow
    let startedAt: Duration
    var trimAt: Duration
    var trimmed: UInt64 = 0
    var beatAt: Duration

    /// Begins as a follower that has what a mark says.
    ///
    /// Its beats say `details`; `random` is for the part of a silence that nodes do not share.
    package init(
        _ incarnation: Incarnation,
        from mark: LogMark,
        details: Beat.Details,
        options: ClusterOptions = ClusterOptions(),
        random: any RandomNumberGenerator & Sendable,
        at now: Duration
    ) {
        self.incarnation = incarnation
        self.details = details
        self.options = options
        self.random = random
        self.now = now
        replay = LogReplay(from: mark)
        pipeline = CommitPipeline(incarnation, options)
        window = TrimWindow(byteCount: options.keptByteCount)
        (newsAt, entryAt, claimAt, progressAt, startedAt) = (now, now, now, now, now)
        trimAt = now + options.trimInterval
        beatAt = now
        restartSilence()
    }

    /// After the last valid entry that left no commit unfinished.
    package var mark: LogMark { replay.mark }

    /// The last entry read, valid or void.
    package var sequence: UInt64 { replay.sequence }

    /// Entries of the log that this node knows of and has not read.
    package var behindCount: UInt64 {
        tail.map { max($0.last, replay.sequence) - replay.sequence } ?? 0
    }

    /// Bytes of commits that are not in the log, as far as this node knows.
    package var waitingByteCount: Int { pipeline.waitingByteCount }

    /// What each node that was heard lately said last, this one left out, by node.
    package var nodes: [Beat] { heard.beats(since: now - options.aheadMemory) }

    /// What the owner said, when another node is one and was heard lately.
    package var owner: Beat? {
        heard.owner(since: now - options.aheadMemory, of: replay.mark.logID)
    }

    /// Takes an input, and gives what it leads to. `now` is never before an earlier one.
    package mutating func step(_ input: MemberInput, at now: Duration) -> [MemberEffect] {
        precondition(now >= self.now, "the clock of a member never goes back")
        self.now = now
        if !isOver { take(input) }
        if !isOver { doWhatIsDue() }
        defer { effects = [] }
        return effects
    }

    private var isOver: Bool { role == .left || role == .deposed }

    var isStopped: Bool {
        guard case .stopped = role else { return false }
        return true
    }

    private mutating func take(_ input: MemberInput) {
        switch input {
        case .news(let news): take(news)
        case .commits(let records):
            // A node that has stopped may be given some that were on their way.
            if isStopped { return }
            precondition(role == .owning && !isDraining, "only an owner that stays decides commits")
            pipeline.append(records)
        case .checkpointed(let sequence): checkpointed = sequence
        case .tick: break
        case .leave: leave()
        }
    }

    private mutating func take(_ news: LogNews) {
        switch news {
        case .beat(let bytes): takeBeat(bytes)
        case .link(let isUp): takeLink(isUp)
        case .entry, .bounds, .stored, .refused, .unknown: if !isStopped { takeOfLog(news) }
        }
    }

    private mutating func takeOfLog(_ news: LogNews) {
        switch news {
        case .entry(let sequence, let bytes): takeEntry(bytes, at: sequence)
        case .bounds(let first, let last): takeBounds(first: first, last: last)
        case .stored(let number, let sequence):
            tail?.learn(last: sequence)
            pipeline.takeStored(number, at: sequence)
        case .refused(let number, let last):
            tail?.learn(last: last)
            pipeline.takeRefused(number, last: last, at: now)
        case .unknown(let number): pipeline.takeUnknown(number, at: now)
        case .link, .beat: break
        }
    }

    private mutating func doWhatIsDue() {
        if !isStopped {
            watchTail()
            claimWhenDue()
            sendWhatIsDue()
            watchProgress()
            endLeaving()
            trimWhenDue()
        }
        if now >= beatAt { beat() }
    }

    mutating func stop(_ fault: LogFault) {
        role = .stopped(fault)
        effects.append(.stopped(fault))
        beat()
    }

    private mutating func takeLink(_ isUp: Bool) {
        isLinkUp = isUp
        tail = nil
        guard isUp, !isStopped else { return }
        openTail()
        // While the link was down no beat could come.
        restartSilence()
        pipeline.takeAllUnknown(at: now)
    }

    // MARK: - Beats

    private mutating func takeBeat(_ bytes: [UInt8]) {
        guard let beat = Beat(decoding: bytes) else { return }
        newsAt = now
        guard beat.sender != incarnation else { return }
        heard.take(beat, at: now)
        guard beat.follows(replay.last.logID), beat.progress.epoch >= replay.last.epoch else {
            return
        }
        switch beat.role {
        case .owning: restartSilence()
        case .leaving: claimAt = now
        case .following, .stopped: break
        }
    }

    mutating func beat() {
        beatAt = now + options.beatInterval
        guard isLinkUp else { return }
        let said: Beat.Role
        switch role {
        case .following: said = .following
        case .owning: said = .owning
        case .leaving: said = .leaving
        case .stopped: said = .stopped
        case .left, .deposed: return
        }
        let beat = Beat(
            said,
            of: incarnation,
            logID: replay.last.logID,
            progress: replay.last.progress,
            sequence: replay.sequence,
            checkpointed: checkpointed,
            details: details
        )
        effects.append(.beat(beat.encoded))
    }
}
