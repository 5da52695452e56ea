import EventProtocol
import JSONTree

/// What a client of the plain event protocol says and hears.
extension SimulatedClient {
    /// The request as a frame, read by the server's own reader.
    func eventRequest(
        _ request: SimulatedRequest,
        number: Int
    ) throws(SimulationFault) -> EventRequest {
        let text = eventText(request, number).text(isSorted: false)
        do {
            let key = if case .push(_, let key, _) = request { try Key(key) } else { try Key("k") }
            return try EventRequest.parse(Array(text.utf8)) { key }
        } catch {
            throw fault("the server cannot read \(text): \(error)")
        }
    }

    /// The request as clients of the plain event protocol write it.
    func eventText(_ request: SimulatedRequest, _ number: Int) -> JSONText {
        var members: [(name: String, value: JSONText)] = [("id", .number(Double(number)))]
        func ask(_ name: String, at path: String? = nil) {
            members.append(("do", .string(name)))
            if let path { members.append(("path", .string("/" + path))) }
        }
        switch request {
        case .put(let target, let node, let hash):
            ask(node == .absent ? "remove" : "set", at: target.text)
            if node != .absent { members.append(("value", node.json)) }
            let tag = hash.map { $0.isEmpty ? "null_etag" : $0 }
            if let tag { members.append(("ifMatch", .string(tag))) }
        case .push(let path, _, let node):
            ask("push", at: path.joined(separator: "/"))
            members.append(("value", node.json))
        case .merge(let base, let writes):
            ask("update", at: base.joined(separator: "/"))
            members.append(("value", Self.update(base, writes)))
        case .listen(let listen, _): return watcher(of: listen, number).request(number)
        case .unlisten(let listen):
            return watcher(of: listen, listen.tag ?? 0).endRequest(number)
        case .get(let listen):
            ask("get", at: listen.path.joined(separator: "/"))
            members.append(("export", .boolean(true)))
            if let query = listen.query { members.append(("query", query.eventJSON)) }
        case .onDisconnectPut(let target, let node):
            ask("onDisconnect", at: target.text)
            members.append(("value", node.json))
        case .onDisconnectMerge(let base, let writes):
            ask("onDisconnect", at: base.joined(separator: "/"))
            members.append(("update", Self.update(base, writes)))
        case .onDisconnectCancel(let target):
            ask("onDisconnect", at: target.text)
            members.append(("cancel", .boolean(true)))
        case .auth(let identity):
            ask("auth")
            members.append(("token", .string(identity.token)))
        case .unauth: ask("unauth")
        case .other: ask("ping")
        }
        return .object(members)
    }

    private static func update(_ base: NaivePath, _ writes: [NaiveWrite]) -> JSONText {
        .object(
            writes.map { write in
                let path = Array(write.target.path.dropFirst(base.count))
                let target = NaiveTarget(path: path, isPriority: write.target.isPriority)
                return (name: target.text, value: write.node.json)
            }
        )
    }

    /// An observer of child events, of `value`, or of both.
    func watcher(of listen: NaiveListen, _ number: Int) -> Watcher {
        Watcher(
            connection: connection,
            number: number,
            kind: .observer(children: number % 3 != 0, value: number % 3 != 1),
            path: listen.path,
            query: listen.query,
        )
    }

    // MARK: - Messages

    /// Takes one message of the plain event protocol.
    mutating func take(
        _ message: JSONText,
        _ states: ArraySlice<ReferenceModel.State>,
        _ mayRead: ((NaivePath) -> Bool)?
    ) throws(SimulationFault) {
        if let id = message["id"]?.number {
            try endChange()
            var answer = message["error"]?.string ?? "ok"
            if answer == "etag_mismatch" { answer = "datastale" }
            let data = answer == "ok" ? message["value"] : nil
            return try replied(Int(id), answer, data, key: message["key"]?.string, states)
        }
        let error = message["error"]?.string ?? ""
        switch message["event"]?.string {
        case "hello": try greeted(message["session"], states)
        case "authRevoked": try signedOut(message, error, states)
        case "cancelled":
            try endChange()
            let observer = message["observer"]?.number
            try cancelled(message.text, states) { $0.tag.map { Double($0) } == observer }
        case let name?:
            guard let number = message["observer"]?.number.map({ Int($0) }),
                let watcher = watchers[number], watcher.wants(name)
            else { throw fault("never asked for \(message.text)") }
            if let mayRead, !mayRead(watcher.path) {
                throw fault("is sent what the rules refuse: \(message.text)")
            }
            events[number, default: []].append(message)
        case nil: throw fault("receives \(message.text)")
        }
    }

    /// All events of a change are there.
    mutating func endChange() throws(SimulationFault) {
        for number in events.keys.sorted() {
            try watchers[number]?.take(events[number] ?? [])
        }
        events = [:]
    }

    /// Compares every answered observer with what it must show.
    func checkWatchers(_ root: NaiveNode, _ occasion: String) throws(SimulationFault) {
        for (listen, copy) in copies where copy.isConfirmed {
            do throws(SimulationFault) {
                try listen.tag.flatMap { watchers[$0] }?.check(root)
            } catch {
                throw fault("\(occasion): \(error)")
            }
        }
    }
}
