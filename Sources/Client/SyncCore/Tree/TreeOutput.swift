import JSONTree
import WireProtocol

/// The effects of a step of the tree, in order.
struct TreeOutput {
    var events: [(observer: ObserverID, event: ObservedEvent)] = []
    /// Listens to start and stop at the server.
    var listens: [ListenChange] = []
    /// Changes for the disk cache; stays empty without one.
    var stored: [StoreChange] = []
}

/// A start or stop of a listen.
enum ListenChange {
    /// Listen from now on. The tag is that of a query.
    case start(ListenTarget, tag: Int64?)
    /// Stop listening.
    case stop(ListenTarget, tag: Int64?)
}
