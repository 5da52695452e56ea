import JSONTree
import Queries
import SyncCore
import WireProtocol

/// One app: a client, who observes with it, what it has asked for, and the twin of what it must know.
struct SyncPeer {
    /// What was asked for.
    enum Asked {
        case write, get, later
        /// A write at a path where no other client writes; its number.
        case own(Int64)
        case transaction(NaivePath)
        case increment(NaivePath)
    }

    /// An observer, which believes the events it receives.
    struct Observer {
        var watcher: Watcher
        /// Whether it ever received all there is.
        var isComplete = false
        /// The commit whose state it has shown last.
        var commit = 0
    }

    /// What became of the writes at one path where no other client writes, oldest first.
    struct OwnWrite {
        enum Fate {
            /// The call has no outcome yet.
            case pending
            /// No call waits for it any more; the disk cache had it, so it will land.
            case restored
            /// It landed.
            case done
            /// It did not land, or its outcome is unknown.
            case lost
        }

        let number: Int64
        var fate = Fate.pending
    }

    let name: Int
    var client: SyncClient
    var twin: SyncTwin
    let isStored: Bool
    var stored = StoredState()
    var observers: [UInt64: Observer] = [:]
    var asked: [UInt64: Asked] = [:]
    var laterWrites: [UInt64: NaiveWrite?] = [:]
    /// What the server has promised to write when the connection is lost.
    var promised: [NaiveWrite] = []
    var ownWrites: [OwnWrite] = []
    var kept: [ListenTarget] = []
    var socket: SocketID?
    /// The sockets of clients before a restart have numbers below this.
    var firstSocket: UInt64 = 0
    var wakeTime: Int64?
    var wantsToken = false
    var account: String?
    var isOffline = false

    init(name: Int, isStored: Bool, seed: UInt64) {
        self.name = name
        self.isStored = isStored
        twin = SyncTwin(isStored: isStored)
        client = Self.client(isStored, seed)
    }

    private static func client(_ isStored: Bool, _ seed: UInt64) -> SyncClient {
        SyncClient(
            SyncOptions(
                address: LinkAddress(host: "db", isSecure: false, namespace: "world"),
                agent: "sdk.swift.test",
                seed: seed,
                isStored: isStored,
            )
        )
    }

    /// Ends the process and starts another one, which has what the disk cache holds.
    mutating func restart(seed: UInt64) {
        var peer = SyncPeer(name: name, isStored: isStored, seed: seed)
        peer.stored = stored
        peer.account = account
        peer.ownWrites = ownWrites.map {
            if $0.fate != .pending { return $0 }
            return OwnWrite(number: $0.number, fate: isStored ? .restored : .lost)
        }
        for listen in stored.listens {
            let query = listen.target.queryText.flatMap { text in
                (try? JSONText(text)).flatMap(NaiveQuery.init(wire:))
            }
            let path = NaiveTarget(text: listen.target.path.wireText).path
            peer.twin.restored[NaiveListen(path: path, query: query)] = Self.naive(listen.node)
        }
        for (id, write) in stored.writes {
            let writes = Self.naive(write)
            peer.twin.pending.append(
                .init(name: .stored(id.value), writes: writes, isGuess: true)
            )
        }
        self = peer
    }

    static func naive(_ node: Node) -> NaiveNode {
        guard let json = try? JSONText(node.json()) else { return .absent }
        return NaiveNode(json)
    }

    /// Where a stored write writes; the values are not looked at.
    private static func naive(_ write: StoredWrite) -> [NaiveWrite] {
        let targets: [WriteTarget]
        switch write {
        case .set(let target, _): targets = [target]
        case .update(_, let entries): targets = entries.map(\.target)
        }
        return targets.map {
            NaiveWrite(target: NaiveTarget(text: $0.wireText), node: .absent)
        }
    }

    // MARK: What happens

    /// Notes what the disk cache keeps.
    mutating func store(_ change: StoreChange) {
        switch change {
        case .saveWrite(let id, let write): stored.writes.append((id, write))
        case .removeWrite(let id):
            stored.writes.removeAll { $0.id == id }
            twin.pending.removeAll { $0.name == .stored(id.value) }
        case .saveListen(let target, let node): save(target) { _ in node }
        case .saveChildren(let target, let children):
            save(target) { old in
                var node = old
                for (key, child) in children { node.set(child, at: Path([key])) }
                return node
            }
        case .useListen(let target, let isActive):
            guard let index = stored.listens.firstIndex(where: { $0.target == target }) else {
                return
            }
            let listen = stored.listens.remove(at: index)
            stored.listens.append(
                StoredListen(target: target, node: listen.node, isActive: isActive)
            )
        case .removeListen(let target): stored.listens.removeAll { $0.target == target }
        case .removeAll: stored = StoredState(account: stored.account)
        case .account(let account): stored.account = account
        }
    }

    private mutating func save(_ target: ListenTarget, _ body: (Node) -> Node) {
        let index = stored.listens.firstIndex { $0.target == target }
        let old = index.map { stored.listens[$0] }
        let listen = StoredListen(
            target: target,
            node: body(old?.node ?? .absent),
            isActive: old?.isActive ?? true
        )
        if let index { stored.listens[index] = listen } else { stored.listens.append(listen) }
    }

    /// Tells an observer the events of one step; groups that begin anew are changes of their own.
    mutating func tell(_ id: UInt64, _ events: [JSONText]) throws(SimulationFault) {
        let ranks = ["childRemoved": 0, "childAdded": 1, "childMoved": 2, "childChanged": 3]
        var group: [JSONText] = []
        var last = 0
        for event in events {
            let rank = ranks[event["event"]?.string ?? ""] ?? 4
            if rank < last || last == 4 {
                try observers[id]?.watcher.take(group)
                group = []
            }
            group.append(event)
            last = rank
        }
        try observers[id]?.watcher.take(group)
    }

    /// The connection is over, as the client sees it.
    mutating func disconnected() {
        twin.disconnected(promised)
        promised = []
    }

    /// Compares what the observers received with what the twin knows.
    mutating func check() throws(SimulationFault) -> Int {
        var count = 0
        for id in observers.keys.sorted() {
            guard var observer = observers[id] else { continue }
            if !twin.isConnected, !observer.isComplete { continue }
            let watcher = observer.watcher
            guard let node = twin.known(watcher.path, watcher.query) else { continue }
            var root = NaiveNode.absent
            root.set(node, at: watcher.path)
            try watcher.check(root)
            observer.isComplete = true
            observers[id] = observer
            count += 1
        }
        return count
    }
}

extension SyncPeer {
    /// Finds for each observer that shows nothing but the server's data the commit whose state it shows: never one
    /// before the last that it has shown.
    ///
    /// - Returns: how many observers were looked at.
    mutating func checkOrder(
        _ states: ArraySlice<ReferenceModel.State>
    ) throws(SimulationFault) -> Int {
        if !twin.isSettled || !twin.pending.isEmpty { return 0 }
        var count = 0
        for (id, observer) in observers where observer.isComplete {
            let watcher = observer.watcher
            let isKnown = twin.known(watcher.path, watcher.query) != nil
            if !isKnown || !twin.hasOneListen(around: watcher.path) { continue }
            let shown = states[observer.commit...].firstIndex { watcher.shows($0.root) }
            guard let shown else {
                throw SimulationFault(
                    "observer \(id) shows no state from commit \(observer.commit) on"
                )
            }
            observers[id]?.commit = shown
            count += 1
        }
        return count
    }
}

extension Watcher {
    /// Whether it shows what a tree has.
    func shows(_ root: NaiveNode) -> Bool {
        do throws(SimulationFault) { try check(root) } catch { return false }
        return true
    }
}

extension ChildEvent {
    /// The event as observers of the plain event protocol receive it.
    var naiveJSON: JSONText {
        let name =
            switch kind {
            case .removed: "childRemoved"
            case .added: "childAdded"
            case .moved: "childMoved"
            case .changed: "childChanged"
            }
        return .object([
            ("event", .string(name)), ("key", .string(key.string)),
            ("value", SyncPeer.naive(node).json),
            ("previousKey", previousKey.map { .string($0.string) } ?? .null),
        ])
    }
}
