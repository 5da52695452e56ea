package import JSONTree
package import Queries

/// What the shell must do, in order.
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
    /// Tell an observer.
    case tell(ObserverID, ObservedEvent)
    /// Tell a call its outcome.
    case finish(CallID, Outcome)
    /// Keep something on disk, or forget it.
    case store(StoreChange)
    /// Tell the developer.
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

    /// Makes an address.
    package init(host: String, isSecure: Bool, target: String) {
        self.host = host
        self.isSecure = isSecure
        self.target = target
    }
}

/// One thing that an observer is told.
package enum ObservedEvent: Sendable {
    /// The node at the path, of a query what it selects; with the node's own priority.
    case value(Node)
    /// One child came, left, moved or changed.
    case child(ChildEvent)
    /// Nothing more is told, for this reason.
    case cancelled(SyncFailure)
}

/// How a call ended.
package enum Outcome: Sendable {
    /// The server accepted it.
    case done
    /// What a `get` found; the node as `ObservedEvent.value` gives it.
    case value(Node)
    /// A transaction ended without an error; the node that is there then.
    case transaction(isCommitted: Bool, Node)
    /// It did not come to be.
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
    /// There is no connection, and nothing is cached.
    case offline
}

/// What a developer should know.
package enum Warning: Equatable, Sendable {
    /// A query has no index; the rules at this path want `.indexOn`.
    case missingIndex(Path, index: QuerySpec.Index)
    /// The server refused a write that nobody is told about.
    case writeRefused(Path, SyncFailure)
    /// The server refused a listen.
    case listenRefused(Path, SyncFailure)
    /// The server refused the credential.
    case credentialRefused(String)
    /// The server wants this client to stay away: its words.
    case shutDown(String)
    /// What the server says to who debugs its rules.
    case securityDebug(String)
    /// The server sent something that is no message; the connection was closed.
    case badMessage(String)
    /// No connection came to be, and why; only the first of a row of such tries `isFirst`. Others follow.
    case notConnected(String, isFirst: Bool)
    /// A connection was lost, and why. The next is on its way.
    case connectionLost(String)
}
