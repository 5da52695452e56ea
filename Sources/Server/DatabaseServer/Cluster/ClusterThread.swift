import ClusterLog
import DatabaseCore
import JSONTree
import StateRecovery
import WriteAheadLog

/// What the log thread of a node does: it gives the shared log what this node decides, and the local log and the loop what
/// the shared log holds.
///
///     commits of the loop ─► member ─► shared log ─► member ─┬─► local log, not synced ─► loop: flushed (owner)
///                                                            └─► local log, not synced ─► loop: entered (follower)
///     each second: local log synced, then its mark
///
/// A commit is durable when its entry came back valid: how many disks have it then is the brokers' setting.
struct ClusterThread: ~Copyable {
    /// A barrier that waits until so many own commits came back.
    private struct Barrier {
        let commitCount: UInt64
        let body: @Sendable (LogPosition, [LogHead]) -> Void
    }

    /// Without a word of any broker, after which an owner ends. An election is shorter.
    static let cutOffLimit = Duration.seconds(15)

    private let link: ClusterLink
    private let log: LogWriter
    private let shared: any ReplicatedLog
    private let flushed: @Sendable ([(database: DatabaseID, through: CommitNumber)]) -> Void
    /// Counts own commits that came back.
    private let returned: @Sendable (Int) -> Void
    /// Since any moment; never goes back.
    private let now: () -> Duration
    private var member: ClusterMember
    private var heads: [LogDatabaseName: UInt64]
    private var mark: LogMark
    private var writtenMark: LogMark
    private var handedCount: UInt64 = 0
    private var returnedCount: UInt64 = 0
    private var barriers: [Barrier] = []
    private var sentOwner: Incarnation?
    /// Commits of others that the loop has not applied.
    private let credit: NewsCredit
    /// What copies of this node's data need of the shared log, until their nodes are heard themselves.
    private var kept: [(sequence: UInt64, until: Duration)] = []
    private let keptTime = ClusterOptions().nodeMemory
    /// Set once the thread has nothing more to do.
    private(set) var isOver = false

    init(
        _ link: ClusterLink,
        _ log: LogWriter,
        _ shared: any ReplicatedLog,
        _ credit: NewsCredit,
        now: @escaping () -> Duration,
        returned: @escaping @Sendable (Int) -> Void,
        flushed: @escaping @Sendable ([(database: DatabaseID, through: CommitNumber)]) -> Void
    ) {
        self.returned = returned
        self.link = link
        self.log = log
        self.shared = shared
        self.credit = credit
        self.flushed = flushed
        self.now = now
        (mark, writtenMark) = (link.mark, link.mark)
        heads = Dictionary(uniqueKeysWithValues: log.logHeads.map { ($0.database, $0.commit) })
        member = ClusterMember(
            link.incarnation,
            from: link.mark,
            details: link.details,
            random: SystemRandomNumberGenerator(),
            at: now()
        )
        link.reports.reached(mark.commit)
    }

    /// Does what came, in its order, and what is due.
    mutating func take(_ messages: [LogMessage]) throws(LogError) {
        var batch = CommitBatch()
        for message in messages {
            if case .commit(let commit) = message {
                try batch.append(commit)
                continue
            }
            try hand(&batch)
            switch message {
            case .commit, .audit, .sync: break
            case .news(.beat(let bytes)) where link.secret != nil:
                // One that no node has signed says nothing.
                if let beat = link.secret?.beat(in: bytes) { try step(.news(.beat(beat))) }
            case .news(let news): try step(.news(news))
            case .barrier(let body):
                barriers.append(Barrier(commitCount: handedCount, body: body))
                passBarriers()
            case .maintain: try settle()
            case .keep(let sequence): kept.append((sequence, now() + keptTime))
            case .rules(let digest): member.details.rulesDigest = digest
            case .leave: try step(.leave)
            }
        }
        try hand(&batch)
        try step(.tick)
        endIfCutOff()
        if member.owner?.sender != sentOwner { report() }
    }

    /// Makes the local log durable, and says where it stands.
    mutating func settle() throws(LogError) {
        try log.sync()
        if mark != writtenMark {
            try MarkFile.write(mark, to: link.folder)
            writtenMark = mark
            let time = now()
            kept.removeAll { $0.until < time }
            try step(.checkpointed(through: kept.map(\.sequence).min() ?? mark.sequence))
        }
        try log.maintain()
        report()
    }

    /// An owner that hears nothing of brokers, not even its own beats, may have been followed by another: it must answer no
    /// reads as if it had not.
    private mutating func endIfCutOff() {
        guard !isOver, member.role == .owning, now() - member.newsAt > Self.cutOffLimit else {
            return
        }
        isOver = true
        link.reports.deposed("no broker was heard for \(Self.cutOffLimit.components.seconds) s")
    }

    private mutating func report() {
        sentOwner = member.owner?.sender
        link.reports.status(
            ClusterStatus(
                mark: mark,
                sequence: member.sequence,
                nodes: member.nodes,
                owner: member.owner,
                counts: member.counts,
                waitingByteCount: member.waitingByteCount
            )
        )
    }

    private mutating func hand(_ batch: inout CommitBatch) throws(LogError) {
        guard !batch.records.isEmpty else { return }
        handedCount += UInt64(batch.records.count)
        try step(.commits(batch.records))
        batch = CommitBatch()
    }

    private mutating func step(_ input: MemberInput) throws(LogError) {
        let isOwner = member.role == .owning || member.role == .leaving
        for effect in member.step(input, at: now()) {
            if isOver { return }
            switch effect {
            case .append(let entry, let number, let last):
                shared.append(entry, number: number, expecting: last)
            case .tail(let sequence): shared.tail(from: sequence)
            case .purge(let sequence): shared.purge(through: sequence)
            case .beat(let bytes): shared.beat(link.secret?.sign(bytes) ?? bytes)
            case .committed(let records, let mark): try take(records, mark, isOwn: isOwner)
            case .owned:
                link.reports.owned()
                report()
            case .deposed:
                isOver = true
                link.reports.deposed("another node owns the group")
            case .left: isOver = true
            case .stalled(let isStalled): link.reports.stalled(isStalled)
            case .stopped(let fault): link.reports.stopped(fault)
            }
        }
    }

    // MARK: - Commits of the shared log

    private mutating func take(
        _ records: [LogRecord],
        _ mark: LogMark,
        isOwn: Bool
    ) throws(LogError) {
        // What leaves an owner because of these commits says that they are there.
        if isOwn { link.reports.reached(mark.commit) }
        var rest = records[...]
        while isOwn, let barrier = barriers.first,
            barrier.commitCount < returnedCount + UInt64(rest.count)
        {
            let count = Int(barrier.commitCount - returnedCount)
            try append(rest.prefix(count), isOwn: true)
            rest = rest.dropFirst(count)
            passBarriers()
        }
        try append(rest, isOwn: isOwn)
        if !isOwn { link.reports.reached(mark.commit) }
        self.mark = mark
        passBarriers()
    }

    private mutating func passBarriers() {
        while let barrier = barriers.first, barrier.commitCount <= returnedCount {
            barriers.removeFirst()
            barrier.body(log.position, log.logHeads)
        }
    }

    /// Appends what the local log lacks, and says so.
    private mutating func append(_ records: ArraySlice<LogRecord>, isOwn: Bool) throws(LogError) {
        if isOwn {
            returnedCount += UInt64(records.count)
            returned(records.count)
        }
        var missing: [LogRecord] = []
        for record in records {
            let head = heads[record.database] ?? 0
            if record.commit <= head { continue }
            guard record.commit == head + 1 else {
                return link.reports.stopped(.gap(expected: head + 1, found: record.commit))
            }
            heads[record.database] = record.commit
            missing.append(record)
        }
        guard !missing.isEmpty else { return }
        _ = try log.append(missing)
        if isOwn {
            flushed(newest(of: missing))
        } else {
            credit.take()
            link.reports.entered(missing.map(CommitRecord.init)) { [credit] in credit.give() }
        }
    }

    /// The last commit of each run of commits of one database.
    private func newest(
        of records: [LogRecord]
    ) -> [(database: DatabaseID, through: CommitNumber)] {
        var newest: [(database: DatabaseID, through: CommitNumber)] = []
        var last: LogDatabaseName?
        for record in records {
            let through = CommitNumber(record.commit)
            if record.database == last {
                newest[newest.count - 1].through = through
            } else {
                newest.append((DatabaseID(record.database.description), through))
                last = record.database
            }
        }
        return newest
    }
}

extension CommitRecord {
    /// A commit as the shared log has it: whole.
    fileprivate init(_ record: LogRecord) {
        var payload: [UInt8] = []
        switch record.payload {
        case .bytes(let bytes): payload = bytes
        case .pieces(var pieces): while pieces.next(into: &payload) {}
        }
        self.init(
            database: DatabaseID(record.database.description),
            number: CommitNumber(record.commit),
            time: Timestamp(milliseconds: record.time),
            payload: payload
        )
    }
}
