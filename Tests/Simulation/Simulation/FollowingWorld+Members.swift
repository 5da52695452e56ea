import DatabaseCore
import EventProtocol
import JSONTree
import SecurityRules
import WireProtocol

/// What goes into the engines and comes out of them.
extension FollowingWorld {
    func input(_ input: DatabaseCore.Input, at index: Int) throws(SimulationFault) {
        var effects: [Effect] = []
        members[index].engine.step(input, now: Timestamp(milliseconds: now), effects: &effects)
        try perform(effects, at: index)
    }

    func perform(_ effects: [Effect], at index: Int) throws(SimulationFault) {
        var receivers: Set<UInt64> = []
        for effect in effects {
            switch effect {
            case .append(let record):
                if index != owner { throw fault("member \(index) follows and makes a commit") }
                try keep(record)
            case .forward(let text, let connection): try forward(text, connection.value, at: index)
            case .verify(let inquiry, let token):
                members[index].inquiries.append((inquiry, token))
            case .send(.text(let text), let connections):
                for connection in connections {
                    receivers.insert(connection.value)
                    try deliver(text, to: connection.value, at: index)
                }
            case .sendNumbered(let text, let numbered):
                for receiver in numbered {
                    receivers.insert(receiver.connection.value)
                    let whole = text.whole(receiver.number)
                    try deliver(whole, to: receiver.connection.value, at: index)
                }
            case .send(.serverSent(let text), let connections):
                for connection in connections { try streamed(text, to: connection.value) }
            case .close(let connection, let reason):
                try closed(connection.value, reason, at: index)
            case .respond(let id, let response): try responded(id.value, response)
            case .work(let inquiry, let work): members[index].works.append((inquiry, work))
            case .endWork, .release, .note, .profiled, .decided, .explain: break
            case .send: throw fault("the engine takes small data for large")
            }
        }
        if index == owner, members[index].engine.root(of: Self.database) != states.last?.root {
            throw fault("the owner has another tree than its commits")
        }
        for connection in receivers.sorted() {
            try clients[connection]?.endChange()
            try check(connection)
        }
    }

    /// Takes a commit of the owner.
    private func keep(_ record: CommitRecord) throws(SimulationFault) {
        guard record.number.value == UInt64(states.count) else {
            throw fault("commit \(record.number.value) comes after \(states.count - 1)")
        }
        do throws(CommitDecodingError) { try ledger.apply(record) } catch {
            throw fault("commit \(record.number.value) cannot be read: \(error)")
        }
        let last = states[states.count - 1]
        let root = ledger.root(of: Self.database)
        let naive = Self.naive(root, since: last.root, last.naive)
        let text = ledger.snapshots().first?.rules
        let rules = rulesets.first { text == nil || $0.ruleset.text == text }?.rules ?? .rooms
        states.append(State(root: root, naive: naive, rules: rules))
        records.append(record)
        count(.commit)
    }

    /// A node as the twins have it; what is the same as in an earlier one is that of `naive`.
    private static func naive(_ node: Node, since last: Node, _ naive: NaiveNode) -> NaiveNode {
        if node.isIdentical(to: last) { return naive }
        guard node.isMap, last.isMap else { return SyncPeer.naive(node) }
        var result = NaiveNode(nil, priority: SyncPeer.naive(node.priority).leaf)
        node.visitChildren { bytes, child in
            let key = Key(bytes)
            let known = naive.children[key.string] ?? .absent
            result.children[key.string] = Self.naive(child, since: last.child(key), known)
            return true
        }
        return result
    }

    private func deliver(
        _ text: [UInt8],
        to connection: UInt64,
        at index: Int
    ) throws(SimulationFault) {
        if crowd.contains(connection) { return }
        let message: JSONText
        do throws(JSONTextError) { message = try JSONText(text) } catch {
            throw fault("\(connection) gets no JSON: \(String(decoding: text, as: UTF8.self))")
        }
        if clients[connection]?.member == index { return try receive(message, connection) }
        // What waited for the log may come too late for its receiver.
        if index == owner, left.contains(connection) { return }
        guard index == owner,
            let client = shadows.first(where: { $0.value.connection == connection })?.key
        else { throw fault("no client is there for \(message.text)") }
        if shadows[client]?.isLost == true || shadows[client]?.isEnding == true { return }
        let status = message["d"]?["b"]?["s"]
        if message["d"]?["r"] != nil || message["id"] != nil {
            let isOK = status == .string("ok") || message["ok"] == .boolean(true)
            let answer = OwnerMessage.answer(text: text, isOK: isOK)
            shadows[client]?.fromOwner.append((durable, answer))
        } else if message["t"] != .string("c"), message["event"] != .string("hello") {
            throw fault("a shadow is sent \(message.text)")
        }
    }

    private func closed(
        _ connection: UInt64,
        _ reason: CloseReason,
        at index: Int
    ) throws(SimulationFault) {
        if crowd.remove(connection) != nil || index == owner && left.contains(connection) { return }
        guard let client = clients[connection], client.member == index else {
            throw fault("\(connection) is closed: \(reason)")
        }
        note("\(connection) is closed: \(reason)")
        guard reason == (client.kind == .stream ? .permissionDenied : .ownerLost) else {
            throw fault("\(connection) is closed: \(reason)")
        }
        forget(connection)
    }

    // MARK: - Shadows

    private func forward(
        _ text: [UInt8],
        _ connection: UInt64,
        at index: Int
    ) throws(SimulationFault) {
        guard index != owner, let client = clients[connection], client.member == index else {
            throw fault("member \(index) has nobody to ask for \(connection)")
        }
        note("\(connection) asks the owner \(String(decoding: text, as: UTF8.self))")
        let isFirst = shadows[connection] == nil
        if isFirst {
            lastConnection += 1
            shadows[connection] = Shadow(connection: lastConnection)
        }
        clients[connection]?.hasAskedOwner = true
        if let identity = client.identity(shownBy: text) {
            if identity != .nobody { count(isFirst ? .lateCredential : .knownCredential) }
            shadows[connection]?.identity = identity
        } else if shadows[connection]?.identity != client.identity {
            throw fault("the owner is not shown that \(connection) is \(client.identity)")
        }
        if shadows[connection]?.isLost == false { shadows[connection]?.toOwner.append(text) }
    }

    /// The owner gets the next thing of a shadow.
    func bringToOwner() throws(SimulationFault) {
        let some = shadows.filter(\.value.isForOwner).keys.sorted()
        if some.isEmpty { return }
        let connection = workload.pick(some)
        guard var shadow = shadows[connection] else { return }
        if shadow.toOwner.isEmpty {
            shadows[connection] = nil
            return try end(shadow)
        }
        let text = shadow.toOwner.removeFirst()
        let id = ConnectionID(shadow.connection)
        let isOpen = shadow.isOpen
        shadow.isOpen = true
        shadows[connection] = shadow
        let isEvents = text.starts(with: #"{"id""#.utf8)
        if !isOpen {
            let handshake = Self.handshake(connection, isEvents ? .events : .wire)
            try input(.connected(id, handshake), at: owner)
        }
        try input(message(text, from: id, isEvents: isEvents), at: owner)
    }

    /// The owner learns that a shadow is over.
    func end(_ shadow: Shadow) throws(SimulationFault) {
        if !shadow.isOpen { return }
        left.insert(shadow.connection)
        let before = records.count
        try input(.disconnected(ConnectionID(shadow.connection)), at: owner)
        if records.count > before { count(.ranAtEnd) }
    }

    /// A follower gets what the owner says next about a session, once it has what the owner had.
    func bringFromOwner() throws(SimulationFault) {
        let some = shadows.filter { !$0.value.fromOwner.isEmpty }.keys.sorted()
        if some.isEmpty { return }
        let connection = workload.pick(some)
        guard let (after, message) = shadows[connection]?.fromOwner.first,
            let client = clients[connection]
        else { return }
        if members[client.member].shown < after { return count(.heldAnswer) }
        shadows[connection]?.fromOwner.removeFirst()
        note("the owner says to \(connection) \(message.words)")
        if message == .lost {
            count(.lostShadow)
            shadows[connection] = nil
        }
        let state = states[members[client.member].shown]
        let isSuspended =
            members[client.member].engine.hasWork && client.requests.first?.asked.isWrite == true
            && message != .lost
        let isBehind =
            isSuspended
            && client.listens.contains {
                $0.watcher.isConfirmed && !$0.watcher.shows(state.naive)
            }
        if isSuspended { count(.answeredWhileSuspended) }
        if isBehind { count(.decidedForAnswer) }
        try input(.owner(message, to: ConnectionID(connection)), at: client.member)
        // A follower shows the owner no credential that it has refused itself.
        let isOver = message == .lost || message.words.contains("invalid_token")
        if isOver, clients[connection] != nil {
            throw fault("\(connection) goes on without the owner")
        }
    }

    /// The connection between a session and its shadow breaks: the first of what is under way arrives.
    func loseShadow() throws(SimulationFault) {
        let some = shadows.filter { !$0.value.isEnding && !$0.value.isLost }.keys.sorted()
        if !some.isEmpty { try lose(workload.pick(some)) }
    }

    private func lose(_ connection: UInt64) throws(SimulationFault) {
        guard let shadow = shadows[connection] else { return }
        note("the shadow of \(connection) is lost")
        cutShadow(of: connection)
        try end(shadow)
    }

    /// Leaves of what the owner has said the first, and then that it is lost.
    private func cutShadow(of connection: UInt64) {
        guard var shadow = shadows[connection], !shadow.isLost else { return }
        left.insert(shadow.connection)
        shadow.isLost = true
        shadow.toOwner = []
        shadow.fromOwner = Array(shadow.fromOwner.prefix(workload.number(below: 3)))
        shadow.fromOwner.append((0, .lost))
        shadows[connection] = shadow
    }

    // MARK: - Credentials

    /// A credential that an engine wants to know about has been checked.
    func verify() throws(SimulationFault) {
        let some = members.indices.filter { !members[$0].inquiries.isEmpty }
        if some.isEmpty { return }
        let index = workload.pick(some)
        let choice = workload.number(below: members[index].inquiries.count)
        let (inquiry, token) = members[index].inquiries.remove(at: choice)
        let parts = token.split(separator: "@")
        let connection = UInt64(parts[1]) ?? 0
        var identity = SimulatedIdentity(token: String(parts[0]))
        if clients[connection]?.member == index {
            if identity != .nobody { clients[connection]?.identity = identity }
        } else if workload.happens(oneIn: 12) {
            identity = .nobody
            count(.refusedCredential)
        }
        note("\(index) learns that \(connection) is \(identity)")
        try input(.verified(inquiry, Self.outcome(of: identity)), at: index)
    }

    static func outcome(of identity: SimulatedIdentity) -> CredentialOutcome {
        switch identity {
        case .admin: .admin()
        case .nobody: .refused(.invalid("no such token"))
        case .user(let uid): .user(AuthVariable(auth(uid)))
        }
    }

    static func auth(_ uid: String) -> Node {
        var auth = Node.absent
        auth.set(Node(string: uid), at: Path([Key(unchecked: Array("uid".utf8))]))
        return auth
    }

    // MARK: - Administrators

    /// The owner does what an administrator asks for.
    func administer() throws(SimulationFault) {
        switch workload.number(below: isCrowded ? 40 : 10) {
        case 0:
            let isDetached = workload.happens(oneIn: 3)
            let ruleset = isDetached ? nil : workload.pick(rulesets).ruleset
            try administer(.putRules(ruleset, RulesChange(author: "ann")))
        case 1: try administer(.putSetting(.strictTriggerValidation(workload.happens(oneIn: 2))))
        default:
            let write = isCrowded ? crowdedWrite() : workload.adminWrite()
            try put(write.target, write.node)
        }
    }

    /// An administrator puts a value.
    func put(_ target: NaiveTarget, _ node: NaiveNode) throws(SimulationFault) {
        let operation: Request.Operation
        do {
            let draft = try Draft(json: Array(node.json.text.utf8))
            operation = .put(try WriteTarget(target.text), draft)
        } catch {
            throw fault("the server cannot read \(node.json.text): \(error)")
        }
        note("an administrator puts \(target.text) \(node.json.text)")
        try administer(operation)
    }

    private func administer(_ operation: Request.Operation) throws(SimulationFault) {
        let credential = RequestCredential.admin(override: nil)
        let request = Request(
            database: Self.database,
            credential: credential,
            operation: operation
        )
        try input(.requested(request, id: RequestID(0)), at: owner)
    }

    // MARK: - The crowd

    /// Mostly the membership that all listens of the crowd look at.
    private func crowdedWrite() -> NaiveWrite {
        if workload.happens(oneIn: 3) { return workload.childWrite() }
        let leaf = NaiveNode(.number(Double(workload.number(below: 100))))
        let node = workload.happens(oneIn: 40) ? NaiveNode.absent : leaf
        return NaiveWrite(target: Self.membership, node: node)
    }

    static let crowdedLog = ["rooms", "r1", "log"]
    private static let membership = NaiveTarget(path: ["rooms", "r1", "members", "ann"])

    /// A session of a follower listens to a room more often than a commit decides at once.
    func gather() throws(SimulationFault) {
        try put(Self.membership, NaiveNode(.number(0)))
        while members.contains(where: { $0.shown < records.count }) {
            try flush()
            try enter()
        }
        lastConnection += 1
        let connection = ConnectionID(lastConnection)
        let engine = members[workload.pick(followers)].engine
        crowd.insert(lastConnection)
        func take(_ input: DatabaseCore.Input) {
            var effects: [Effect] = []
            engine.step(input, now: Timestamp(milliseconds: now), effects: &effects)
            for case .verify(let inquiry, _) in effects {
                take(.verified(inquiry, Self.outcome(of: .user("ann"))))
            }
        }
        take(.connected(connection, Self.handshake(lastConnection, .wire)))
        do throws(MessageError) {
            let auth = SimulatedRequest.auth(.user("ann"))
            take(.received(try auth.message(number: 0), from: connection))
            for number in 0...Limits.decisionsAtOnce {
                let listen = NaiveListen(path: ["rooms", "r1", "crowd", "k\(number)"])
                let request = SimulatedRequest.listen(listen, having: nil)
                take(.received(try request.message(number: number + 1), from: connection))
            }
        } catch {
            throw fault("the server cannot read it: \(error)")
        }
    }

    // MARK: - The end of an owner

    /// The owner dies; a follower that has all that is durable becomes the owner, and the dead one comes back.
    func takeOver() throws(SimulationFault) {
        let dead = owner
        let next = workload.pick(followers)
        note("\(dead) dies, \(next) becomes the owner")
        for (connection, client) in clients where client.member == dead {
            clients[connection] = nil
        }
        for connection in shadows.keys.sorted() {
            if clients[connection]?.member == next || shadows[connection]?.isEnding == true {
                // Its own sessions end when it becomes the owner.
                shadows[connection] = nil
            } else {
                cutShadow(of: connection)
            }
        }
        records.removeLast(records.count - durable)
        states.removeLast(states.count - 1 - durable)
        while members[next].shown < durable { try enter(at: next) }
        members[dead] = Member(engine: try recovered())
        ledger = try recovered()
        members[dead].engine.beginFollowing()
        members[dead].shown = durable
        let before = clients.filter { $0.value.member == next }
        owner = next
        var effects: [Effect] = []
        let time = Timestamp(milliseconds: now)
        members[next].engine.recovered(now: time, effects: &effects)
        try perform(effects, at: next)
        count(.takeOver)
        if !records.isEmpty, records.count > durable { count(.ranAtTakeOver) }
        for (connection, client) in before {
            let isThere = clients[connection] != nil
            if isThere == client.hasAskedOwner {
                throw fault(
                    "\(connection) \(isThere ? "outlives" : "ends with") the change of owner"
                )
            }
            count(isThere ? .outlivedTakeOver : .endedByTakeOver)
        }
        for (connection, client) in clients where client.member == next {
            clients[connection]?.hasAskedOwner = false
        }
    }

    /// An engine that has read what is durable.
    private func recovered() throws(SimulationFault) -> DatabaseEngine {
        let engine = Self.engine(rulesets[0].ruleset)
        do throws(CommitDecodingError) {
            for record in records.prefix(durable) { try engine.apply(record) }
        } catch {
            throw fault("the log cannot be read: \(error)")
        }
        return engine
    }
}

extension OwnerMessage {
    /// For people.
    fileprivate var words: String {
        switch self {
        case .answer(let text, _), .advice(let text): String(decoding: text, as: UTF8.self)
        case .began: "it has begun"
        case .lost: "nothing more"
        }
    }
}
