/// Limits and times of a client.
package enum SyncLimits {
    /// Runs of one transaction. Source: wire protocol, section 14.
    package static let transactionRuns = 25
    /// Milliseconds until the first try to connect again; grows by `backoffGrowth`.
    package static let firstBackoff: Double = 1_000
    /// Milliseconds between tries at most. Source: wire protocol, section 13 (iOS).
    package static let longestBackoff: Double = 30_000
    /// How much longer each try waits.
    package static let backoffGrowth = 1.3
    /// The part of a wait that is random.
    package static let backoffJitter = 0.7
    /// Milliseconds of a connection after which the next try is made at once again.
    package static let steadyConnection: Int64 = 30_000
    /// Milliseconds to be connected, hello included.
    package static let connectTimeout: Int64 = 30_000
    /// Milliseconds without a frame in either direction after which a keep-alive is sent.
    package static let keepAlive: Int64 = 45_000
    /// Milliseconds after which a `get` without a connection fails. Source: section 13 (iOS).
    package static let getTimeout: Int64 = 3_000
    /// Bytes of one message from the server.
    package static let messageByteCount = 256 * 1024 * 1024
    /// Bytes of one write. Source: wire protocol, section 14.
    package static let writeByteCount = 16 * 1024 * 1024
    /// The next write waits while unanswered writes have this many bytes; below that, a write of any size is sent.
    package static let unansweredWriteByteCount = 8 * 1024 * 1024
    /// Milliseconds without a frame from the server, while an answer of it is due, after which it is asked for a pong.
    package static let pingAfter: Int64 = 15_000
    /// Milliseconds without a frame from the server after which it is asked for a pong in any case.
    package static let pingWhenQuiet: Int64 = 120_000
    /// Milliseconds without a frame after that, after which the connection is given up. Source:
    /// wire protocol, section 2.2.
    package static let pongTimeout: Int64 = 30_000
    /// Bytes per millisecond of the slowest line that is reckoned with: sending takes time, and answers come after.
    package static let slowestBytesPerMillisecond: Int64 = 8
    /// Credentials refused in a row after which the next is tried much later. Source: wire protocol, section 3.1.
    package static let refusedCredentials = 3
    /// Unindexed queries reported to the developer.
    package static let reportedIndexes = 1_000
    /// Redirections in a row that are followed at once.
    package static let redirects = 5
}
