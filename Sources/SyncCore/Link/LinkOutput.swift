import JSONTree
import WireProtocol

/// What a step of the link leads to, in order.
enum LinkNews {
    /// Requests can be sent from now on; milliseconds that the server's clock is ahead of ours.
    case connected(serverTimeOffset: Int64)
    /// The connection is gone. Hashed writes that were sent and not answered fail, by `written`,
    /// before this.
    case disconnected
    /// The server changed data that is listened to.
    case put(WriteTarget, Node, tag: Int64?)
    /// Several places, counted from the root, changed at once.
    case merge(Path, [(target: WriteTarget, node: Node)], tag: Int64?)
    case rangeMerge(Path, [RangeMerge], tag: Int64?)
    /// A listen is in place, with all its data sent before; whether the server says that it has no
    /// index for it.
    case listening(ListenTarget, tag: Int64?, isUnindexed: Bool)
    /// The server answered an earlier plain listen of what is listened to, or the end of it.
    case earlierListenAnswered(ListenTarget)
    /// A listen was refused or revoked; the link has forgotten it.
    case revoked(ListenTarget, SyncFailure)
    /// A write was answered, or failed for good.
    case written(WriteID, SyncFailure?)
    /// A hashed write found other data: the transaction runs again.
    case stale(WriteID)
    /// A get was answered.
    case got(CallID, Result<Node, SyncFailure>)
    /// An on-disconnect request was answered.
    case onDisconnect(OnDisconnectID, SyncFailure?)
}

/// Names an on-disconnect request of this client.
struct OnDisconnectID: Hashable {
    let value: Int64
}

/// What a write sends.
struct LinkWrite {
    enum Body {
        case put(WriteTarget, Draft)
        /// Several places, counted from the root, changed at once.
        case merge(Path, [MergeEntry])
    }

    let id: WriteID
    let body: Body
    /// The hash of the data that a transaction started from. Such a write is never sent twice.
    let hash: String?
}
