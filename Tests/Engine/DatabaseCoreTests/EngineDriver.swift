import DatabaseCore
import JSONTree
import SecurityRules
import WireProtocol

/// An engine with connections that are numbered from 1, for tests that transcripts would make long.
final class EngineDriver {
    let engine: DatabaseEngine
    let database = DatabaseID("demo")
    private var requestNumber: Int64 = 0
    private var requestID: UInt64 = 1_000_000

    init(
        rules: Ruleset = .open,
        inspection: InspectionLevel = .off,
        explainsRefusals: Bool = false,
        childrenIndexedAtOnce: Int = Limits.childrenIndexedAtOnce,
        nodesHashedAtOnce: Int = Limits.nodesHashedAtOnce,
        nodesDecidedAtOnce: Int = .max,
        removalByteCount: Int = Limits.removalByteCount
    ) {
        var policy = EnginePolicy(
            databases: [database],
            createsDatabases: false,
            defaultRules: rules,
            inspection: inspection,
            explainsRefusals: explainsRefusals,
        )
        policy.bounds.childrenIndexedAtOnce = childrenIndexedAtOnce
        policy.bounds.nodesHashedAtOnce = nodesHashedAtOnce
        policy.bounds.nodesDecidedAtOnce = nodesDecidedAtOnce
        policy.removalByteCount = removalByteCount
        engine = DatabaseEngine(policy)
    }

    /// Steps, and makes every commit durable at once.
    @discardableResult
    func step(_ input: Input) -> [Effect] {
        var effects: [Effect] = []
        let now = Timestamp(milliseconds: 1_000)
        engine.step(input, now: now, effects: &effects)
        for effect in effects {
            guard case .append(let record) = effect else { continue }
            engine.step(
                .flushed(record.database, through: record.number),
                now: now,
                effects: &effects
            )
        }
        return effects
    }

    @discardableResult
    func connect(_ number: UInt64, user: String? = nil) -> [Effect] {
        let handshake = Handshake(
            database: database,
            host: "h",
            session: SessionID("s\(number)"),
        )
        let hello = step(.connected(ConnectionID(number), handshake))
        guard let user else { return hello }
        for case .verify(let inquiry, _) in send(number, "auth", #""cred":"t""#) {
            let auth = AuthVariable(Node.absent.with("uid", Node(string: user)))
            step(.verified(inquiry, .user(auth)))
        }
        return hello
    }

    /// Sends a request whose body has these members.
    @discardableResult
    func send(_ number: UInt64, _ action: String, _ members: String) -> [Effect] {
        requestNumber += 1
        return send(number, #"{"r":\#(requestNumber),"a":"\#(action)","b":{\#(members)}}"#)
    }

    /// Sends a request with its number.
    @discardableResult
    func send(_ number: UInt64, _ request: String) -> [Effect] {
        let text = Array(#"{"t":"d","d":\#(request)}"#.utf8)
        do {
            let message = try ClientMessage.parse(text)
            return step(.received(message, from: ConnectionID(number), text: text))
        } catch {
            preconditionFailure("the test wrote a bad message: \(error)")
        }
    }

    /// Writes as an admin over REST.
    @discardableResult
    func put(_ path: String, _ node: Node) throws -> [Effect] {
        requestID += 1
        let operation = Request.Operation.put(try WriteTarget(path), Draft(node))
        let request = Request(
            database: database,
            credential: .admin(override: nil),
            operation: operation,
        )
        return step(.requested(request, id: RequestID(requestID)))
    }
}

extension Node {
    /// This map with one more child.
    func with(_ key: String, _ child: Node) -> Node {
        var node = self
        node.set(child, at: Path([Key(unchecked: Array(key.utf8))]))
        return node
    }
}

extension [Effect] {
    /// The messages to one connection, in order.
    func texts(to number: UInt64) -> [String] {
        compactMap { effect in
            guard case .send(.text(let text), let receivers) = effect else { return nil }
            guard receivers.contains(ConnectionID(number)) else { return nil }
            return String(decoding: text, as: UTF8.self)
        }
    }
}
