import DatabaseCore
import JSONTree
import SecurityRules
import SyncCore
import WireProtocol
import WriteAheadLog

/// Clients of the SDK's core against a real engine, over a network that cuts and delays.
///
/// Each step draws one thing that happens next. After it, what every observer was told must be what the
/// twin of its client works out from the messages that reached it. When the network has healed and all
/// is quiet, every observer must show what the server has.
package final class SyncWorld {
    /// How often what can happen has happened.
    package struct Counts: Sendable {
        package var steps = 0
        package var commits = 0
        /// Observers compared with the twin.
        package var checks = 0
        package var cuts = 0
        package var restarts = 0
        package var transactions = 0
        package var lostTransactions = 0
        package var refusedWrites = 0
        package var cancels = 0
        package var finishedCalls = 0
    }

    package let seed: UInt64
    package internal(set) var counts = Counts()
    /// The last things that happened, for whoever reads of a fault.
    package private(set) var journal: [String] = []
    let server: SimulatedServer
    var workload: Workload
    /// Few, so that calls meet: one that queries look at, one that comes in every world, and some in an order.
    let keys: [String]
    var peers: [SyncPeer] = []
    var pipes: [SyncPipe] = []
    var now: Int64 = 1_000_000
    var isHealing = false
    var lastNumber: UInt64 = 0
    /// By counter: transactions that are certain to have counted, and those that may have.
    var counters: [NaivePath: (certain: Int, possible: Int)] = [:]
    /// By place: increments that are certain to have been added, once at least.
    var increments: [NaivePath: Int] = [:]

    /// Makes a server and its clients.
    ///
    /// - Throws: `LogError`, `RulesError`: neither can happen.
    package init(seed: UInt64) throws {
        self.seed = seed
        var workload = Workload(seed: seed, rules: .open)
        keys = ["a", "x"] + workload.pick(KeyOrder.allCases).keys(3, &workload.random)
        self.workload = workload
        let options = LogOptions(
            segmentByteCount: 1 << 20,
            reserveByteCount: 0,
            syncPolicy: .always,
            readByteCount: 512,
        )
        let policy = EnginePolicy(
            databases: [SimulatedServer.database],
            createsDatabases: false,
            defaultRules: try Ruleset.load(Self.rules),
        )
        server = try SimulatedServer(SimulatedLogStorage(seed: seed), options, policy)
        for name in 0...workload.number(below: 8) {
            peers.append(
                SyncPeer(
                    name: name,
                    isStored: workload.happens(oneIn: 2),
                    seed: seed &+ UInt64(name)
                )
            )
        }
    }

    /// Some writes are refused, `no` cannot be read, and `room` not while there is a lock.
    private static let rules = """
        {"rules": {
          "t": {
            ".read": true, ".write": true, ".indexOn": [".value", "x", "y/z"],
            "$key": {
              ".validate": "newData.val() !== 'bad'", ".indexOn": [".value", "x", "y/z"]
            }
          },
          "room": {
            ".read": "!root.child('t/lock').exists()", ".write": true,
            ".indexOn": [".value", "x", "y/z"]
          },
          "count": {".read": true, ".write": true},
          "inc": {".read": true, ".write": true},
          "own": {".read": true, ".write": true},
          "gone": {".read": true, ".write": true}
        }}
        """

    // MARK: Steps

    /// Lets the next thing happen.
    ///
    /// - Throws: `SimulationFault` when a client breaks a promise.
    package func step() throws(SimulationFault) {
        counts.steps += 1
        now += Int64(workload.number(below: 30))
        let peer = workload.number(below: peers.count)
        switch workload.pick(weights: [22, 30, 30, 10, 6, 2, 4, 2, 1]) {
        case 0: try act(peer)
        case 1: try reachServer()
        case 2: try reachClient()
        case 3: try flush()
        case 4: try answerToken()
        case 5: cut()
        case 6: try noticeEnds()
        case 7:
            now += Int64(workload.number(below: 3_000))
            try wake()
        default: try restart(peer)
        }
        try openPipes()
    }

    /// Heals the network, waits until all is quiet, and compares every client with the server.
    ///
    /// - Throws: `SimulationFault` when a client breaks a promise.
    package func settle() throws(SimulationFault) {
        isHealing = true
        for peer in peers.indices where peers[peer].isOffline {
            peers[peer].isOffline = false
            try step(peer, .call(.goOnline))
        }
        var count = 0
        while true {
            try noticeEnds(isAll: true)
            try openPipes(isAll: true)
            for peer in peers.indices where peers[peer].wantsToken { try answerToken(peer) }
            while try reachServer() {}
            try flush()
            while try reachClient() {}
            if isQuiet { break }
            count += 1
            if count > 400 { throw SimulationFault("never gets quiet: \(restlessness)") }
            now += 500
            try wake()
        }
        try checkAgainstServer()
        isHealing = false
    }

    private var isQuiet: Bool {
        pipes.allSatisfy { $0.toServer.isEmpty && $0.toClient.isEmpty && !$0.isEnding }
            && !server.isBehind
            && peers.allSatisfy { peer in
                peer.asked.isEmpty && !peer.wantsToken
                    && (peer.observers.isEmpty || peer.twin.isConnected)
            }
    }

    private var restlessness: String {
        let waiting = peers.filter { !$0.asked.isEmpty || !$0.twin.isConnected }
        return "clients \(waiting.map { "\($0.name): \($0.asked) \($0.twin.isConnected)" })"
    }

    private func checkAgainstServer() throws(SimulationFault) {
        let root = SyncPeer.naive(server.snapshot?.root ?? .absent)
        for peer in peers {
            for id in peer.observers.keys.sorted() {
                guard let observer = peer.observers[id] else { continue }
                do throws(SimulationFault) {
                    try observer.watcher.check(root)
                } catch {
                    throw SimulationFault("in the end client \(peer.name) \(error)")
                }
            }
            try checkOwnWrites(of: peer, root)
        }
        for (path, counter) in counters {
            let number = number(root[path])
            if number < counter.certain || number > counter.possible {
                throw SimulationFault("counter \(path) is \(number), not \(counter)")
            }
        }
        for (path, count) in increments where number(root[path]) < count {
            throw SimulationFault(
                "increments are lost at \(path): \(number(root[path])) of \(count)"
            )
        }
    }

    private func number(_ node: NaiveNode) -> Int {
        guard case .number(let number)? = node.leaf else { return 0 }
        return Int(number)
    }

    private func checkOwnWrites(of peer: SyncPeer, _ root: NaiveNode) throws(SimulationFault) {
        let there = number(root[["own", "c\(peer.name)", "n"]])
        var allowed: [Int64] = []
        for write in peer.ownWrites.reversed() {
            allowed.append(write.number)
            if write.fate == .done || write.fate == .restored { break }
        }
        if peer.ownWrites.allSatisfy({ $0.fate == .lost }) { allowed.append(0) }
        if !allowed.contains(Int64(there)) {
            throw SimulationFault("client \(peer.name) left \(there), not one of \(allowed)")
        }
    }

    // MARK: Clients

    /// One step of a client and what follows from it.
    func step(_ index: Int, _ input: SyncCore.Input) throws(SimulationFault) {
        var effects: [SyncCore.Effect] = []
        peers[index].client.step(input, now: Timestamp(milliseconds: now), effects: &effects)
        var events: [UInt64: [JSONText]] = [:]
        var cancelled: [UInt64] = []
        for effect in effects {
            switch effect {
            case .open(let socket, let address): open(index, socket, address)
            case .send(let socket, let frames): try send(index, socket, frames)
            case .close(let socket): close(index, socket)
            case .wake(let time): peers[index].wakeTime = time?.milliseconds
            case .fetchToken: peers[index].wantsToken = true
            case .tell(let observer, .value(let node)):
                let event = JSONText.object([
                    ("event", .string("value")), ("value", SyncPeer.naive(node).json),
                ])
                events[observer.value, default: []].append(event)
            case .tell(let observer, .child(let event)):
                events[observer.value, default: []].append(event.naiveJSON)
            case .tell(let observer, .cancelled): cancelled.append(observer.value)
            case .finish(let call, let outcome): try finish(index, call, outcome)
            case .store(let change): peers[index].store(change)
            case .warn(.badMessage(let text)): throw SimulationFault("is told rubbish: \(text)")
            case .warn: break
            }
        }
        do throws(SimulationFault) {
            for observer in events.keys.sorted() {
                guard peers[index].observers[observer] != nil else {
                    throw SimulationFault("tells \(observer), which has left")
                }
                try peers[index].tell(observer, events[observer] ?? [])
            }
            for observer in cancelled {
                counts.cancels += 1
                if peers[index].observers.removeValue(forKey: observer) == nil {
                    throw SimulationFault("cancels \(observer), which has left")
                }
            }
            counts.checks += try peers[index].check()
        } catch {
            throw SimulationFault("client \(index): \(error)")
        }
    }

    private func finish(
        _ index: Int,
        _ call: CallID,
        _ outcome: Outcome
    ) throws(SimulationFault) {
        guard let asked = peers[index].asked.removeValue(forKey: call.value) else {
            throw SimulationFault("client \(index) finishes call \(call.value) again: \(outcome)")
        }
        note("\(index) finishes \(call.value): \(outcome)")
        counts.finishedCalls += 1
        peers[index].twin.pending.removeAll { $0.name == .call(call.value) }
        if case .failed(.refused) = outcome { counts.refusedWrites += 1 }
        switch (asked, outcome) {
        case (.transaction(let path), .transaction(let isCommitted, _)):
            if !isCommitted { throw SimulationFault("a transaction gave up by itself") }
            counts.transactions += 1
            counters[path, default: (0, 0)].certain += 1
        case (.transaction(let path), .failed(.refused)),
            (.transaction(let path), .failed(.tooManyRetries)):
            counters[path, default: (0, 0)].possible -= 1
        case (.transaction, _): counts.lostTransactions += 1
        case (.increment(let path), .done): increments[path, default: 0] += 1
        case (.own(let number), _):
            let place = peers[index].ownWrites.firstIndex { $0.number == number }
            guard let place else { break }
            if case .done = outcome {
                peers[index].ownWrites[place].fate = .done
            } else {
                peers[index].ownWrites[place].fate = .lost
            }
        case (.later, .done):
            if let write = peers[index].laterWrites.removeValue(forKey: call.value) {
                promise(index, write)
            }
        default: break
        }
    }

    /// The server has promised a write for the end of the connection, or nil to promise nothing any more.
    private func promise(_ index: Int, _ write: NaiveWrite?) {
        guard let write else { return peers[index].promised = [] }
        peers[index].promised.removeAll { $0.target == write.target }
        peers[index].promised.append(write)
    }

    private func restart(_ index: Int) throws(SimulationFault) {
        if !workload.happens(oneIn: 4) { return }
        counts.restarts += 1
        note("\(index) restarts")
        for (_, asked) in peers[index].asked {
            if case .transaction = asked { counts.lostTransactions += 1 }
        }
        for pipe in pipes.indices where owner(of: pipes[pipe]) == index {
            pipes[pipe].cut(toServer: workload.number(below: 3), toClient: 0)
            pipes[pipe].clientEnd = .closed
        }
        lastNumber += 1
        owners = owners.mapValues { $0.peer == index ? (index, false) : $0 }
        peers[index].restart(seed: seed &+ lastNumber)
        let state = peers[index].stored
        if peers[index].isStored { try step(index, .restored(state)) }
    }

    /// Keeps a line for whoever reads of a fault.
    func note(_ text: @autoclosure () -> String) {
        if journal.count == 400 { journal.removeFirst() }
        journal.append("\(now) \(text())")
    }

    /// Whose connection it is, and whether that client still lives.
    var owners: [UInt64: (peer: Int, isAlive: Bool)] = [:]

    func owner(of pipe: SyncPipe) -> Int? {
        guard let owner = owners[pipe.connection], owner.isAlive else { return nil }
        return owner.peer
    }
}
