import JSONTree
import WireProtocol

/// The effects of a step of the link, in order.
enum LinkNews {
    /// Requests can be sent from now on; milliseconds that the server's clock is ahead of this one.
    case connected(serverTimeOffset: Int64)
    /// The connection is gone. Hashed writes that were sent and not answered fail, by `written`, before this.
    case disconnected
    /// The server changed data that is listened to.
    case put(WriteTarget, Node, tag: Int64?)
    /// Several locations, counted from the root, changed at once.
    case merge(Path, [(target: WriteTarget, node: Node)], tag: Int64?)
    case rangeMerge(Path, [RangeMerge], tag: Int64?)
    /// A listen is active and all its data was sent; says whether the server has no index for it.
    case listening(ListenTarget, tag: Int64?, isUnindexed: Bool)
    /// The server answered an earlier plain listen of a present target, or its end.
    case earlierListenAnswered(ListenTarget)
    /// A listen was refused or revoked; the link has forgotten it.
    case revoked(ListenTarget, SyncFailure)
    case written(WriteID, SyncFailure?)
    /// A hashed write found other data: the transaction runs again.
    case stale(WriteID)
    case got(CallID, Result<Node, SyncFailure>)
    case onDisconnect(OnDisconnectID, SyncFailure?)
}

/// Names an on-disconnect request of this client.
struct OnDisconnectID: Hashable {
    let value: Int64
}

struct LinkWrite {
    let id: WriteID
    let body: StoredWrite
    /// The hash of the data that a transaction started from. Such a write is never sent twice.
    let hash: String?
}
