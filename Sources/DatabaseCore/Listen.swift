import JSONTree
import Queries
import WireProtocol

/// A session's registration on a path and query.
final class Listen {
    let id: ListenID
    let target: ListenTarget
    let tag: Int64?
    /// The session owns its listens and outlives them.
    unowned let session: Session
    let view: View
    /// Where this listen stands in `view.listens`; nil while it awaits a verdict and receives nothing.
    var index: Int?
    /// The paths that its read rule looked at when last judged.
    var lookedAt: [Path] = []

    init(id: ListenID, target: ListenTarget, tag: Int64?, session: Session, view: View) {
        self.id = id
        self.target = target
        self.tag = tag
        self.session = session
        self.view = view
    }
}

/// What all listens with equal path and query see; worked out once per commit for all of them.
///
/// Invariant: `receivers[i]` is the connection of `listens[i]`, and `listens[i].index == i`.
final class View {
    let path: Path
    let query: QuerySpec
    /// The children in sight; nil for a default view, which shows the node itself.
    var window: QueryView?
    private(set) var listens: [Listen] = []
    private(set) var receivers: [ConnectionID] = []
    /// Listens that belong here but await a verdict.
    private(set) var heldCount = 0
    /// The commit that last visited this view, so that one with many paths visits it once.
    var visitedBy = CommitNumber.zero

    init(path: Path, query: QuerySpec, window: QueryView?) {
        self.path = path
        self.query = query
        self.window = window
    }

    var isUnused: Bool { listens.isEmpty && heldCount == 0 }

    func add(_ listen: Listen) {
        precondition(listen.index == nil, "a listen is added once")
        listen.index = listens.count
        listens.append(listen)
        receivers.append(listen.session.connection)
    }

    /// O(1): the last listen takes the free place.
    func remove(_ listen: Listen) {
        guard let index = listen.index else {
            heldCount -= 1
            return
        }
        take(listen, at: index)
    }

    /// Takes a listen off the receivers until it has its verdict.
    func hold(_ listen: Listen) {
        guard let index = listen.index else { return }
        take(listen, at: index)
        heldCount += 1
    }

    /// Gives a held listen its place back.
    func resume(_ listen: Listen) {
        heldCount -= 1
        add(listen)
    }

    private func take(_ listen: Listen, at index: Int) {
        listens.swapAt(index, listens.count - 1)
        receivers.swapAt(index, receivers.count - 1)
        listens.removeLast()
        receivers.removeLast()
        if index < listens.count { listens[index].index = index }
        listen.index = nil
    }

    /// The receivers by tag, tags in ascending order; one group for a default view.
    func receiversByTag() -> [(tag: Int64?, receivers: [ConnectionID])] {
        if window == nil { return receivers.isEmpty ? [] : [(nil, receivers)] }
        var groups: [Int64?: [ConnectionID]] = [:]
        for listen in listens { groups[listen.tag, default: []].append(listen.session.connection) }
        return groups.keys.sorted { ($0 ?? 0) < ($1 ?? 0) }.map { ($0, groups[$0] ?? []) }
    }
}
