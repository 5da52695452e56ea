import WriteAheadLog

@testable import ClusterLog

/// A promise of the group that does not hold.
struct ClusterFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// What stands outside of all nodes: the one history of commits that any of them showed, and what was acknowledged.
struct ClusterLedger {
    /// The id of each commit, in the order of the group.
    private(set) var history: [UInt64] = []
    private var known: Set<UInt64> = []
    /// The mark at each entry, and the chain at each progress.
    private var marks: [UInt64: LogMark] = [:]
    private var chains: [LogProgress: LogChain] = [:]
    private var newest: [LogDatabaseName: UInt64] = [:]
    /// How many commits of the history clients know to be in it: all up to the newest that was acknowledged.
    private(set) var acknowledgedCount = 0
    /// The same, by the epoch in which they were acknowledged.
    private var acknowledgedCounts: [UInt64: Int] = [:]

    /// A node has applied the commit behind so many.
    mutating func apply(_ record: LogRecord, behind count: Int) throws {
        let id = id(of: record)
        if count < history.count {
            guard history[count] == id else {
                throw ClusterFault("commit \(count + 1) is \(history[count]), and \(id) on a node")
            }
            return
        }
        guard known.insert(id).inserted else { throw ClusterFault("commit \(id) is there twice") }
        guard record.commit == newest[record.database, default: 0] + 1 else {
            throw ClusterFault("commit \(record.commit) of \(record.database) does not follow")
        }
        newest[record.database] = record.commit
        history.append(id)
    }

    /// Whether the commit behind so many is known, and is not this one.
    func isOther(_ id: UInt64, behind count: Int) -> Bool {
        count < history.count && history[count] != id
    }

    /// A node has applied so many commits and stands at a mark.
    mutating func check(_ mark: LogMark, behind count: Int) throws {
        guard mark.commit == UInt64(count) else {
            throw ClusterFault("a mark of \(mark.commit) commits stands behind \(count)")
        }
        let known = (marks[mark.sequence] ?? mark, chains[mark.progress] ?? mark.chain)
        marks[mark.sequence] = mark
        chains[mark.progress] = mark.chain
        guard known == (mark, mark.chain) else {
            throw ClusterFault("entry \(mark.sequence) gives two states")
        }
    }

    /// The log went back: an owner that knew less may write the same entries to other positions.
    mutating func forgetPositions() { marks = [:] }

    /// A client received the answer to the commit behind so many from the owner of an epoch.
    mutating func acknowledge(behind count: Int, epoch: UInt64) {
        acknowledgedCount = max(acknowledgedCount, count + 1)
        acknowledgedCounts[epoch] = max(acknowledgedCounts[epoch] ?? 0, count + 1)
    }

    /// How many commits the owner of an epoch must have.
    func acknowledgedCount(before epoch: UInt64) -> Int {
        acknowledgedCounts.filter { $0.key < epoch }.map(\.value).max() ?? 0
    }

    /// What the log itself holds, read by the plainest code, against the history.
    func check(log entries: [[UInt8]]) throws {
        var twin = NaiveReplay()
        for entry in entries { _ = twin.read(entry) }
        let ids = twin.commits.map { id(ofPayload: $0[(1 + Int($0[0]) + 20)...]) }
        // Entries that no node has read yet may follow.
        guard ids.starts(with: history), Set(ids).count == ids.count else {
            throw ClusterFault("the log holds \(ids.count) commits, not the \(history.count) shown")
        }
    }

    /// The id of a commit: the first eight bytes of its payload.
    func id(of record: LogRecord) -> UInt64 {
        var bytes: [UInt8] = []
        CommitCoder.append(record, to: &bytes)
        return id(ofPayload: bytes.suffix(record.payload.byteCount))
    }

    private func id(ofPayload payload: ArraySlice<UInt8>) -> UInt64 {
        payload.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
