import JSONTree
import Queries
import SyncCore
import WireProtocol

/// What the apps do.
extension SimulatedWorld {
    /// An app does something.
    func act(_ peer: Int) throws(SimulationFault) {
        do {
            switch workload.pick(weights: [16, 9, 22, 10, 8, 6, 5, 4, 3, 3, 1, 1, 2]) {
            case 0: try observe(peer)
            case 1: try stopObserving(peer)
            case 2: try set(peer)
            case 3: try update(peer)
            case 4: try transact(peer)
            case 5: try setOwn(peer)
            case 6: try increment(peer)
            case 7: try get(peer)
            case 8: try promiseWrite(peer)
            case 9: try keepSynced(peer)
            case 10: try changeAccount(peer)
            case 11: try purge(peer)
            default:
                peers[peer].isOffline.toggle()
                note("is \(peers[peer].isOffline ? "offline" : "online")", of: peer)
                try step(peer, .call(peers[peer].isOffline ? .goOffline : .goOnline))
            }
        } catch let fault as SimulationFault {
            throw fault
        } catch {
            throw SimulationFault("the workload makes what is not legal: \(error)")
        }
    }

    private func nextCall() -> CallID { CallID(nextNumber()) }

    // MARK: Places and values

    private func place() -> NaivePath {
        switch workload.number(below: 12) {
        case 0: return ["count"]
        case 1: return ["inc"]
        case 2: return ["gone"]
        case 3: return ["own", "c\(workload.number(below: peers.count))"]
        case 4: return ["no", workload.pick(appKeys)]
        case 5, 6: return ["room"] + (workload.happens(oneIn: 2) ? [] : [workload.pick(appKeys)])
        default:
            let depth = workload.number(below: 3)
            return ["t"] + (0..<depth).map { _ in workload.pick(appKeys) }
        }
    }

    private func writable() -> NaivePath {
        var top = workload.happens(oneIn: 6) ? "room" : "t"
        if workload.happens(oneIn: 20) { top = "no" }
        let depth = workload.pick(weights: [1, 8, 8, 3])
        return [top] + (0..<depth).map { _ in workload.pick(appKeys) }
    }

    private func value(depth: Int = 2) -> NaiveNode {
        var node = NaiveNode()
        if depth == 0 || workload.happens(oneIn: 2) {
            if workload.happens(oneIn: 4) { return node }
            node.leaf = workload.leaf()
        } else {
            for _ in 0...workload.number(below: 3) {
                let child = value(depth: depth - 1)
                if !child.isAbsent { node.children[workload.pick(appKeys)] = child }
            }
        }
        if !node.isAbsent, workload.happens(oneIn: 6) { node.priority = priority() }
        return node
    }

    private func priority() -> NaiveNode.Leaf {
        workload.happens(oneIn: 3) ? .string("p") : .number(Double(workload.number(below: 4)))
    }

    private func target(_ path: NaivePath, _ query: NaiveQuery? = nil) throws -> ListenTarget {
        let place = try Path("/" + path.joined(separator: "/"))
        guard let query else { return ListenTarget(path: place) }
        let text =
            #"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/","q":\#(query.json.text)}}}"#
        guard case .request(let request) = try ClientMessage.parse(Array(text.utf8)),
            case .get(let target) = request.action
        else { throw SimulationFault("no query: \(text)") }
        return ListenTarget(path: place, query: target.query, queryText: target.queryText)
    }

    private func draft(_ node: NaiveNode) throws -> Draft {
        try Draft(json: Array(node.json.text.utf8))
    }

    private func pend(_ peer: Int, _ call: CallID, _ writes: [NaiveWrite], isGuess: Bool = false) {
        peers[peer].twin.pending.append(
            .init(name: .call(call.value), writes: writes, isGuess: isGuess)
        )
    }

    // MARK: Calls

    private func observe(_ peer: Int) throws {
        if peers[peer].observers.count >= 10 { return try stopObserving(peer) }
        let path = place()
        var query: NaiveQuery?
        if ["t", "room"].contains(path[0]), path.count < 3, workload.happens(oneIn: 2) {
            query = workload.query()
            if workload.happens(oneIn: 4) {
                query?.start = nil
                query?.end = nil
                query?.limit = nil
                query?.keepsLast = false
            }
        }
        let id = nextNumber()
        let kind = workload.number(below: 4)
        let watcher = Watcher(
            connection: UInt64(peer),
            number: Int(id),
            kind: .observer(children: kind != 0, value: kind != 1),
            path: path,
            query: query,
        )
        peers[peer].observers[id] = .init(watcher: watcher)
        var kinds: ObservedKinds = []
        if kind != 0 { kinds.formUnion(.children) }
        if kind != 1 { kinds.formUnion(.value) }
        let text = "/\(path.joined(separator: "/")) \(query?.json.text ?? "")"
        note("observes \(id) \(text)", of: peer)
        let observer = Observer(
            id: ObserverID(id),
            target: try target(path, query),
            kinds: kinds
        )
        try step(peer, .call(.observe(observer)))
    }

    private func stopObserving(_ peer: Int) throws {
        let ids = peers[peer].observers.keys.sorted()
        if ids.isEmpty { return }
        let id = workload.pick(ids)
        note("stops observing \(id)", of: peer)
        peers[peer].observers[id] = nil
        try step(peer, .call(.stopObserving(ObserverID(id))))
    }

    private func set(_ peer: Int) throws {
        var target = NaiveTarget(path: writable())
        var node = value()
        if workload.happens(oneIn: 8), target.path.count > 1 {
            target.isPriority = true
            node = NaiveNode(workload.happens(oneIn: 4) ? nil : priority())
        } else if workload.happens(oneIn: 25) {
            target.path = ["t", "lock"]
            node = workload.happens(oneIn: 3) ? NaiveNode(.boolean(true)) : .absent
        }
        let call = nextCall()
        peers[peer].asked[call.value] = .write
        pend(peer, call, [NaiveWrite(target: target, node: node)])
        note("sets \(call.value) /\(target.text) \(node.json.text)", of: peer)
        try step(
            peer,
            .call(.set(try WriteTarget("/" + target.text), try draft(node), call))
        )
    }

    private func update(_ peer: Int) throws {
        let base: NaivePath = workload.happens(oneIn: 2) ? ["t"] : ["t", workload.pick(appKeys)]
        var writes: [NaiveWrite] = []
        for _ in 0...workload.number(below: 3) {
            let depth = 1 + workload.number(below: 2)
            var target = NaiveTarget(path: base + (0..<depth).map { _ in workload.pick(appKeys) })
            target.isPriority = workload.happens(oneIn: 8)
            if writes.contains(where: { $0.target.covers(target) || target.covers($0.target) }) {
                continue
            }
            let node = target.isPriority ? NaiveNode(priority()) : value(depth: 1)
            writes.append(NaiveWrite(target: target, node: node))
        }
        var entries: [MergeEntry] = []
        for write in writes {
            let target = try WriteTarget("/" + write.target.text)
            entries.append(MergeEntry(target: target, draft: try draft(write.node)))
        }
        let call = nextCall()
        peers[peer].asked[call.value] = .write
        pend(peer, call, writes)
        let texts = writes.map { "/\($0.target.text) \($0.node.json.text)" }
        note("updates \(call.value) \(texts)", of: peer)
        try step(peer, .call(.update(try Path("/" + base.joined(separator: "/")), entries, call)))
    }

    private func transact(_ peer: Int) throws {
        let path = ["count", workload.pick(["p", "q"])]
        let call = nextCall()
        peers[peer].asked[call.value] = .transaction(path)
        counters[path, default: (0, 0)].possible += 1
        let guess = NaiveWrite(target: NaiveTarget(path: path), node: .absent)
        pend(peer, call, [guess], isGuess: true)
        note("transacts \(call.value) \(path)", of: peer)
        let request = TransactionRequest(
            path: try Path("/" + path.joined(separator: "/")),
            appliesLocally: !workload.happens(oneIn: 4),
            call: call,
            update: { Draft(Node(integer: ($0.integer ?? 0) + 1)) },
        )
        try step(peer, .call(.runTransaction(request)))
    }

    private func setOwn(_ peer: Int) throws {
        let number = (peers[peer].ownWrites.last?.number ?? 0) + 1
        let path = ["own", "c\(peer)", "n"]
        let call = nextCall()
        peers[peer].asked[call.value] = .own(number)
        peers[peer].ownWrites.append(.init(number: number))
        let node = NaiveNode(.number(Double(number)))
        pend(peer, call, [NaiveWrite(target: NaiveTarget(path: path), node: node)])
        note("sets own \(number)", of: peer)
        let target = WriteTarget(path: try Path("/" + path.joined(separator: "/")))
        try step(peer, .call(.set(target, Draft(Node(integer: number)), call)))
    }

    private func increment(_ peer: Int) throws {
        let path = ["inc", workload.pick(["p", "q"])]
        let call = nextCall()
        peers[peer].asked[call.value] = .increment(path)
        let guess = NaiveWrite(target: NaiveTarget(path: path), node: .absent)
        pend(peer, call, [guess], isGuess: true)
        note("increments \(call.value) \(path)", of: peer)
        let target = WriteTarget(path: try Path("/" + path.joined(separator: "/")))
        let draft = try Draft(json: Array(#"{".sv":{"increment":1}}"#.utf8))
        try step(peer, .call(.set(target, draft, call)))
    }

    private func get(_ peer: Int) throws {
        let path = place()
        let query = path == ["t"] && workload.happens(oneIn: 2) ? workload.query() : nil
        let call = nextCall()
        peers[peer].asked[call.value] = .get
        note("gets \(call.value) \(path)", of: peer)
        try step(peer, .call(.get(try target(path, query), call)))
    }

    private func promiseWrite(_ peer: Int) throws {
        let call = nextCall()
        peers[peer].asked[call.value] = .later
        if workload.happens(oneIn: 4) {
            peers[peer].laterWrites[call.value] = .some(nil)
            return try step(peer, .call(.onDisconnectCancel(try Path("/gone"), call)))
        }
        let path = ["gone", "c\(peer)"]
        let number = Int64(workload.number(below: 100))
        peers[peer].laterWrites[call.value] = NaiveWrite(
            target: NaiveTarget(path: path),
            node: NaiveNode(.number(Double(number)))
        )
        note("sets for later \(number)", of: peer)
        let target = WriteTarget(path: try Path("/" + path.joined(separator: "/")))
        try step(peer, .call(.onDisconnectSet(target, Draft(Node(integer: number)), call)))
    }

    private func keepSynced(_ peer: Int) throws {
        if let kept = peers[peer].kept.first, workload.happens(oneIn: 2) {
            peers[peer].kept.removeFirst()
            note("no longer keeps \(kept.path)", of: peer)
            return try step(peer, .call(.keepSynced(kept, false)))
        }
        let path = place()
        if path[0] == "no" || path[0] == "room" { return }
        let target = try target(path)
        if peers[peer].kept.contains(target) { return }
        peers[peer].kept.append(target)
        note("keeps \(target.path)", of: peer)
        try step(peer, .call(.keepSynced(target, true)))
    }

    private func changeAccount(_ peer: Int) throws {
        let account = workload.pick(["ann", "bob"])
        if account != peers[peer].account { giveUpOwnWrites(peer) }
        peers[peer].account = account
        note("is \(account)", of: peer)
        try step(peer, .credentialChanged(token: "eyJ.\(account).x", account: account))
    }

    private func purge(_ peer: Int) throws {
        giveUpOwnWrites(peer)
        note("purges", of: peer)
        try step(peer, .call(.purgeOutstandingWrites))
    }

    /// What restarts had left to be sent again may never be.
    func giveUpOwnWrites(_ peer: Int) {
        let writes = peers[peer].ownWrites
        for (index, write) in writes.enumerated() where write.fate == .restored {
            peers[peer].ownWrites[index].fate = .lost
        }
    }
}
