import SimulatedStorage
import WriteAheadLog

@testable import ClusterLog

/// A machine of a `ClusterWorld`: its disk, and the process that runs on it.
struct ClusterNode {
    /// A mark in the local log, and what stands before it.
    struct Saved {
        var mark = LogMark.start
        var commitCount = 0
        var newest: [LogDatabaseName: UInt64] = [:]
    }

    /// A process, from its start to its end.
    struct Process {
        var member: ClusterMember
        let link: SimulatedLink
        /// Commits that were decided here and not given back, in their order.
        var decided: [UInt64] = []
        /// The newest commit of each database, decided ones too.
        var newest: [LogDatabaseName: UInt64] = [:]
        var isOwner = false
        var isLeaving = false
        var stopped: LogFault?
        /// It has read what the log held after it had lost something else.
        var hasDiverged = false
    }

    var process: Process?
    /// Counts processes.
    var life = 0
    /// What the node has applied: the id of each commit, in order.
    var commits: [UInt64] = []
    /// The newest mark, and how much stands before it.
    var applied = Saved()
    /// Marks that are on the disk, from the last checkpoint on, the newest last.
    var saved = [Saved()]
}
