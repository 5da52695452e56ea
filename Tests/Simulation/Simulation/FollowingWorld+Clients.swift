import DatabaseCore
import EventProtocol
import JSONTree
import Queries
import SimulatedStorage
import WireProtocol

/// What clients ask, and what they make of what they are sent.
extension FollowingWorld {
    static func handshake(_ connection: UInt64, _ dialect: Dialect) -> Handshake {
        Handshake(
            dialect: dialect,
            database: database,
            host: "db",
            session: SessionID("s\(connection)")
        )
    }

    func connect() throws(SimulationFault) {
        if clients.count >= 9 { return try leave() }
        lastConnection += 1
        let connection = lastConnection
        let isOfOwner = workload.happens(oneIn: 5)
        let index = isOfOwner ? owner : workload.pick(followers)
        switch workload.number(below: 6) {
        case 0: if !isOfOwner { try stream(connection, at: index) }
        case 1, 2:
            clients[connection] = FollowingClient(
                connection: connection,
                member: index,
                kind: .events
            )
            let handshake = Self.handshake(connection, .events)
            try input(.connected(ConnectionID(connection), handshake), at: index)
        default:
            clients[connection] = FollowingClient(
                connection: connection,
                member: index,
                kind: .wire
            )
            let handshake = Self.handshake(connection, .wire)
            try input(.connected(ConnectionID(connection), handshake), at: index)
        }
    }

    /// A client goes away.
    func leave() throws(SimulationFault) {
        let some = clients.filter { !$0.value.isBeginning }.keys.sorted()
        if some.isEmpty { return }
        let connection = workload.pick(some)
        guard let client = clients[connection] else { return }
        note("\(connection) leaves")
        forget(connection)
        try input(.disconnected(ConnectionID(connection)), at: client.member)
    }

    /// A client is gone; of what is on its way to the owner the first arrives.
    func forget(_ connection: UInt64) {
        clients[connection] = nil
        left.insert(connection)
        guard var shadow = shadows[connection] else { return }
        shadow.isEnding = true
        shadow.toOwner = Array(shadow.toOwner.prefix(workload.number(below: 4)))
        shadow.fromOwner = []
        shadows[connection] = shadow.isLost ? nil : shadow
    }

    // MARK: - Requests

    func ask() throws(SimulationFault) {
        let speakers = clients.filter { $0.value.kind != .stream }.keys.sorted()
        if speakers.count < 3 { return try connect() }
        let connection = workload.pick(speakers)
        guard var client = clients[connection] else { return }
        client.lastNumber += 1
        let number = client.lastNumber
        let request = request(of: client, number)
        let text = client.text(of: request, number: number)
        let shown = members[client.member].shown
        client.requests.append((number, shown, asked(request, number, &client)))
        clients[connection] = client
        note("\(connection) of \(client.member) asks \(String(decoding: text, as: UTF8.self))")
        let isEvents = client.kind == .events
        let id = ConnectionID(connection)
        try input(try message(text, from: id, isEvents: isEvents), at: client.member)
        let owed = clients[connection]?.requests.filter { $0.asked.isWrite }.count ?? 0
        if client.member != owner, owed > 1 { count(.severalAtOwner) }
        let isWaiting = members[client.member].engine.isWaiting(id)
        if client.member != owner, owed > 0, isWaiting { count(.waitsForOwner) }
    }

    func message(
        _ text: [UInt8],
        from id: ConnectionID,
        isEvents: Bool
    ) throws(SimulationFault) -> DatabaseCore.Input {
        do {
            if !isEvents {
                return .received(try ClientMessage.parse(text), from: id, text: text)
            }
            lastKey += 1
            let key = try Key("key\(lastKey)")
            return .asked(try EventRequest.parse(text) { key }, from: id, text: text)
        } catch {
            throw fault("the server cannot read \(String(decoding: text, as: UTF8.self)): \(error)")
        }
    }

    private func request(of client: FollowingClient, _ number: Int) -> SimulatedRequest {
        if number == 1, !workload.happens(oneIn: 4) { return .auth(user()) }
        let listens = client.listens.count < 2 ? 50 : 12
        switch workload.pick(weights: [26, 12, 14, listens, 5, 12, 5, 3, 2, 5, 2, 3]) {
        case 0:
            if client.kind == .events, workload.happens(oneIn: 4) {
                let draft = workload.write(at: NaiveTarget(path: [])).node
                return .push(workload.listPath(), key: "", draft)
            }
            let write = write()
            return .put(write.target, write.node, hash: nil)
        case 1:
            let (base, writes) = update()
            return .merge(base: base, writes)
        case 2:
            let path = write().target.path
            let state =
                workload.happens(oneIn: 2) ? workload.pick(states) : states[states.count - 1]
            let expected = state.naive[path]
            let hash = SimulatedRequest.hash(of: expected)
            return .put(NaiveTarget(path: path), workload.draft(), hash: hash)
        case 3:
            let isDefault = workload.happens(oneIn: 3)
            let query = isDefault ? nil : workload.query()
            let isOfCrowd = isCrowded && !workload.happens(oneIn: 3)
            let path =
                isOfCrowd
                ? Self.crowdedLog : isDefault ? workload.path() : workload.listPath()
            let tag = isDefault && client.kind == .wire ? nil : number
            let listen = NaiveListen(path: path, query: query, tag: tag)
            if client.listens.count < 4, client.mayListen(listen) {
                return .listen(listen, having: nil)
            }
        case 4:
            let open = client.listens.filter { $0.watcher.isConfirmed && !$0.watcher.isEnding }
            if !open.isEmpty {
                let watcher = workload.pick(open).watcher
                let tag = client.kind == .wire && watcher.query == nil ? nil : watcher.number
                return .unlisten(NaiveListen(path: watcher.path, query: watcher.query, tag: tag))
            }
        case 5: break
        case 6:
            let write = write()
            return .onDisconnectPut(write.target, write.node)
        case 7:
            let (base, writes) = update()
            return .onDisconnectMerge(base: base, writes)
        case 8: return .onDisconnectCancel(write().target)
        case 9:
            return .auth(workload.happens(oneIn: 2) ? user() : workload.identity())
        case 10: return .unauth
        default: return .other
        }
        return .get(NaiveListen(path: workload.path()))
    }

    /// Mostly one that members of a room may make.
    private func write() -> NaiveWrite {
        if isCrowded, workload.happens(oneIn: 2) {
            let key = workload.pick(["a", "b", "k1"])
            return workload.write(at: NaiveTarget(path: Self.crowdedLog + [key]))
        }
        return workload.happens(oneIn: 5)
            ? workload.write(at: workload.target()) : workload.childWrite()
    }

    private func update() -> (base: NaivePath, [NaiveWrite]) {
        if workload.happens(oneIn: 4) { return workload.merge() }
        let base = workload.listPath()
        var writes: [NaiveWrite] = []
        for key in ["a", "k1", "k2", "x"] where !workload.happens(oneIn: 3) {
            let isPriority = workload.happens(oneIn: 4)
            let target = NaiveTarget(path: base + [key], isPriority: isPriority)
            writes.append(workload.write(at: target))
        }
        return writes.isEmpty ? workload.merge() : (base, writes)
    }

    /// Mostly a user whose listens look where those of the crowd do.
    private func user() -> SimulatedIdentity {
        let isOfCrowd = isCrowded && !workload.happens(oneIn: 3)
        return .user(isOfCrowd ? "ann" : workload.pick(Workload.users))
    }

    /// Notes what a request is for.
    private func asked(
        _ request: SimulatedRequest,
        _ number: Int,
        _ client: inout FollowingClient
    ) -> FollowingClient.Asked {
        switch request {
        case .listen(let listen, _):
            let watcher = client.watcher(of: listen, number: number)
            client.listens.append(FollowingClient.Listen(watcher: watcher))
            return .listen(watcher.number)
        case .unlisten(let listen):
            if let index = client.index(ofWatcher: listen.tag ?? 0) {
                client.listens[index].watcher.isEnding = true
            }
            return .unlisten(listen.tag ?? 0)
        case .get(let listen): return .get(listen)
        case .auth(let identity): return .credential(identity)
        case .unauth: return .signOut
        case .other: return .other
        case .put, .push, .merge, .onDisconnectPut, .onDisconnectMerge, .onDisconnectCancel:
            return .write
        }
    }

    /// A follower begins an event stream, for everybody or for a user.
    private func stream(_ connection: UInt64, at index: Int) throws(SimulationFault) {
        let uid = workload.pick(Workload.users)
        let isForUser = workload.happens(oneIn: 2)
        let isExport = workload.happens(oneIn: 2)
        let watcher = Watcher(
            connection: connection,
            number: 0,
            kind: .stream(isExport: isExport),
            path: workload.listPath(),
            query: workload.happens(oneIn: 2) ? nil : workload.query()
        )
        var client = FollowingClient(connection: connection, member: index, kind: .stream)
        client.listens = [FollowingClient.Listen(watcher: watcher)]
        client.identity = isForUser ? .user(uid) : .nobody
        clients[connection] = client
        let operation: Request.Operation
        do {
            let path = try Path(watcher.path.joined(separator: "/"))
            let query = try RESTQuery.parse(watcher.query?.restParameters ?? []).spec
            let id = ConnectionID(connection)
            operation = .stream(id, path, query ?? .everything, isExport: isExport)
        } catch {
            throw fault("the server cannot read a stream: \(error)")
        }
        let credential: RequestCredential =
            isForUser ? .admin(override: .value(Self.auth(uid))) : .none
        let request = Request(
            database: Self.database,
            credential: credential,
            operation: operation
        )
        try input(.requested(request, id: RequestID(connection)), at: index)
    }

    // MARK: - Messages

    func receive(_ message: JSONText, _ connection: UInt64) throws(SimulationFault) {
        if let number = message["id"]?.number {
            let status = message["error"]?.string ?? "ok"
            return try answered(Int(number), status, message["value"], connection)
        }
        if let name = message["event"]?.string {
            guard let number = message["observer"]?.number.map({ Int($0) }) else { return }
            guard let index = clients[connection]?.index(ofWatcher: number) else {
                throw fault("\(connection) never asked for \(message.text)")
            }
            if name == "cancelled" {
                try clients[connection]?.endChange()
                return try ended(index, connection)
            }
            count(.observerEvent)
            try pushed(index, connection)
            clients[connection]?.take(message, number)
            return
        }
        guard message["t"] == .string("d"), let payload = message["d"], let body = payload["b"]
        else { return }
        if let number = payload["r"]?.number {
            return try answered(Int(number), body["s"]?.string ?? "", body["d"], connection)
        }
        let listens = clients[connection]?.listens ?? []
        let action = payload["a"]?.string ?? ""
        if action == "c" {
            let path = NaiveTarget(text: body["p"]?.string ?? "").path
            let query = body["q"]?.text
            let index = listens.firstIndex {
                $0.watcher.path == path && $0.watcher.query.map { "[\($0.json.text)]" } == query
            }
            guard let index else { throw fault("\(connection) has no listen: \(message.text)") }
            return try ended(index, connection)
        }
        let tag = body["t"]?.number.map { Int($0) }
        let index = listens.firstIndex { $0.watcher.number == tag ?? 0 }
        guard let index else { throw fault("\(connection) has no listen: \(message.text)") }
        note("\(connection) is pushed \(payload.text)")
        count(action == "m" ? .update : .put)
        try pushed(index, connection)
        try clients[connection]?.listens[index].watcher.push(action, body, &workload.random)
    }

    private func answered(
        _ number: Int,
        _ status: String,
        _ data: JSONText?,
        _ connection: UInt64
    ) throws(SimulationFault) {
        note("\(connection) is answered \(number): \(status)")
        try clients[connection]?.endChange()
        guard let client = clients[connection], let request = client.requests.first,
            request.number == number
        else { throw fault("\(connection) is answered \(number) out of turn") }
        clients[connection]?.requests.removeFirst()
        clients[connection]?.answeredAt = members[client.member].shown
        let isOK = status == "ok"
        switch request.asked {
        case .listen(let watcher):
            guard let index = client.index(ofWatcher: watcher) else { return }
            try decided(isOK, client.listens[index].watcher.path, client)
            clients[connection]?.listens[index].watcher.isConfirmed = true
            if !isOK { clients[connection]?.listens.remove(at: index) }
        case .unlisten(let watcher):
            if let index = client.index(ofWatcher: watcher) {
                clients[connection]?.listens.remove(at: index)
            }
        case .get(let listen):
            if client.member == owner { return }
            // The tag of a large value takes its time.
            let since = states[
                max(client.answeredAt, request.commit)...members[client.member].shown
            ]
            let isRight = since.contains { state in
                let mayRead = state.rules.canRead(listen.path, client.identity, state.naive)
                if !isOK || !mayRead { return isOK == mayRead }
                return listen.view(of: state.naive) == NaiveNode(data ?? .null)
            }
            if !isRight { throw fault("\(connection) reads \(status) \(data?.text ?? "")") }
        case .write:
            switch status {
            case "ok":
                if client.kind == .events { count(.eventWrite) }
                if client.member != owner { try check(connection, isBehindAnswer: true) }
            case "datastale", "etag_mismatch": count(.staleTransaction)
            case "permission_denied": count(.refusedWrite)
            default: throw fault("\(connection) is answered \(status)")
            }
        case .credential(let identity):
            if isOK != (identity != .nobody) { throw fault("\(connection) is not \(identity)") }
        case .signOut: clients[connection]?.identity = .nobody
        case .other: if !isOK { throw fault("\(connection) is answered \(status)") }
        }
    }

    /// What the rules of a follower said to a read.
    private func decided(
        _ isAllowed: Bool,
        _ path: NaivePath,
        _ client: FollowingClient
    ) throws(SimulationFault) {
        if client.member == owner { return }
        if mayRead(path, client, client.identity) != isAllowed {
            let word = isAllowed ? "allowed" : "refused"
            throw fault("\(client.connection), \(client.identity), is \(word) to read \(path)")
        }
    }

    private func mayRead(
        _ path: NaivePath,
        _ client: FollowingClient,
        _ identity: SimulatedIdentity
    ) -> Bool {
        let state = states[members[client.member].shown]
        return state.rules.canRead(path, identity, state.naive)
    }

    /// A follower sends a listen data.
    private func pushed(_ index: Int, _ connection: UInt64) throws(SimulationFault) {
        guard let client = clients[connection], client.member != owner else { return }
        let path = client.listens[index].watcher.path
        if !mayRead(path, client, client.identity) {
            throw fault("a listen of \(connection) to \(path) is sent what the rules refuse")
        }
    }

    /// A listen has ended by decision of the rules.
    private func ended(_ index: Int, _ connection: UInt64) throws(SimulationFault) {
        guard let client = clients[connection] else { return }
        note("a listen of \(connection) has ended")
        let listen = clients[connection]?.listens.remove(at: index)
        guard let listen, client.member != owner else { return }
        let path = listen.watcher.path
        let isSignedOut = if case .signOut? = client.requests.first?.asked { true } else { false }
        let mayRead =
            mayRead(path, client, client.identity)
            && !(isSignedOut && !mayRead(path, client, .nobody))
        if mayRead { throw fault("a listen of \(connection) to \(path) has ended without reason") }
        let shown = members[client.member].shown
        let isByRules = shown > 0 && states[shown].rules != states[shown - 1].rules
        count(isByRules ? .endedByRules : .endedByData)
    }

    func streamed(_ text: [UInt8], to connection: UInt64) throws(SimulationFault) {
        guard clients[connection]?.kind == .stream else {
            if left.contains(connection) { return }
            throw fault("no client reads the stream \(connection)")
        }
        for (name, data) in try ServerSentText.events(text) {
            note("stream \(connection) receives \(name) \(data)")
            count(.streamEvent)
            if name == "cancel" {
                try ended(0, connection)
            } else {
                try pushed(0, connection)
                try clients[connection]?.listens[0].watcher.take(name, data)
            }
        }
    }

    /// What becomes of the request for a stream, or of an administrator's.
    func responded(_ id: UInt64, _ response: Response) throws(SimulationFault) {
        switch response {
        case .streaming: clients[id]?.listens[0].watcher.isConfirmed = true
        case .permissionDenied where id != 0, .notIndexed:
            guard let client = clients.removeValue(forKey: id) else { return }
            if case .permissionDenied = response {
                try decided(false, client.listens[0].watcher.path, client)
            }
        case .written, .rulesPut, .done: break
        default: throw fault("request \(id) is answered \(response)")
        }
    }

    // MARK: - Checks

    func checkAll(at index: Int) throws(SimulationFault) {
        for connection in clients.keys.sorted() where clients[connection]?.member == index {
            try check(connection)
        }
    }

    /// Compares what a client shows with the tree that its engine may show, or while listens await a decision, with one
    /// from what it showed last.
    func check(_ connection: UInt64, isBehindAnswer: Bool = false) throws(SimulationFault) {
        guard let client = clients[connection] else { return }
        let member = members[client.member]
        let isOwner = client.member == owner
        let mayLag = !isBehindAnswer && (member.engine.hasWork || isOwner && isCrowded)
        for (index, listen) in client.listens.enumerated() where listen.watcher.isConfirmed {
            count(.check)
            var shown = member.shown
            let state = states[shown]
            do throws(SimulationFault) {
                try listen.watcher.check(state.naive)
            } catch {
                if !mayLag { throw fault("at commit \(shown): \(error)") }
                let earlier = (listen.commit..<shown).last {
                    listen.watcher.shows(states[$0].naive)
                }
                guard let earlier else { throw error }
                shown = earlier
            }
            clients[connection]?.listens[index].commit = shown
            let isAllowed = isOwner || mayRead(listen.watcher.path, client, client.identity)
            if !isAllowed, !mayLag {
                throw fault("\(connection) listens on to \(listen.watcher.path) at \(shown)")
            }
        }
    }
}

extension FollowingClient {
    /// Who a message says that the client is; nil for one that says nothing about it.
    func identity(shownBy text: [UInt8]) -> SimulatedIdentity? {
        guard let message = try? JSONText(text) else { return nil }
        switch message["do"]?.string ?? message["d"]?["a"]?.string {
        case "auth":
            let token = message["token"]?.string ?? message["d"]?["b"]?["cred"]?.string ?? ""
            return SimulatedIdentity(token: String(token.prefix { $0 != "@" }))
        case "unauth": return .nobody
        default: return nil
        }
    }
}

extension FollowingClient.Asked {
    var isWrite: Bool { if case .write = self { true } else { false } }
}
