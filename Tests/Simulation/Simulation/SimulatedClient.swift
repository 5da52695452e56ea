/// A client that believes what it receives: it applies pushes to its own copies and compares what
/// arrives with what the model says must arrive.
package struct SimulatedClient: Sendable {
    /// What it speaks, and how it is driven.
    package enum Kind: Sendable {
        case wire, events
        /// The Swift client speaks for it: its copies are those of a `SyncTwin`, and only replies, cancels and
        /// where pushes go are looked at here.
        case app
    }

    /// What a client keeps of one listen.
    struct Copy: Sendable {
        var node = NaiveNode.absent
        /// Whether the listen was answered; only then the copy must be right.
        var isConfirmed = false
    }

    /// A request that was sent and not answered.
    private enum Sent: Sendable {
        case listen(NaiveListen)
        case unlisten(NaiveListen)
        /// With the key of a push.
        case write(key: String?)
        case other
    }

    package let connection: UInt64
    package let session: String
    package let kind: Kind
    private(set) var copies: [NaiveListen: Copy] = [:]
    /// Data kept from ended listens, which a later listen may say it has.
    private(set) var kept: [NaiveListen: NaiveNode] = [:]
    /// What must arrive, oldest first.
    private(set) var expected: [ReferenceModel.Expectation] = []
    /// What observers of the plain event protocol show, by their number.
    var watchers: [Int: Watcher] = [:]
    /// Events of one change, by observer, until the change is over.
    var events: [Int: [JSONText]] = [:]
    private var sent: [Int: Sent] = [:]
    private var lastRequest = 0
    private var lastTag = 0
    /// Whether it was notified that its credential no longer counts.
    private(set) var isSignedOut = false
    /// Messages that arrived.
    package private(set) var receivedCount = 0

    init(connection: UInt64, session: String, kind: Kind = .wire) {
        self.connection = connection
        self.session = session
        self.kind = kind
    }

    /// Listens that an unlisten could end: answered, and none is on its way.
    var endable: [NaiveListen] {
        let ending = sent.values.compactMap { sent -> NaiveListen? in
            guard case .unlisten(let listen) = sent else { return nil }
            return listen
        }
        return copies.filter { $0.value.isConfirmed && !ending.contains($0.key) }.map(\.key)
            .sorted(by: NaiveListen.isBefore)
    }

    /// Whether a listen may begin: none to the same place is there or on its way out.
    func mayListen(_ listen: NaiveListen) -> Bool {
        func isSame(_ other: NaiveListen) -> Bool {
            other.path == listen.path && other.query == listen.query
        }
        return !copies.keys.contains(where: isSame)
            && !sent.values.contains { sent in
                guard case .unlisten(let ending) = sent else { return false }
                return isSame(ending)
            }
    }

    /// Whether it has asked for nothing yet.
    var isNew: Bool { lastRequest == 0 }

    /// Whether a write has no answer yet.
    var isWriting: Bool {
        sent.values.contains { if case .write = $0 { true } else { false } }
    }

    /// What the next listen is called: an observer has the number of its request.
    mutating func nextTag() -> Int {
        if kind == .events { return lastRequest + 1 }
        lastTag += 1
        return lastTag
    }

    /// Notes a request that leaves now and returns its number.
    mutating func send(_ request: SimulatedRequest) -> Int {
        send(request, number: lastRequest + 1)
        return lastRequest
    }

    /// Notes a request that the client has numbered.
    mutating func send(_ request: SimulatedRequest, number: Int) {
        lastRequest = number
        switch request {
        case .listen(let listen, let having):
            copies[listen] = Copy(node: having ?? .absent)
            sent[number] = .listen(listen)
            if kind == .events { watchers[number] = watcher(of: listen, number) }
        case .unlisten(let listen): sent[number] = .unlisten(listen)
        case .push(_, let key, _): sent[number] = .write(key: key)
        case _ where request.isWrite: sent[number] = .write(key: nil)
        default: sent[number] = .other
        }
    }

    mutating func expect(_ expectation: ReferenceModel.Expectation) {
        expected.append(expectation)
    }

    // MARK: - Messages

    /// Takes one message from the server.
    ///
    /// `states` are what each commit left, up to the newest durable one. `mayRead` says whether the
    /// rules let this client read at a path in that one; nil when the message may be older.
    mutating func receive(
        _ text: [UInt8],
        states: ArraySlice<ReferenceModel.State>,
        mayRead: ((NaivePath) -> Bool)? = nil,
    ) throws(SimulationFault) {
        receivedCount += 1
        if isSignedOut { throw fault("receives something after its credential was revoked") }
        let message: JSONText
        do throws(JSONTextError) {
            message = try JSONText(text)
        } catch {
            throw fault("receives no JSON: \(String(decoding: text, as: UTF8.self))")
        }
        if kind == .events { return try take(message, states, mayRead) }
        guard let payload = message["d"] else { throw fault("receives \(message.text)") }
        if message["t"] == .string("c") {
            if payload["t"] == .string("h") { try greeted(payload["d"]?["s"], states) }
        } else if let number = payload["r"]?.number, let body = payload["b"] {
            try replied(Int(number), body["s"]?.string ?? "", body["d"], states)
        } else if let action = payload["a"]?.string, let body = payload["b"] {
            try pushed(action, body, states, mayRead)
        }
    }

    mutating func greeted(
        _ name: JSONText?,
        _ states: ArraySlice<ReferenceModel.State>
    ) throws(SimulationFault) {
        guard case .hello(session, let commit)? = expected.first, name == .string(session)
        else { throw fault("is greeted unexpectedly as \(name?.text ?? "nobody")") }
        expected.removeFirst()
        if commit >= states.endIndex {
            throw fault("is greeted before commit \(commit) is durable")
        }
    }

    mutating func replied(
        _ number: Int,
        _ answer: String,
        _ data: JSONText?,
        key: String? = nil,
        _ states: ArraySlice<ReferenceModel.State>
    ) throws(SimulationFault) {
        guard case .reply(number, let status, let value, let commit, let live)? = expected.first
        else { throw fault("hears a reply to \(number), not \(wanted)") }
        expected.removeFirst()
        guard answer == status else {
            throw fault("hears \(answer) to \(number), not \(status)")
        }
        if let value, let data, NaiveNode(data) != value {
            throw fault("reads \(data.text) with \(number), not \(value.json.text)")
        }
        guard commit < states.endIndex else {
            throw fault("hears the reply to \(number) before commit \(commit) is durable")
        }
        switch sent.removeValue(forKey: number) {
        case .listen(let listen) where status == "ok": copies[listen]?.isConfirmed = true
        case .listen(let listen): copies[listen] = nil
        case .unlisten(let listen): end(listen)
        case .write(let given) where given != key && status == "ok":
            throw fault("hears that its push has the key \(key ?? "none")")
        case .write, .other: break
        case nil: throw fault("hears a second reply to \(number)")
        }
        try compare(live, states[commit].root, "with the reply to \(number), commit \(commit)")
    }

    private mutating func pushed(
        _ action: String,
        _ body: JSONText,
        _ states: ArraySlice<ReferenceModel.State>,
        _ mayRead: ((NaivePath) -> Bool)?,
    ) throws(SimulationFault) {
        let path = NaiveTarget(text: body["p"]?.string ?? "")
        if action == "ac" { return try signedOut(body, body["s"]?.string ?? "", states) }
        if action == "c" {
            try cancelled(path.path, body, states)
            return
        }
        let receivers = try receivers(of: path.path, body)
        if let mayRead, !receivers.contains(where: { mayRead($0.path) }) {
            throw fault("is pushed what the rules refuse: \(body.text)")
        }
        if kind == .app { return }
        let data = body["d"] ?? .null
        switch (action, data) {
        case ("d", _): apply(NaiveNode(data), at: path, tag: body["t"] != nil, receivers)
        case ("m", .object(let members)):
            for member in members {
                var target = NaiveTarget(text: member.name)
                target.path = path.path + target.path
                apply(NaiveNode(member.value), at: target, tag: body["t"] != nil, receivers)
            }
        default: throw fault("is pushed \(action) \(body.text)")
        }
    }

    /// The listens that a push is about: the one with its tag, or the default ones at and above it.
    private func receivers(
        of path: NaivePath,
        _ body: JSONText
    ) throws(SimulationFault) -> [NaiveListen] {
        let tag = body["t"]?.number.map { Int($0) }
        let found = copies.keys.filter { $0.tag == tag && path.starts(with: $0.path) }
        if found.isEmpty { throw fault("is pushed what it did not ask for: \(body.text)") }
        return found
    }

    /// A push without a tag concerns every default listen that it overlaps, as in the clients.
    private mutating func apply(
        _ node: NaiveNode,
        at target: NaiveTarget,
        tag isTagged: Bool,
        _ receivers: [NaiveListen]
    ) {
        let concerned = isTagged ? receivers : copies.keys.filter { $0.tag == nil }
        for listen in concerned {
            if target.path.starts(with: listen.path) {
                let inside = Array(target.path.dropFirst(listen.path.count))
                let target = NaiveTarget(path: inside, isPriority: target.isPriority)
                copies[listen]?.node.write(NaiveWrite(target: target, node: node))
            } else if !target.isPriority, listen.path.starts(with: target.path) {
                copies[listen]?.node = node[Array(listen.path.dropFirst(target.path.count))]
            }
        }
    }

    private mutating func cancelled(
        _ path: NaivePath,
        _ body: JSONText,
        _ states: ArraySlice<ReferenceModel.State>
    ) throws(SimulationFault) {
        // An app writes its queries in its own words.
        let query = body["q"].map(\.text)
        let isApp = kind == .app
        try cancelled(body.text, states) { listen in
            listen.path == path
                && (isApp || query == listen.query.map { "[\($0.json.text)]" })
        }
    }

    mutating func cancelled(
        _ text: String,
        _ states: ArraySlice<ReferenceModel.State>,
        _ isIt: (NaiveListen) -> Bool
    ) throws(SimulationFault) {
        guard case .cancel(let listen, let commit)? = expected.first, isIt(listen) else {
            throw fault("receives a cancel of \(text), not \(wanted)")
        }
        expected.removeFirst()
        guard commit < states.endIndex else {
            throw fault("receives a cancel before commit \(commit) is durable")
        }
        guard copies[listen] != nil else { throw fault("receives a second cancel: \(text)") }
        end(listen)
    }

    mutating func signedOut(
        _ body: JSONText,
        _ answer: String,
        _ states: ArraySlice<ReferenceModel.State>
    ) throws(SimulationFault) {
        guard case .signedOut(answer, let commit)? = expected.first
        else { throw fault("receives the end of its credential, \(body.text), not \(wanted)") }
        expected.removeFirst()
        guard commit < states.endIndex else {
            throw fault("receives the end of its credential before commit \(commit) is durable")
        }
        isSignedOut = kind != .events
    }

    private mutating func end(_ listen: NaiveListen) {
        // An app may listen again before it hears that it has ended.
        let isAgain = sent.values.contains { if case .listen(listen) = $0 { true } else { false } }
        if kind == .app, isAgain { return }
        if let copy = copies.removeValue(forKey: listen), listen.query == nil {
            kept[listen] = copy.node
        }
        if kind == .events, let number = listen.tag {
            watchers[number] = nil
            events[number] = nil
        }
    }

    // MARK: - Checks

    /// Compares every answered listen with what it must show.
    func check(_ root: NaiveNode, _ occasion: String) throws(SimulationFault) {
        let confirmed = copies.filter(\.value.isConfirmed).map(\.key)
        try compare(confirmed, root, occasion)
    }

    /// Compares the answered listens, which must be exactly `live`.
    private func compare(
        _ live: [NaiveListen],
        _ root: NaiveNode,
        _ occasion: String
    ) throws(SimulationFault) {
        if kind == .app { return }
        let confirmed = copies.filter(\.value.isConfirmed)
        guard Set(confirmed.keys) == Set(live) else {
            throw fault("has other listens than \(live) \(occasion): \(Array(confirmed.keys))")
        }
        if kind == .events { return try checkWatchers(root, occasion) }
        for (listen, copy) in confirmed {
            let right = listen.view(of: root)
            guard let difference = copy.node.difference(from: right) else { continue }
            let place = "/\(listen.path.joined(separator: "/")) \(listen.query?.json.text ?? "")"
            throw fault("at \(place) sees that \(difference), \(occasion)")
        }
    }

    var wanted: String { expected.first.map { "\($0)" } ?? "nothing" }

    func fault(_ text: String) -> SimulationFault {
        SimulationFault("client \(connection) \(text)")
    }
}

/// Something that the server promised and did not do.
package struct SimulationFault: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

extension NaiveListen {
    /// By path, then query: an order that is the same in every process.
    static func isBefore(_ left: NaiveListen, _ right: NaiveListen) -> Bool {
        left.sortText < right.sortText
    }

    private var sortText: String {
        "\(path.joined(separator: "/")) \(query?.json.text ?? "") \(tag ?? 0)"
    }
}
