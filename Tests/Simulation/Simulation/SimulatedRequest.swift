import JSONTree
package import WireProtocol

/// What a simulated client asks, in the terms of the model.
package enum SimulatedRequest: Sendable {
    /// With a hash, a transaction: the put counts only if a node with this hash is there.
    case put(NaiveTarget, NaiveNode, hash: String?)
    /// A put at a new key, of the plain event protocol.
    case push(NaivePath, key: String, NaiveNode)
    /// Targets are absolute and lie below the base.
    case merge(base: NaivePath, [NaiveWrite])
    /// With `having`, the client says that it has this data already.
    case listen(NaiveListen, having: NaiveNode?)
    case unlisten(NaiveListen)
    case get(NaiveListen)
    case onDisconnectPut(NaiveTarget, NaiveNode)
    case onDisconnectMerge(base: NaivePath, [NaiveWrite])
    case onDisconnectCancel(NaiveTarget)
    case auth(SimulatedIdentity)
    case unauth
    /// Statistics, which change nothing.
    case other

    /// What it writes at once; nil for what writes nothing at once.
    var immediateWrites: [NaiveWrite]? {
        switch self {
        case .put(let target, let node, _): [NaiveWrite(target: target, node: node)]
        case .merge(_, let writes): writes
        case .push(let path, let key, let node):
            [NaiveWrite(target: NaiveTarget(path: path + [key]), node: node)]
        case .listen, .unlisten, .get, .auth, .unauth, .other, .onDisconnectPut,
            .onDisconnectMerge, .onDisconnectCancel:
            nil
        }
    }

    /// Whether it would change something.
    var isWrite: Bool {
        switch self {
        case .put, .merge, .push, .onDisconnectPut, .onDisconnectMerge, .onDisconnectCancel: true
        case .listen, .unlisten, .get, .auth, .unauth, .other: false
        }
    }
}

/// One value, or draft, and its place.
package struct NaiveWrite: Equatable, Sendable {
    package var target: NaiveTarget
    package var node: NaiveNode
}

/// A listen as its client knows it.
package struct NaiveListen: Hashable, Sendable {
    package var path: NaivePath
    /// Nil for a default listen.
    package var query: NaiveQuery?
    /// What the client calls a query; nil for a default listen. Never used twice by a client.
    package var tag: Int?

    package init(path: NaivePath, query: NaiveQuery? = nil, tag: Int? = nil) {
        self.path = path
        self.query = query
        self.tag = tag
    }

    /// What a listener sees of a whole tree.
    package func view(of root: NaiveNode) -> NaiveNode {
        query?.result(in: root[path]) ?? root[path]
    }
}

/// Whom the simulated rules know; the token of each is its text.
package enum SimulatedIdentity: Hashable, Sendable {
    case admin, nobody
    case user(String)

    /// The credential that proves it; `nobody` has none that is accepted.
    package var token: String {
        switch self {
        case .admin: "admin"
        case .nobody: "bad"
        case .user(let uid): "user:" + uid
        }
    }

    /// Whose credential a token is. Apps send them in three parts.
    init(token: String) {
        let parts = token.split(separator: ".")
        if token == "admin" {
            self = .admin
        } else if token.hasPrefix("user:") {
            self = .user(String(token.dropFirst(5)))
        } else {
            self = parts.count == 3 ? .user(String(parts[1])) : .nobody
        }
    }
}

extension SimulatedRequest {
    /// The request as bytes on the wire, read back by the server's own reader.
    ///
    /// - Throws: `MessageError` when the server cannot read it.
    package func message(number: Int) throws(MessageError) -> ClientMessage {
        try ClientMessage.parse(Array(wireText(number: number).utf8))
    }

    /// The request as clients of the wire protocol write it.
    func wireText(number: Int) -> String {
        let (action, body) = parts
        return
            #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":\#(body.text(isSorted: false))}}"#
    }

    /// The request in words.
    var text: String { "\(parts.action) \(parts.body.text(isSorted: false))" }

    private typealias Members = [(name: String, value: JSONText)]

    private var parts: (action: String, body: JSONText) {
        switch self {
        case .put(let target, let draft, let hash):
            var body = Self.members(target, draft)
            if let hash { body.append(("h", .string(hash))) }
            return ("p", .object(body))
        case .push: preconditionFailure("clients of the wire protocol make keys by themselves")
        case .merge(let base, let writes): return ("m", Self.merge(base, writes))
        case .listen(let listen, let having):
            var body = Self.members(listen)
            body.append(("h", .string(having.map(Self.hash) ?? "none")))
            return ("q", .object(body))
        case .unlisten(let listen): return ("n", .object(Self.members(listen)))
        case .get(let listen): return ("g", .object(Self.members(listen)))
        case .onDisconnectPut(let target, let draft):
            return ("o", .object(Self.members(target, draft)))
        case .onDisconnectMerge(let base, let writes): return ("om", Self.merge(base, writes))
        case .onDisconnectCancel(let target):
            return ("oc", .object([("p", .string("/" + target.text)), ("d", .null)]))
        case .auth(let identity): return ("auth", .object([("cred", .string(identity.token))]))
        case .unauth: return ("unauth", .object([]))
        case .other: return ("s", .object([("c", .object([]))]))
        }
    }

    /// The request that a client's message is; nil for what is none.
    ///
    /// - Throws: `SimulationFault` for a request that no client of ours sends.
    init?(wire message: JSONText) throws(SimulationFault) {
        guard let payload = message["d"], let action = payload["a"]?.string,
            let body = payload["b"]
        else { return nil }
        let target = NaiveTarget(text: body["p"]?.string ?? "")
        let node = NaiveNode(body["d"] ?? .null)
        let listen = NaiveListen(
            path: target.path,
            query: body["q"].flatMap(NaiveQuery.init(wire:)),
            tag: body["t"]?.number.map { Int($0) }
        )
        switch action {
        case "p": self = .put(target, node, hash: body["h"]?.string)
        case "m": self = .merge(base: target.path, Self.writes(target.path, body))
        case "q": self = .listen(listen, having: nil)
        case "n": self = .unlisten(listen)
        case "g": self = .get(listen)
        case "o": self = .onDisconnectPut(target, node)
        case "om": self = .onDisconnectMerge(base: target.path, Self.writes(target.path, body))
        case "oc": self = .onDisconnectCancel(target)
        case "auth": self = .auth(SimulatedIdentity(token: body["cred"]?.string ?? ""))
        case "unauth": self = .unauth
        case "s": self = .other
        default: throw SimulationFault("a client asks for \(message.text)")
        }
    }

    private static func writes(_ base: NaivePath, _ body: JSONText) -> [NaiveWrite] {
        guard case .object(let members)? = body["d"] else { return [] }
        return members.map { member in
            var target = NaiveTarget(text: member.name)
            target.path = base + target.path
            return NaiveWrite(target: target, node: NaiveNode(member.value))
        }
    }

    private static func members(_ target: NaiveTarget, _ draft: NaiveNode) -> Members {
        [("p", .string("/" + target.text)), ("d", draft.json)]
    }

    private static func members(_ listen: NaiveListen) -> Members {
        var members: Members = [("p", .string("/" + listen.path.joined(separator: "/")))]
        if let query = listen.query { members.append(("q", query.json)) }
        if let tag = listen.tag { members.append(("t", .number(Double(tag)))) }
        return members
    }

    private static func merge(_ base: NaivePath, _ writes: [NaiveWrite]) -> JSONText {
        let entries = writes.map { write in
            let path = Array(write.target.path.dropFirst(base.count))
            let target = NaiveTarget(path: path, isPriority: write.target.isPriority)
            return (name: target.text, value: write.node.json)
        }
        return .object([
            ("p", .string("/" + base.joined(separator: "/"))), ("d", .object(entries)),
        ])
    }

    /// The hash as a client works it out. The tree's own code does: its tables test it.
    static func hash(of node: NaiveNode) -> String {
        do throws(JSONError) {
            return try Node(json: node.json.text).hash()
        } catch {
            preconditionFailure("the workload makes legal values: \(error)")
        }
    }
}
