import JSONTree
import Queries
import WireProtocol

/// The server data of listens that are closed, kept for who opens them again. The listens closed longest ago are
/// dropped first to make room.
struct ClosedListens {
    private struct Entry {
        let node: Node
        let byteCount: Int
        /// When it was closed; counted up.
        let number: Int
    }

    private let byteLimit: Int
    private var entries: [ListenTarget: Entry] = [:]
    /// Targets by when they were closed, some of them opened since.
    private var order: [(target: ListenTarget, number: Int)] = []
    private var first = 0
    private var lastNumber = 0
    private var byteCount = 0

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    mutating func add(_ target: ListenTarget, _ node: Node) -> [ListenTarget] {
        remove(target)
        lastNumber += 1
        let node = node.detached()
        let entry = Entry(node: node, byteCount: node.encodingByteCount, number: lastNumber)
        entries[target] = entry
        order.append((target, lastNumber))
        byteCount += entry.byteCount
        var dropped: [ListenTarget] = []
        while byteCount > byteLimit && first < order.count {
            let (target, number) = order[first]
            first += 1
            if entries[target]?.number != number { continue }
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

    /// The initial data of a view of a target: its own listen's data, or the part of a plain listen at or above it.
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
