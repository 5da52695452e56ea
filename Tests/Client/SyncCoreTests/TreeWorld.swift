import JSONTree
import Queries
import TestSupport
import Testing
import WireProtocol

@testable import SyncCore

/// A server of one tree, as far as one client sees it: listens, pushes, answers, all in order.
struct TreeServer {
    enum Request {
        case listen(ListenTarget, tag: Int64?, turn: Int, hash: String)
        case unlisten(ListenTarget, tag: Int64?)
        case write(WriteID, [PlainPlace])
    }

    enum Message {
        case push([PlainPlace], tag: Int64?, isMerge: Bool)
        case answered(ListenTarget, tag: Int64?, turn: Int)
        /// The turn is that of the listen that is refused; nil for one that was in place.
        case revoked(ListenTarget, tag: Int64?, turn: Int?)
        case settled(WriteID, isRefused: Bool)
    }

    private struct Listen {
        let target: ListenTarget
        let tag: Int64?
        var path: [String] { Plain.keys(target.path) }
    }

    private(set) var tree = Plain.absent
    /// Without, a query is answered with all that is there, and notified of all that changes there, without its tag.
    var hasIndexes = true
    private var listens: [Listen] = []
    /// Messages on their way to the client.
    var messages: [Message] = []

    mutating func receive(_ request: Request, _ random: inout SeededGenerator) {
        switch request {
        case .listen(let target, let tag, let turn, let hash):
            let listen = Listen(target: target, tag: tag)
            listens.removeAll { $0.target == target }
            if random.index(25) == 0 {
                messages.append(.revoked(target, tag: tag, turn: turn))
                return
            }
            listens.append(listen)
            let isWhole = tag != nil && !hasIndexes
            let node = isWhole ? tree[listen.path] : shown(listen, tree)
            if isWhole || !node.node.matches(hash: hash) || isUncertain(listen) {
                let place = PlainPlace(path: listen.path, value: node)
                messages.append(.push([place], tag: isWhole ? nil : tag, isMerge: false))
            }
            messages.append(.answered(target, tag: tag, turn: turn))
        case .unlisten(let target, let tag):
            listens.removeAll { $0.target == target && $0.tag == tag }
        case .write(let id, let places):
            let isRefused = random.index(4) == 0
            if !isRefused {
                // Now and then the server makes something else of it, as of a server value.
                var places = places
                if random.index(4) == 0, places[0].value.scalar != nil {
                    places[0].value.scalar = .number(9)
                }
                commit(places, &random)
            }
            messages.append(.settled(id, isRefused: isRefused))
        }
    }

    /// Whether data of an earlier plain listen for just this path is under way.
    ///
    /// The client cannot tell it from data of this listen: should this one be answered without, it
    /// would stay with the older data. That needs a listen that is stopped and started again while
    /// its data is under way.
    private func isUncertain(_ listen: Listen) -> Bool {
        messages.contains { message in
            guard case .push(let places, nil, false) = message else { return false }
            return places[0].path == listen.path && !places[0].isPriority
        }
    }

    /// Applies one change and tells every listen.
    mutating func commit(_ places: [PlainPlace], _ random: inout SeededGenerator) {
        let old = tree
        tree.write(places)
        for listen in listens {
            if listen.tag == nil || !hasIndexes {
                push(places, listen, old, &random)
            } else {
                pushChildren(listen, old, &random)
            }
        }
    }

    mutating func revokeOne(_ random: inout SeededGenerator) {
        if listens.isEmpty { return }
        let listen = listens.remove(at: random.index(listens.count))
        messages.append(.revoked(listen.target, tag: listen.tag, turn: nil))
    }

    /// The connection is lost, and what is under way with it.
    mutating func disconnect() {
        listens = []
        messages = []
    }

    private func shown(_ listen: Listen, _ tree: Plain) -> Plain {
        PlainOrder.result(tree[listen.path], listen.target.query)
    }

    private mutating func push(
        _ places: [PlainPlace],
        _ listen: Listen,
        _ old: Plain,
        _ random: inout SeededGenerator,
    ) {
        let path = listen.path
        if old[path] == tree[path] { return }
        var pushed: [PlainPlace] = []
        if random.index(6) == 0 || places.contains(where: { $0.covers(path) }) {
            pushed = [PlainPlace(path: path, value: tree[path])]
        } else {
            for place in places where place.path.starts(with: path) {
                let now = tree[place.path]
                if now == old[place.path] { continue }
                let value = place.isPriority ? Plain(now.priority) : now
                pushed.append(
                    PlainPlace(path: place.path, isPriority: place.isPriority, value: value)
                )
            }
        }
        if pushed.isEmpty { return }
        let isMerge = pushed.count > 1 || pushed[0].path.count > path.count && random.index(3) == 0
        messages.append(.push(pushed, tag: nil, isMerge: isMerge))
    }

    private mutating func pushChildren(
        _ listen: Listen,
        _ old: Plain,
        _ random: inout SeededGenerator,
    ) {
        let (before, now) = (shown(listen, old), shown(listen, tree))
        if before == now { return }
        let path = listen.path
        if now.isAbsent || random.index(6) == 0 {
            let place = PlainPlace(path: path, value: now)
            messages.append(.push([place], tag: listen.tag, isMerge: false))
            return
        }
        var pushed: [PlainPlace] = []
        for key in Set(before.children.keys).union(now.children.keys).sorted() {
            let (was, child) = (before.child(key), now.child(key))
            if was == child { continue }
            // One change below a child is reported as such.
            let deep = Set(was.children.keys).union(child.children.keys)
                .filter { was.child($0) != child.child($0) }.sorted()
            if was.isMap, child.isMap, was.priority == child.priority, deep.count == 1 {
                let place = path + [key, deep[0]]
                pushed.append(PlainPlace(path: place, value: child.child(deep[0])))
            } else {
                pushed.append(PlainPlace(path: path + [key], value: child))
            }
        }
        messages.append(.push(pushed, tag: listen.tag, isMerge: true))
    }
}

/// What a disk cache makes of what the tree tells it.
struct TreeDisk {
    private(set) var listens: [ListenTarget: Node] = [:]
    private(set) var order: [ListenTarget] = []

    mutating func apply(_ changes: [StoreChange]) {
        for change in changes {
            switch change {
            case .saveListen(let target, let node):
                listens[target] = node
                order.removeAll { $0 == target }
                order.append(target)
            case .saveChildren(let target, let children):
                #expect(listens[target] != nil, "children are saved of a listen that is there")
                for (key, node) in children {
                    listens[target]?.set(node, at: Path([key]))
                }
            case .useListen(let target, _):
                #expect(listens[target] != nil, "a listen that is used is there")
                order.removeAll { $0 == target }
                order.append(target)
            case .removeListen(let target):
                listens[target] = nil
                order.removeAll { $0 == target }
            case .removeAll: self = TreeDisk()
            case .saveWrite, .removeWrite, .account:
                Issue.record("writes and owners are not the tree's to store")
            }
        }
    }

    var stored: [StoredListen] {
        order.compactMap { target in
            listens[target].map { StoredListen(target: target, node: $0, isActive: false) }
        }
    }
}
