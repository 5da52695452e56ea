import DatabaseCore
import EventProtocol
import JSONTree
import SecurityRules
import WireProtocol

/// An engine that follows another one, whose commits it enters when the test says so.
final class FollowingDriver {
    let owner: EngineDriver
    let follower: EngineDriver
    /// Commits of the owner that are not entered, oldest first.
    private(set) var commits: [CommitRecord] = []

    init(rules: Ruleset = .open) {
        owner = EngineDriver(rules: rules)
        follower = EngineDriver(rules: rules)
        follower.engine.beginFollowing()
    }

    /// Takes what the owner has just done into its log.
    func log(_ effects: [Effect]) {
        for case .append(let record) in effects { commits.append(record) }
    }

    /// Has the owner do what an administrator asks for.
    func administer(_ operation: Request.Operation) {
        let credential = RequestCredential.admin(override: nil)
        let request = Request(
            database: owner.database,
            credential: credential,
            operation: operation
        )
        log(owner.step(.requested(request, id: RequestID(1))))
    }

    /// Has the owner put a value.
    func put(_ path: String, _ json: String) throws {
        administer(.put(try WriteTarget(path), try Draft(json: Array(json.utf8))))
    }

    /// Has the owner update a node.
    func update(_ path: String, _ json: String) throws {
        let base = try Path(path)
        administer(.merge(base, try MergeEntry.parse(Array(json.utf8), base: base)))
    }

    /// Enters what the owner has committed meanwhile.
    func enter() throws -> [String] {
        var effects: [Effect] = []
        for record in commits { try follower.engine.enter(record, effects: &effects) }
        commits = []
        return effects.words
    }

    /// Enters a first commit with a payload, made at 5 ms.
    func enter(_ payload: [UInt8]) throws -> [String] {
        var effects: [Effect] = []
        let record = CommitRecord(
            database: owner.database,
            number: CommitNumber(1),
            time: Timestamp(milliseconds: 5),
            payload: payload
        )
        try follower.engine.enter(record, effects: &effects)
        return effects.words
    }

    /// Hands a session the owner's answer to its oldest request there.
    func answer(_ number: UInt64, _ text: String, isOK: Bool = true) -> [String] {
        let text = Array(#"{"t":"d","d":\#(text)}"#.utf8)
        return tell(number, .answer(text: text, isOK: isOK))
    }

    func tell(_ number: UInt64, _ message: OwnerMessage) -> [String] {
        follower.step(.owner(message, to: ConnectionID(number))).words
    }

    /// Sends the follower a request of a client.
    func send(_ number: UInt64, _ request: String) -> [String] {
        follower.send(number, request).words
    }

    /// Begins a session with the follower, for `user` if one is named.
    func connect(_ number: UInt64, user: String? = nil) {
        follower.connect(number, user: user)
    }

    /// Begins a session of the plain event protocol.
    func open(_ number: UInt64) {
        let handshake = Handshake(
            dialect: .events,
            database: owner.database,
            host: "h",
            session: SessionID("s\(number)")
        )
        follower.step(.connected(ConnectionID(number), handshake))
    }

    /// Sends a request of the plain event protocol.
    func ask(_ number: UInt64, _ text: String) throws -> [String] {
        let key = try Key("k")
        let request = try EventRequest.parse(Array(text.utf8)) { key }
        let id = ConnectionID(number)
        return follower.step(.asked(request, from: id, text: Array(text.utf8))).words
    }

    /// The tree of the follower.
    var root: Node { follower.engine.root(of: follower.database) }

    /// Makes the follower the owner.
    func recover() -> [String] {
        var effects: [Effect] = []
        let now = Timestamp(milliseconds: 1_000)
        follower.engine.recovered(now: now, effects: &effects)
        for case .append(let record) in effects {
            let flushed = Input.flushed(record.database, through: record.number)
            follower.engine.step(flushed, now: now, effects: &effects)
        }
        return effects.words
    }
}

extension [Effect] {
    /// What the clients, the owner of the group and the log get, one a line: `1 < ` what connection 1 is sent, `1 > ` what
    /// the owner is sent for it.
    var words: [String] {
        flatMap { effect -> [String] in
            switch effect {
            case .send(.text(let text), let receivers):
                receivers.map { "\($0.value) < \(payload(text))" }
            case .send(.serverSent(let text), let receivers):
                receivers.map { receiver in
                    let event = String(decoding: text, as: UTF8.self).dropLast(2)
                    return "\(receiver.value) < \(event.replacing("\ndata: ", with: " "))"
                }
            case .sendNumbered(let text, let receivers):
                receivers.map { "\($0.connection.value) < \(payload(text.whole($0.number)))" }
            case .forward(let text, let connection): ["\(connection.value) > \(payload(text))"]
            case .close(let connection, let reason): ["close \(connection.value) \(reason)"]
            case .append(let record): ["commit \(record.number.value)"]
            case .note(.rulesReplaced): ["other rules"]
            default: []
            }
        }
    }

    /// The data of a message of the wire protocol.
    private func payload(_ text: [UInt8]) -> String {
        let text = String(decoding: text, as: UTF8.self)
        let envelope = #"{"t":"d","d":"#
        return text.hasPrefix(envelope) ? String(text.dropFirst(envelope.count).dropLast()) : text
    }
}
