import JSONTree
import WireProtocol

/// What a step of the tree leads to, in order.
struct TreeOutput {
    /// What observers are told.
    var events: [(observer: ObserverID, event: ObservedEvent)] = []
    /// What the server must be told of listens.
    var listens: [ListenChange] = []
    /// What the disk cache must keep; stays empty without one.
    var stored: [StoreChange] = []
}

/// A change of what the server tells this client.
enum ListenChange {
    /// Listen from now on. The tag is that of a query.
    case start(ListenTarget, tag: Int64?)
    /// Stop listening.
    case stop(ListenTarget, tag: Int64?)
}

/// A write as the client sees it until the server has spoken: server values filled in.
enum LocalWrite {
    case set(WriteTarget, Node)
    case merge([(target: WriteTarget, node: Node)])
}
