/// Where a node stands in a replicated log: what all valid entries up to one of them made.
///
/// Kept in the local log behind the commits of that entry, so that a restarted node reads on from it.
package struct LogMark: Hashable, Sendable {
    /// The sequence number of the valid entry; 0 before the first.
    package var sequence: UInt64
    /// How many claims were valid.
    package var epoch: UInt64
    /// Commits of the group, all databases together.
    package var commit: UInt64
    /// What the valid entries hash to.
    package var chain: LogChain
    /// Names the group's log: the first bytes of the chain after its first claim; 0 before it.
    package var logID: UInt64

    /// Before the first entry of an empty log.
    package static let start = LogMark(sequence: 0, epoch: 0, commit: 0, chain: .start, logID: 0)

    /// Puts a mark together.
    package init(sequence: UInt64, epoch: UInt64, commit: UInt64, chain: LogChain, logID: UInt64) {
        self.sequence = sequence
        self.epoch = epoch
        self.commit = commit
        self.chain = chain
        self.logID = logID
    }

    /// What the valid entries of a log make, to be compared between nodes.
    package var progress: LogProgress { LogProgress(epoch: epoch, commit: commit) }
}

/// How far a node is. Of two nodes that follow one log, the one with less has read less of it.
package struct LogProgress: Hashable, Comparable, Sendable {
    /// How many claims were valid.
    package let epoch: UInt64
    /// Commits of the group.
    package let commit: UInt64

    /// Puts a progress together.
    package init(epoch: UInt64, commit: UInt64) {
        self.epoch = epoch
        self.commit = commit
    }

    /// Orders by epoch, then by commits.
    package static func < (left: LogProgress, right: LogProgress) -> Bool {
        (left.epoch, left.commit) < (right.epoch, right.commit)
    }
}
