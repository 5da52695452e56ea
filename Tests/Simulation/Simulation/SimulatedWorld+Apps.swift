import DatabaseCore
import JSONTree
import SecurityRules
import SimulatedStorage
import SyncCore
import WireProtocol
import WriteAheadLog

/// Clients of the SDK's core against the server, over a network that cuts and delays.
///
/// After each step of one, what every observer received must be what the twin of its client works out from the messages
/// that reached it, and without pending writes it is the state of a commit, not before the last one that it showed. When
/// the network has healed and all is quiet, every observer must show what the server has.
extension SimulatedWorld {
    // MARK: Steps

    /// Lets something happen to an app or to the network.
    func appStep() throws(SimulationFault) {
        appNow += Int64(workload.number(below: 30))
        let peer = workload.number(below: peers.count)
        switch workload.pick(weights: [22, 30, 30, 10, 6, 2, 4, 2, 1, 6]) {
        case 0:
            counts.operations += 1
            try act(peer)
        case 1: try reachServer()
        case 2: try reachApp()
        case 3:
            let lives = try onDisk { server throws(LogError) in try server.append(atMost: .max) }
            if lives { try flush() }
        case 4: try answerToken()
        case 5: cut()
        case 6: try noticeEnds()
        case 7:
            appNow += Int64(workload.number(below: 3_000))
            try wake()
        case 8: try restartApp(peer)
        default: try verify()
        }
        try openPipes()
    }

    /// Heals the network, waits until all is quiet, and compares every client with the server.
    ///
    /// - Throws: `SimulationFault` when a client breaks a promise.
    func settleApps() throws(SimulationFault) {
        if peers.isEmpty { return }
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
            while !inquiries.isEmpty { try verify() }
            try onDisk { server throws(LogError) in try server.append(atMost: .max) }
            try flush()
            while try reachApp() {}
            if isQuiet { break }
            count += 1
            if count > 800 { throw SimulationFault("never gets quiet: \(restlessness)") }
            appNow += 500
            try wake()
        }
        try checkAgainstServer()
        isHealing = false
    }

    private var isQuiet: Bool {
        pipes.allSatisfy { $0.toServer.isEmpty && $0.toClient.isEmpty && !$0.isEnding }
            && !server.isBehind
            && peers.allSatisfy { peer in
                peer.asked.isEmpty && peer.twin.pending.isEmpty && !peer.wantsToken
                    && (peer.observers.isEmpty || peer.twin.isConnected)
            }
    }

    private var restlessness: String {
        let waiting = peers.filter { !$0.asked.isEmpty || !$0.twin.isConnected }
        return "clients \(waiting.map { "\($0.name): \($0.asked) \($0.twin.isConnected)" })"
    }

    private func checkAgainstServer() throws(SimulationFault) {
        let root = model.current.root
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
        peers[index].client.step(input, now: Timestamp(milliseconds: appNow), effects: &effects)
        var events: [UInt64: [JSONText]] = [:]
        var cancelled: [UInt64] = []
        for effect in effects {
            switch effect {
            case .open(let socket, let address): open(index, socket, address)
            case .send(let socket, let frames): try send(index, socket, frames)
            case .close(let socket): closeSocket(index, socket)
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
            case .warn(.badMessage(let text)): throw SimulationFault("receives rubbish: \(text)")
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
                counts.note(.appCancel)
                if peers[index].observers.removeValue(forKey: observer) == nil {
                    throw SimulationFault("cancels \(observer), which has left")
                }
            }
            counts.note(.checkedObserver, try peers[index].check())
            let states = model.states[...Int(server.durable.value)]
            counts.note(.observerAtCommit, try peers[index].checkOrder(states))
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
        note("finishes \(call.value): \(outcome)", of: index)
        counts.note(.finishedCall)
        peers[index].twin.pending.removeAll { $0.name == .call(call.value) }
        if case .failed(.refused) = outcome { counts.note(.refusedAppWrite) }
        switch (asked, outcome) {
        case (.transaction(let path), .transaction(let isCommitted, _)):
            if !isCommitted { throw SimulationFault("a transaction gave up by itself") }
            counts.note(.transaction)
            counters[path, default: (0, 0)].certain += 1
        case (.transaction(let path), .failed(.refused)),
            (.transaction(let path), .failed(.tooManyRetries)):
            counters[path, default: (0, 0)].possible -= 1
        case (.transaction, _): counts.note(.lostTransaction)
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

    private func restartApp(_ index: Int) throws(SimulationFault) {
        if !workload.happens(oneIn: 4) { return }
        counts.note(.appRestart)
        note("restarts", of: index)
        for (_, asked) in peers[index].asked {
            if case .transaction = asked { counts.note(.lostTransaction) }
        }
        for pipe in pipes.indices where owner(of: pipes[pipe]) == index {
            pipes[pipe].cut(toServer: workload.number(below: 3), toClient: 0)
            pipes[pipe].clientEnd = .closed
        }
        owners = owners.mapValues { $0.peer == index ? (index, false) : $0 }
        peers[index].restart(seed: options.seed &+ nextNumber())
        let state = peers[index].stored
        if peers[index].isStored { try step(index, .restored(state)) }
    }

    /// Keeps a line about an app for the text of a fault.
    func note(_ text: @autoclosure () -> String, of peer: Int) {
        note("app \(peer) \(text())", 0)
    }

    func owner(of pipe: SyncPipe) -> Int? {
        guard let owner = owners[pipe.connection], owner.isAlive else { return nil }
        return owner.peer
    }
}
