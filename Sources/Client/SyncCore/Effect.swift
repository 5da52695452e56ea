package import JSONTree
package import Queries

/// An operation for the shell; all are done in order.
package enum Effect: Sendable {
    /// Open a WebSocket; `Input.opened` or `Input.closed` follows.
    case open(SocketID, SocketAddress)
    /// Send text frames, in order and with none between them.
    case send(SocketID, frames: [[UInt8]])
    /// Close a socket. `Input.closed` may or may not follow; it is of no use any more.
    case close(SocketID)
    /// Give `Input.woke` at this time; replaces the time before. Nil: never.
    case wake(at: Timestamp?)
    /// Give `Input.tokenFetched`; one is under way at most.
    case fetchToken(forcingRefresh: Bool)
    /// Notify an observer.
    case tell(ObserverID, ObservedEvent)
    /// Report the outcome of a call.
    case finish(CallID, Outcome)
    /// Keep something on disk, or forget it.
    case store(StoreChange)
    /// Warn the developer.
    case warn(Warning)
}

/// Where a WebSocket is opened.
package struct SocketAddress: Equatable, Sendable {
    /// Host and port as in a URL: `localhost:9000`, `[::1]:9000`, `db.example.org`.
    package let host: String
    /// Whether with TLS.
    package let isSecure: Bool
    /// Path and query: `/.ws?v=5&ns=demo`.
    package let target: String
}

/// One event for an observer.
package enum ObservedEvent: Sendable {
    /// The node at the path, or what a query selects of it, with the node's own priority.
    case value(Node)
    /// One child came, left, moved or changed.
    case child(ChildEvent)
    /// No further events, for this reason.
    case cancelled(SyncFailure)
}

/// How a call ended.
package enum Outcome: Sendable {
    /// The server accepted it.
    case done
    /// The result of a `get`; the node as `ObservedEvent.value` gives it.
    case value(Node)
    /// A transaction ended without an error; the node that is there then.
    case transaction(isCommitted: Bool, Node)
    /// It failed.
    case failed(SyncFailure)
}

/// Why a call or an observer failed.
package enum SyncFailure: Error, Equatable, Sendable {
    /// The server refused: its status and its words.
    case refused(status: String, message: String)
    /// The connection was lost before the server answered a write that is not sent twice: `disconnect`.
    case disconnected
    /// A transaction was run as often as may be: `maxretry`.
    case tooManyRetries
    /// A write of this client went over a transaction: `set`.
    case overriddenBySet
    /// The write was given up: `write_canceled`.
    case writeCancelled
    /// There is no connection and no cached value.
    case offline
}

/// Warnings for the developer.
package enum Warning: Equatable, Sendable {
    /// A query has no index; the rules at this path want `.indexOn`.
    case missingIndex(Path, index: QuerySpec.Index)
    /// The server refused a write whose outcome no call awaits.
    case writeRefused(Path, SyncFailure)
    /// The server refused a listen.
    case listenRefused(Path, SyncFailure)
    /// The server refused the credential.
    case credentialRefused(String)
    /// The server closes the connection for good, with this text.
    case shutDown(String)
    /// The server's messages for developers who debug their rules.
    case securityDebug(String)
    /// The server sent an invalid message; the connection was closed.
    case badMessage(String)
    /// No connection came to be, and why; only the first of a row of such tries `isFirst`. Others follow.
    case notConnected(String, isFirst: Bool)
    /// A connection was lost, and why. The next is on its way.
    case connectionLost(String)
}
