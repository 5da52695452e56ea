package import WriteAheadLog

/// The rule by which every node, reading the entries of a log in their order, decides alike whether each counts.
///
/// Invariant: equal entries give equal states, whatever node wrote them and whatever the engine checked. So two
/// nodes may believe that they own the group: at each base one entry counts, and the others are void everywhere.
///
///     sequence   1         2          3          4          5          6          7
///     entry      claim 1   1, base 0  claim 2    1, base 3  2, base 3  claim 2    2, base 4
///                by A      3 commits  by B       2 commits  1 commit   by C       1 commit
///     state      epoch 1   commit 3   epoch 2    void: an   commit 4   void: it   commit 5
///                                                older                 lost the
///                                                epoch                 race
///
/// Cost of an entry: its checksum, and where it may count, a SHA-256 of its payload and a copy of its commits.
package struct LogReplay: Sendable {
    /// The last entry read, valid or void.
    package private(set) var sequence: UInt64
    /// After the last valid entry.
    package private(set) var last: LogMark
    /// After the last valid entry that left no commit unfinished: a restarted node reads on from here.
    package private(set) var mark: LogMark
    /// What the parts since then hold.
    private var parts: [UInt8] = []

    /// Begins after the entry of a mark.
    package init(from mark: LogMark = .start) {
        sequence = mark.sequence
        last = mark
        self.mark = mark
    }

    /// Decides about the next entry, and takes what it holds.
    ///
    /// After `stop` nothing has changed, and no later entry may be given.
    package mutating func read(_ bytes: [UInt8], at position: UInt64) -> LogDecision {
        guard position == sequence + 1 else {
            return .stop(.gap(expected: sequence + 1, found: position))
        }
        let entry: LogEntry
        do { entry = try LogEntry(decoding: bytes) } catch {
            return .stop(.badEntry(sequence: position, error))
        }
        let chain = LogEntry.chain(of: bytes)
        // A writer knows only what some beginning of this log has made known to it.
        if isAhead(entry) { return .stop(.otherLog(sequence: position)) }
        if let reason = voidReason(of: entry, bytes, chain) {
            sequence = position
            return .void(reason, chain)
        }
        return take(entry, chain, at: position)
    }

    /// Goes back to the last valid entry, to read void ones behind it once more: they changed nothing.
    package mutating func rewind() { sequence = last.sequence }

    /// What is wrong with these bytes, which are said to be those of the last valid entry; nil when they are.
    package func faultOfLast(_ bytes: [UInt8]) -> LogFault? {
        do { _ = try LogEntry(decoding: bytes) } catch {
            return .badEntry(sequence: last.sequence, error)
        }
        // The chain covers the rest of an intact entry.
        return LogEntry.chain(of: bytes) == last.chain ? nil : .otherLog(sequence: last.sequence)
    }

    private func isNextClaim(_ entry: LogEntry) -> Bool {
        entry.kind == .claim && entry.epoch == last.epoch + 1
    }

    private func isAhead(_ entry: LogEntry) -> Bool {
        if isNextClaim(entry) { return entry.base > last.commit }
        return entry.epoch > last.epoch
    }

    private func voidReason(
        of entry: LogEntry,
        _ bytes: [UInt8],
        _ chain: LogChain
    ) -> VoidReason? {
        if entry.kind == .claim && !isNextClaim(entry) { return .lostClaim }
        if entry.epoch < last.epoch { return .oldEpoch }
        if entry.base != last.commit { return .otherBase }
        return LogEntry.chain(of: bytes, after: last.chain) == chain ? nil : .otherChain
    }

    private mutating func take(
        _ entry: LogEntry,
        _ chain: LogChain,
        at position: UInt64
    ) -> LogDecision {
        var next = last
        (next.sequence, next.chain) = (position, chain)
        let decision: LogDecision
        switch entry.kind {
        case .claim:
            next.epoch = entry.epoch
            if next.logID == 0 { next.logID = chain.prefix }
            parts = []
            decision = .claim(entry.writer)
        case .part:
            guard parts.count + entry.payload.count <= Self.openByteCount else {
                return .stop(.openTooLong(sequence: position))
            }
            parts += entry.payload
            decision = .part
        case .batch:
            do {
                let list = parts.isEmpty ? entry.payload : parts + entry.payload
                decision = .commits(try CommitCoder.decode(list, count: Int(entry.count)))
            } catch {
                return .stop(.badCommits(sequence: position, error))
            }
            next.commit += UInt64(entry.count)
            parts = []
        }
        (sequence, last) = (position, next)
        if entry.kind != .part { mark = next }
        return decision
    }

    /// Bytes that the parts of one commit have at most.
    private static let openByteCount = LogLimits.payloadByteCount + 1024
}

/// What the next entry of a log is.
package enum LogDecision: Sendable {
    /// Valid: these commits follow, in this order.
    case commits([LogRecord])
    /// Valid: the beginning or middle of a commit that is not whole.
    case part
    /// Valid: an incarnation owns the group from here on. What parts left open is dropped.
    case claim(Incarnation)
    /// It keeps its sequence number and changes nothing. The chain is the one that it says.
    case void(VoidReason, LogChain)
    /// The log cannot be followed beyond this entry.
    case stop(LogFault)
}

/// Why an entry is void. None of these is a fault: late entries of an owner that was, copies, pipelines that broke.
package enum VoidReason: Sendable, Hashable, CaseIterable {
    /// Another claim came first, or this one came before.
    case lostClaim
    /// Its writer owns the group no longer.
    case oldEpoch
    /// Its writer built on more or fewer commits.
    case otherBase
    /// Its writer built on other entries with as many commits.
    case otherChain
}
