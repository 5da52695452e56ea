/// Hard limits of the state machine: everything in it that can grow has a number here.
package enum Limits {
    /// Listens of one session.
    package static let listensPerSession = 10_000
    /// Listens that end within the step that ends their session; more end in later ticks.
    package static let listensEndedAtOnce = 64
    /// Listens of all sessions of one database.
    package static let listensPerDatabase = 4_000_000
    /// Different listens (path, query, encoding) of one database.
    package static let viewsPerDatabase = 1_000_000
    /// Children of the largest node whose index is built within the step that needs it: about 1 ms.
    package static let childrenIndexedAtOnce = 1_000
    /// Indexes of one node that the rules do not declare: a commit below it brings each up to date.
    package static let undeclaredIndexesPerNode = 16
    /// Entries of all indexes that the rules do not declare; one takes about 40 bytes. No further one is made
    /// beyond it.
    package static let undeclaredIndexEntries = 10_000_000
    /// Indexes kept although nothing walks them at the moment.
    package static let keptIndexes = 10_000
    /// How long an index is kept that nothing has used.
    package static let idleIndexMilliseconds: Int64 = 5 * 60 * 1_000
    /// Differences that an index takes in at once when it has been worked out; more are followed elsewhere.
    package static let differencesFollowedAtOnce = 2_000
    /// How often an index follows later commits elsewhere before it takes in the rest at once.
    package static let indexFollows = 8
    /// Children whose events are encoded once for all observers; those of more are made for each as its socket drains.
    package static let eventsAtOnce = 256
    /// Bytes of the events of one change that are encoded once for all observers; the rest is made for each
    /// as its socket drains, so that no burst of them fills a queue. Below the smallest useful queue limit.
    package static let eventByteCountAtOnce = 1024 * 1024
    /// Requests of one connection that wait behind an inquiry (a token check, a long hash).
    package static let parkedMessages = 10_000
    /// Parked messages of one session, or of those who wait for one index, that go on in one portion.
    package static let messagesAtOnce = 16
    /// Increments of one write whose paths the rules are asked about before the answer shows their sums; the sums of
    /// more are left out.
    package static let sumsAsked = 100
    /// On-disconnect writes of one session.
    package static let onDisconnectWrites = 1_000
    /// Bytes of the commits that only remove data, and of on-disconnect writes that run, while the disk is below its
    /// reserve, until there is room again: a quarter of a segment of the log, whose room is taken beforehand (less on a
    /// small disk).
    package static let removalByteCount = 16 * 1024 * 1024
    /// Sessions whose on-disconnect writes or identities waited for room in the log, and are committed within one step.
    package static let roomWaitersAtOnce = 64
    /// How often the remaining on-disconnect writes of a session are decided together, once some are refused.
    package static let disconnectRounds = 8
    /// Bytes of the on-disconnect writes of one session, as the log keeps them: they become one commit.
    package static let onDisconnectByteCount = 64 * 1024 * 1024
    /// The same of all sessions of one database: they stand in the head of its checkpoint, whose length has 32 bits.
    package static let allOnDisconnectByteCount = 1024 * 1024 * 1024
    /// Rulesets that one database stores.
    package static let storedRulesets = 100
    /// Versions of its own rules that one database keeps.
    package static let rulesVersions = 100
    /// Bytes of the texts of these versions: 32 of the longest. They stand in the head of a checkpoint.
    package static let rulesVersionsByteCount = 8 * 1024 * 1024
    /// Bytes of the name of who changed rules.
    package static let authorByteCount = 200
    /// Bytes of stored rulesets that are loaded within the step that needs them: about 1 ms.
    package static let rulesLoadedAtOnceByteCount = 4 * 1024
    /// Ways in which shadow rules differ that are counted separately.
    package static let shadowDifferences = 100
    /// Newest examples of each of them.
    package static let shadowExamples = 20
    /// Bytes of a path, a user's identifier or an expression in a report on shadow rules.
    package static let shadowTextByteCount = 256
    /// Bytes of one commit. Source: docs/internals/LOG_FORMAT.md, payload of a record.
    package static let commitByteCount = 512 * 1024 * 1024
    /// Databases in one server, those that only readers have named included.
    package static let databases = 10_000
    /// Paths of one multi-path update.
    package static let mergeEntries = 100_000
    /// Paths and server values of a write that the rules are asked about within the step that brings it: about 1 ms.
    /// Those of more are asked elsewhere.
    package static let pathsDecidedAtOnce = 500
    /// Children that a query selects within the step that asks for them: about 1 ms. More are collected elsewhere.
    package static let childrenSelectedAtOnce = 500
    /// Nodes of a write that is decided and made within the step that brings it: some ms. Larger ones are made elsewhere.
    package static let nodesDecidedAtOnce = 4_096
    /// Nodes of a value that is encoded at once; a larger one leaves as a stream.
    package static let nodesEncodedAtOnce = 4_096
    /// Nodes hashed on the loop for a transaction or for a listen whose client has data already; the
    /// hash of more is an inquiry.
    package static let nodesHashedAtOnce = 2_000
    /// How often a large node is compared anew for a write that has a condition, and a large write is decided
    /// elsewhere, because it changed meanwhile.
    package static let comparisons = 3
    /// Paths that may change while data is compared elsewhere and are then sent one by one; beyond it all is sent
    /// again.
    package static let changesWhileComparing = 1_000
    /// Nodes of a replaced subtree from which on its memory is given back elsewhere.
    package static let nodesReleasedAtOnce = 4_096
    /// Listens authorized again within the commit that changed what their rule looked at. Of more, only those of the
    /// writer's own connection are; the others wait for later ticks.
    package static let decisionsAtOnce = 1_000
}
