package import JSONTree
import WireProtocol

/// The client's own data under `.info`: never sent to the server, never read from it.
///
/// - `connected`: whether requests can be sent; false from the start.
/// - `serverTimeOffset`: milliseconds that the server's clock is ahead; absent until known.
///
/// Observers of absent data get no event until it exists, as in the official clients.
final class InfoTree {
    private let tree = SyncTree(isStored: false)
    /// The root's value: only the data under `.info`.
    private var root = Node.absent
    private var listens: [(target: ListenTarget, tag: Int64?)] = []

    typealias Events = [(observer: ObserverID, event: ObservedEvent)]

    init() { root.set(Node(false), at: .infoConnected) }

    func add(_ observer: Observer) -> Events {
        var output = TreeOutput()
        tree.add(observer, &output)
        follow(&output)
        return output.events
    }

    func remove(_ id: ObserverID) {
        var output = TreeOutput()
        tree.remove(id, &output)
        follow(&output)
    }

    /// Something is so from now on.
    func set(_ node: Node, at path: Path) -> Events {
        root.set(node, at: path)
        var output = TreeOutput()
        for listen in listens where listen.target.path.isAboveOrBelow(path) {
            answer(listen, &output)
        }
        return output.events
    }

    func result(_ target: ListenTarget) -> Node {
        tree.result(target, ofServerData: root.descendant(at: target.path))
    }

    /// Acts as a server would.
    private func follow(_ output: inout TreeOutput) {
        let changes = output.listens
        for change in changes {
            switch change {
            case .start(let target, let tag):
                listens.append((target, tag))
                answer((target, tag), &output)
            case .stop(let target, let tag):
                listens.removeAll { $0.target == target && $0.tag == tag }
            }
        }
    }

    private func answer(_ listen: (target: ListenTarget, tag: Int64?), _ output: inout TreeOutput) {
        let node = root.descendant(at: listen.target.path)
        if node.isAbsent { return }
        tree.apply(WriteTarget(path: listen.target.path), node, tag: listen.tag, &output)
        tree.listenAnswered(listen.target, tag: listen.tag, &output)
    }
}

extension Path {
    /// `.info`: the client's own data. No text is read as this path, since keys have no dot.
    package static let info = Path([Key(unchecked: Array(".info".utf8))])
    /// `.info/connected`.
    package static let infoConnected = info.appending(Key(unchecked: Array("connected".utf8)))
    /// `.info/serverTimeOffset`.
    package static let infoServerTimeOffset = info.appending(
        Key(unchecked: Array("serverTimeOffset".utf8))
    )

    /// Whether this is `.info` or below it.
    package var isInfo: Bool { Path.info.isPrefix(of: self) }

    /// Whether one of the two holds the other.
    func isAboveOrBelow(_ other: Path) -> Bool { isPrefix(of: other) || other.isPrefix(of: self) }
}
