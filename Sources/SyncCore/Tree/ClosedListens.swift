import JSONTree
import Queries
import WireProtocol

/// The server data of listens that are closed, kept for who opens them again.
///
/// Those closed longest ago are dropped first when there is no room.
struct ClosedListens {
    private struct Entry {
        let node: Node
        let byteCount: Int
        /// When it was closed; counted up.
        let turn: Int
    }

    private let byteLimit: Int
    private var entries: [ListenTarget: Entry] = [:]
    /// Targets by when they were closed, some of them opened since.
    private var order: [(target: ListenTarget, turn: Int)] = []
    private var first = 0
    private var lastTurn = 0
    private var byteCount = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Adds a listen and returns those that there is no room for any more.
    mutating func add(_ target: ListenTarget, _ node: Node) -> [ListenTarget] {
        remove(target)
        lastTurn += 1
        let node = node.detached()
        let entry = Entry(node: node, byteCount: node.encodingByteCount, turn: lastTurn)
        entries[target] = entry
        order.append((target, lastTurn))
        byteCount += entry.byteCount
        var dropped: [ListenTarget] = []
        while byteCount > byteLimit && first < order.count {
            let (target, turn) = order[first]
            first += 1
            if entries[target]?.turn != turn { continue }
            remove(target)
            dropped.append(target)
        }
        if first > 32 && 2 * first > order.count {
            order.removeFirst(first)
            first = 0
        }
        return dropped
    }

    /// Takes a listen out and returns its data; nil if it is not there.
    @discardableResult
    mutating func remove(_ target: ListenTarget) -> Node? {
        guard let entry = entries.removeValue(forKey: target) else { return nil }
        byteCount -= entry.byteCount
        return entry.node
    }

    mutating func removeAll() { self = ClosedListens(byteLimit: byteLimit) }

    /// What a view of a target can start with: its own listen's data, or the part of a plain one at
    /// or above.
    func data(_ target: ListenTarget) -> ServerData? {
        if entries.isEmpty { return nil }
        if !target.query.loadsEverything, let entry = entries[target] {
            return ServerData(entry.node, isFiltered: true, isLive: false)
        }
        for keyCount in (0...target.path.keyCount).reversed() {
            let plain = ListenTarget(path: target.path.prefix(keyCount))
            guard let entry = entries[plain] else { continue }
            let node = entry.node.descendant(at: target.path.dropFirst(keyCount))
            return ServerData(node, isLive: false)
        }
        return nil
    }
}
