import JSONTree

/// A transaction from its first run to its end.
struct Transaction {
    enum Status: Equatable {
        /// It has a result that was not sent, or was found to start from old data.
        case run
        /// Its result is with the server, or waits in the link for a connection.
        case sent
        /// The same; and unless the server accepts it, it ends with this failure.
        case sentToFail(SyncFailure)
        case failed(SyncFailure)
    }

    let request: TransactionRequest
    /// The silent observer that keeps the data here current.
    let observer: ObserverID

    /// The write that shows the result, or hides it in the tree.
    var writeID: WriteID
    var input: Node
    var draft: Draft
    /// The same with server values filled in, as far as they are known here.
    var result: Node

    var status = Status.run
    /// How often a result was sent. At most `SyncLimits.transactionRuns`.
    var sentCount = 0
    /// Whether the server found that it started from old data: it runs again, even if nothing new is known.
    var isStale = false

    var path: Path { request.path }
}
