import JSONTree

/// A transaction from its first run to its end.
struct Transaction {
    /// Where it stands.
    enum Status: Equatable {
        /// It has a result that was not sent, or was found to start from old data.
        case run
        /// Its result is with the server, or waits in the link for a connection.
        case sent
        /// The same; and unless the server accepts it, it ends with this failure.
        case sentToFail(SyncFailure)
        /// It ends with this failure.
        case failed(SyncFailure)
    }

    /// What the app asked for.
    let request: TransactionRequest
    /// The observer, told of nothing, that keeps the data here up to date.
    let observer: ObserverID

    /// The write that shows the result, or hides it in the tree.
    var writeID: WriteID
    /// What the function was given.
    var input: Node
    /// What the function made of it.
    var draft: Draft
    /// The same with server values filled in as far as is known here.
    var result: Node

    var status = Status.run
    /// How often a result was sent. At most `SyncLimits.transactionRuns`.
    var sentCount = 0
    /// Whether the server found that it started from old data: it runs again, even if nothing new is known.
    var isStale = false

    var path: Path { request.path }
}
