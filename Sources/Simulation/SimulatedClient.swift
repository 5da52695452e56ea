/// A client that believes what it is told: it applies pushes to its own copies and compares what
/// arrives with what the model says must arrive.
package struct SimulatedClient: Sendable {
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
        case other
    }

    package let connection: UInt64
    package let session: String
    private(set) var copies: [NaiveListen: Copy] = [:]
    /// Data kept from ended listens, which a later listen may say it has.
    private(set) var kept: [NaiveListen: NaiveNode] = [:]
    /// What must arrive, oldest first.
    private(set) var expected: [ReferenceModel.Expectation] = []
    private var sent: [Int: Sent] = [:]
    private var lastRequest = 0
    private var lastTag = 0
    /// Whether it was told that its credential no longer counts.
    private(set) var isSignedOut = false
    /// Messages that arrived.
    package private(set) var receivedCount = 0

    init(connection: UInt64, session: String) {
        self.connection = connection
        self.session = session
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

    mutating func nextTag() -> Int {
        lastTag += 1
        return lastTag
    }

    /// Notes a request that leaves now and returns its number.
    mutating func send(_ request: SimulatedRequest) -> Int {
        lastRequest += 1
        switch request {
        case .listen(let listen, let having):
            copies[listen] = Copy(node: having ?? .absent)
            sent[lastRequest] = .listen(listen)
        case .unlisten(let listen): sent[lastRequest] = .unlisten(listen)
        default: sent[lastRequest] = .other
        }
        return lastRequest
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
        if isSignedOut { throw fault("is told of something after its credential was revoked") }
        let message: JSONText
        do throws(JSONTextError) {
            message = try JSONText(text)
        } catch {
            throw fault("is told no JSON: \(String(decoding: text, as: UTF8.self))")
        }
        guard let payload = message["d"] else { throw fault("is told \(message.text)") }
        if message["t"] == .string("c") {
            if payload["t"] == .string("h") { try greeted(payload, states) }
        } else if let number = payload["r"]?.number, let body = payload["b"] {
            try replied(Int(number), body, states)
        } else if let action = payload["a"]?.string, let body = payload["b"] {
            try pushed(action, body, states, mayRead)
        }
    }

    private mutating func greeted(
        _ payload: JSONText,
        _ states: ArraySlice<ReferenceModel.State>
    ) throws(SimulationFault) {
        guard case .hello(session, let commit)? = expected.first,
            payload["d"]?["s"] == .string(session)
        else { throw fault("is greeted unexpectedly: \(payload.text)") }
        expected.removeFirst()
        if commit >= states.endIndex {
            throw fault("is greeted before commit \(commit) is durable")
        }
    }

    private mutating func replied(
        _ number: Int,
        _ body: JSONText,
        _ states: ArraySlice<ReferenceModel.State>
    ) throws(SimulationFault) {
        guard case .reply(number, let status, let value, let commit, let live)? = expected.first
        else { throw fault("hears a reply to \(number), not \(wanted)") }
        expected.removeFirst()
        guard body["s"] == .string(status) else {
            throw fault("hears \(body.text) to \(number), not \(status)")
        }
        if let value, let data = body["d"], NaiveNode(data) != value {
            throw fault("reads \(data.text) with \(number), not \(value.json.text)")
        }
        guard commit < states.endIndex else {
            throw fault("hears the reply to \(number) before commit \(commit) is durable")
        }
        switch sent.removeValue(forKey: number) {
        case .listen(let listen) where status == "ok": copies[listen]?.isConfirmed = true
        case .listen(let listen): copies[listen] = nil
        case .unlisten(let listen): end(listen)
        case .other: break
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
        if action == "ac" { return try signedOut(body, states) }
        if action == "c" {
            try cancelled(path.path, body, states)
            return
        }
        let receivers = try receivers(of: path.path, body)
        if let mayRead, !receivers.contains(where: { mayRead($0.path) }) {
            throw fault("is pushed what the rules refuse: \(body.text)")
        }
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
        guard case .cancel(let listen, let commit)? = expected.first, listen.path == path else {
            throw fault("hears of a cancel of \(body.text), not \(wanted)")
        }
        expected.removeFirst()
        let query = body["q"].map(\.text)
        guard query == listen.query.map({ "[\($0.json.text)]" }) else {
            throw fault("hears of a cancel with another query: \(body.text)")
        }
        guard commit < states.endIndex else {
            throw fault("hears of a cancel before commit \(commit) is durable")
        }
        guard copies[listen] != nil else { throw fault("hears of a second cancel: \(body.text)") }
        end(listen)
    }

    private mutating func signedOut(
        _ body: JSONText,
        _ states: ArraySlice<ReferenceModel.State>
    ) throws(SimulationFault) {
        guard case .signedOut(let commit)? = expected.first, body["s"] == .string("invalid_token")
        else { throw fault("hears of the end of its credential, \(body.text), not \(wanted)") }
        expected.removeFirst()
        guard commit < states.endIndex else {
            throw fault("hears of the end of its credential before commit \(commit) is durable")
        }
        isSignedOut = true
    }

    private mutating func end(_ listen: NaiveListen) {
        if let copy = copies.removeValue(forKey: listen), listen.query == nil {
            kept[listen] = copy.node
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
        let confirmed = copies.filter(\.value.isConfirmed)
        guard Set(confirmed.keys) == Set(live) else {
            throw fault("has other listens than \(live) \(occasion): \(Array(confirmed.keys))")
        }
        for (listen, copy) in confirmed {
            let right = listen.view(of: root)
            guard let difference = copy.node.difference(from: right) else { continue }
            let place = "/\(listen.path.joined(separator: "/")) \(listen.query?.json.text ?? "")"
            throw fault("at \(place) sees that \(difference), \(occasion)")
        }
    }

    private var wanted: String { expected.first.map { "\($0)" } ?? "nothing" }

    private func fault(_ text: String) -> SimulationFault {
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
