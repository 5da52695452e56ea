/// How long a member of a group waits, and how much it sends at once. The defaults are the server's.
package struct ClusterOptions: Sendable {
    /// Between two beats of a node.
    package var beatInterval = Duration.milliseconds(500)
    /// Without a beat of an owner, before a node claims the group.
    package var silence = Duration.seconds(2)
    /// A random part of this is added to the silence, so that nodes seldom claim at once.
    package var silenceSpread = Duration.seconds(1)
    /// Between two tries of a claim.
    package var claimInterval = Duration.milliseconds(500)
    /// For how long the beat of a node that is ahead keeps others from claiming.
    package var aheadMemory = Duration.seconds(10)
    /// Between an append whose outcome is not known and the next try.
    package var resendDelay = Duration.seconds(1)
    /// After which appends without any news are tried again.
    package var answerLimit = Duration.seconds(5)
    /// Without a new entry, after which a tail that is behind is asked for again.
    package var tailWait = Duration.seconds(2)
    /// How many such tails in a row must end before what was known, until the log counts as gone back: an engine that
    /// has just elected may say for a moment that it holds less.
    package var shortTailCount = 5
    /// Without an entry that came back, after which the log counts as stalled while commits wait.
    package var stallLimit = Duration.seconds(1)
    /// For how long an owner that leaves waits for the next one.
    package var leaveLimit = Duration.seconds(2)
    /// Between two times that the owner trims the log.
    package var trimInterval = Duration.seconds(10)
    /// For how long a node that was heard keeps what it needs from being trimmed.
    package var nodeMemory = Duration.seconds(3600)
    /// Bytes of the newest entries that are never trimmed.
    package var keptByteCount = 64 * 1024 * 1024
    /// Entries in flight.
    package var inFlightCount = 4
    /// Bytes of commits that close a batch.
    package var batchByteCount = 64 * 1024
    /// Commits that close a batch.
    package var batchCommitCount = 256
    /// Bytes of an entry at most; a commit that does not fit is cut.
    package var entryByteCount = 512 * 1024

    /// The server's options.
    package init() {}

    /// Bytes that the payload of an entry has at most.
    var payloadByteCount: Int { entryByteCount - LogEntry.headerByteCount }
}
