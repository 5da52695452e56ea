import EventProtocol
import JSONTree
import Queries

/// What all listens with equal path, query and encoding see; worked out once per commit for all.
final class View {
    /// How changes are sent.
    enum Encoding: Hashable {
        /// By the wire protocol: data from which the client makes events.
        case wire
        /// By the plain event protocol: these events.
        case events(EventSet, Node.JSONForm)
        /// By server-sent events: values to be put in place.
        case serverSent(isExport: Bool)
    }

    let node: WatchedNode
    let query: QuerySpec
    let encoding: Encoding
    /// The children in sight; nil for a view of all children by the wire protocol or server-sent events, which
    /// shows the node itself.
    var window: QueryView?
    /// The index that `window` walks; nil for none, or for key order.
    let index: KeptIndex?
    /// Listens without a number.
    private(set) var plain = Receivers<ConnectionID>()
    /// Listens with a tag or an observer's id.
    private(set) var numbered = Receivers<NumberedReceiver>()
    /// Listens that belong here but await a decision.
    private(set) var suspendedCount = 0

    init(
        node: WatchedNode,
        query: QuerySpec,
        encoding: Encoding,
        window: QueryView?,
        index: KeptIndex?,
    ) {
        self.node = node
        self.query = query
        self.encoding = encoding
        self.window = window
        self.index = index
    }

    var key: ViewKey { ViewKey(query: query, encoding: encoding) }

    var isUnused: Bool { plain.isEmpty && numbered.isEmpty && suspendedCount == 0 }

    /// The children of `node`, a state of the watched one, in the order of the query.
    func children(of node: Node) -> OrderedChildren {
        OrderedChildren(node, index: index?.ready)
    }

    func add(_ listen: Listen) {
        let connection = listen.session.connection
        if let number = listen.number {
            numbered.add(listen, NumberedReceiver(connection: connection, number: number))
        } else {
            plain.add(listen, connection)
        }
    }

    func remove(_ listen: Listen) {
        if listen.index == nil {
            suspendedCount -= 1
        } else {
            take(listen)
        }
    }

    /// Takes a listen off the receivers until it is decided.
    func suspend(_ listen: Listen) {
        if listen.index == nil { return }
        take(listen)
        suspendedCount += 1
    }

    /// Puts a suspended listen back.
    func resume(_ listen: Listen) {
        suspendedCount -= 1
        add(listen)
    }

    private func take(_ listen: Listen) {
        if listen.number != nil { numbered.remove(listen) } else { plain.remove(listen) }
    }
}

/// Listens and, side by side, their receivers.
///
/// Invariant: `all[i]` is the receiver of `listens[i]`, and `listens[i].index == i`.
struct Receivers<Receiver> {
    private var listens: [Listen] = []
    private(set) var all: [Receiver] = []

    var isEmpty: Bool { all.isEmpty }

    mutating func add(_ listen: Listen, _ receiver: Receiver) {
        precondition(listen.index == nil, "a listen is added once")
        listen.index = listens.count
        listens.append(listen)
        all.append(receiver)
    }

    /// O(1): the last listen takes the free index.
    mutating func remove(_ listen: Listen) {
        guard let index = listen.index else { return }
        listens.swapAt(index, listens.count - 1)
        all.swapAt(index, all.count - 1)
        listens.removeLast()
        all.removeLast()
        if index < listens.count { listens[index].index = index }
        listen.index = nil
    }
}
