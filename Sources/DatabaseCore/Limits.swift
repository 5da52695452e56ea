/// Hard limits of the state machine: everything in it that can grow has a number here.
package enum Limits {
    /// Listens of one session.
    package static let listensPerSession = 10_000
    /// Requests of one connection that wait behind an inquiry (a token check, a long hash).
    package static let parkedMessages = 10_000
    /// On-disconnect writes of one session.
    package static let onDisconnectWrites = 1_000
    /// Bytes of the on-disconnect writes of one session, as the log keeps them: they become one commit.
    package static let onDisconnectByteCount = 64 * 1024 * 1024
    /// The same of all sessions of one database: they stand in the head of its checkpoint, whose length has
    /// 32 bits.
    package static let allOnDisconnectByteCount = 1024 * 1024 * 1024
    /// Bytes of one commit. Source: docs/LOG_FORMAT.md, payload of a record.
    package static let commitByteCount = 512 * 1024 * 1024
    /// Databases in one server, those that only readers have named included.
    package static let databases = 10_000
    /// Paths of one multi-path update.
    package static let mergeEntries = 100_000
    /// Nodes of a value that is encoded at once; a larger one leaves as a stream.
    package static let nodesEncodedAtOnce = 4_096
    /// Nodes of a map whose hash is compared with that of a listen; data above it is sent again.
    package static let nodesHashedForListen = 10_000
    /// Nodes hashed on the loop for a transaction; the hash of more is an inquiry.
    package static let nodesHashedAtOnce = 2_000
    /// Nodes of a replaced subtree from which on its memory is given back elsewhere.
    package static let nodesReleasedAtOnce = 4_096
    /// Listens judged again within the commit that touched what their rule looked at; of more, only
    /// those of the writer's own connection are, and the others wait for their turn.
    package static let verdictsAtOnce = 1_000
}
