import ClusterLog
import DatabaseCore
import WriteAheadLog

/// What the log thread of a node needs beside its local log.
struct ClusterLink: Sendable {
    /// The node, and this life of it.
    let incarnation: Incarnation
    /// What it says of itself in beats.
    let details: Beat.Details
    /// Where its local log stands in the shared one.
    let mark: LogMark
    let folder: DataFolder
    /// Signs beats; nil when they are not signed.
    let secret: GroupSecret?
    /// Opens the shared log; news come on any thread.
    let open: @Sendable (_ deliver: @escaping @Sendable (LogNews) -> Void) -> any ReplicatedLog
    let reports: Reports

    /// What the thread says beside what every log thread does; called on it.
    struct Reports: Sendable {
        /// Commits of another owner, in their order; `taken` is called when they are applied.
        let entered:
            @Sendable (_ commits: [CommitRecord], _ taken: @escaping @Sendable () -> Void)
                -> Void
        /// The local log has so many commits of the group: said ahead of own ones, and behind those of another owner.
        let reached: @Sendable (_ commitCount: UInt64) -> Void
        /// This node owns the group, and every commit before was reported.
        let owned: @Sendable () -> Void
        /// This node lost the group, and why: what was not reported as durable was never made.
        let deposed: @Sendable (String) -> Void
        /// The shared log takes nothing, or does so again.
        let stalled: @Sendable (Bool) -> Void
        /// The shared log cannot be followed further.
        let stopped: @Sendable (LogFault) -> Void
        /// How things stand, once a second and when the owner changes.
        let status: @Sendable (ClusterStatus) -> Void
    }
}

/// How a node stands in its group.
struct ClusterStatus: Sendable {
    /// The last valid entry that was read.
    var mark: LogMark
    /// The last entry that was read.
    var sequence: UInt64
    /// What the other nodes said last.
    var nodes: [Beat]
    /// What the owner says, when it is another node.
    var owner: Beat?
    var counts: ClusterMember.Counts
    /// Bytes of commits that are not in the shared log.
    var waitingByteCount: Int
}
