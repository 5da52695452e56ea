import DatabaseCore
import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// Plays the inputs of a transcript into an engine and writes down what comes out.
///
/// A transcript is a list of blocks: inputs, a line `---`, then the effects. Inputs, one a line:
///
///     now 5000                          the time of what follows, ms
///     rules {"rules":{...}}             the default rules
///     connect A [last=B]                a connection named A begins session `s-A`
///     A {"r":1,"a":"q","b":{...}}       a data message
///     A ping                            a control message
///     disconnect A
///     A admin | A user {"uid":"ann"} [until=9000] | A invalid    the outcome of A's credential
///     put /a/b {"c":1}                  an admin's write over REST
///     put as {"uid":"ann"} /a 1         a write over REST judged by the rules
///     hold | flush                      commits wait to be durable from here on | are durable
///     tick | turn | shutdown | low | room
///     restart                           a new process from the checkpoint of now
///     open E                            a connection that speaks the plain event protocol, session `s-E`
///     E {"id":1,"do":"get",...}         a request on it
///     indexing 2                        a new engine that indexes more than 2 children elsewhere
///     hashing 2                         a new engine that hashes 2 nodes and more elsewhere
///     work [refused]                    the oldest long work is done and its outcome told
///     # words                           for the reader
struct Transcript {
    private var engine: DatabaseEngine
    private var now: Int64 = 1_000
    private var isHolding = false
    private var names: [UInt64: String] = [:]
    private var connections: [String: ConnectionID] = [:]
    private var eventConnections: Set<ConnectionID> = []
    private var inquiries: [String: InquiryID] = [:]
    private var works: [(InquiryID, LongWork)] = []
    private var lastNumber: UInt64 = 0
    private var unflushed: [DatabaseID: CommitNumber] = [:]
    private var speaker = ""
    private var lines: [String] = []

    static let database = DatabaseID("demo")

    static func policy(_ rules: Ruleset = .open) -> EnginePolicy {
        EnginePolicy(databases: [database], createsDatabases: false, defaultRules: rules)
    }

    init() {
        engine = DatabaseEngine(Transcript.policy())
    }

    /// The text with its effects as they really are.
    static func play(_ text: String) throws -> String {
        var transcript = Transcript()
        var blocks: [String] = []
        for block in text.split(separator: "\n\n") {
            let lines = block.split(separator: "\n")
            let inputs = lines.prefix { $0 != "---" }
            var effects: [String] = []
            for input in inputs where !input.hasPrefix("#") {
                effects += try transcript.play(line: String(input))
            }
            blocks.append((inputs.map(String.init) + ["---"] + effects).joined(separator: "\n"))
        }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    private mutating func play(line: String) throws -> [String] {
        lines = []
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = parts.count == 2 ? parts[1] : ""
        switch parts[0] {
        case "now": now = try number(rest)
        case "rules": step(.defaultRules(try Ruleset.load(rest)))
        case "connect": connect(rest, .wire)
        case "open": connect(rest, .events)
        case "indexing":
            var policy = Transcript.policy()
            policy.childrenIndexedAtOnce = Int(try number(rest))
            engine = DatabaseEngine(policy)
        case "hashing":
            var policy = Transcript.policy()
            policy.nodesHashedAtOnce = Int(try number(rest))
            engine = DatabaseEngine(policy)
        case "work":
            if works.isEmpty { throw TranscriptError.notUnderstood("nothing to work out") }
            let (inquiry, work) = works.removeFirst()
            step(.worked(inquiry, rest == "refused" ? .refused : work.perform()))
        case "disconnect": if let id = connections[rest] { step(.disconnected(id)) }
        case "put": try put(rest)
        case "hold": isHolding = true
        case "flush":
            isHolding = false
            flush()
        case "tick": step(.tick)
        case "turn": step(.turn(steps: 1_000))
        case "shutdown": step(.shutDown)
        case "low": step(.log(.diskFull))
        case "room": step(.log(.ready))
        case "restart": try restart()
        default: try speak(parts[0], rest)
        }
        return lines
    }

    private func number(_ text: String) throws -> Int64 {
        guard let number = Int64(text) else { throw TranscriptError.notUnderstood(text) }
        return number
    }

    private mutating func connect(_ rest: String, _ dialect: Dialect) {
        let words = rest.split(separator: " ").map(String.init)
        let last = words.dropFirst().first.map { SessionID("s-" + $0.dropFirst("last=".count)) }
        lastNumber += 1
        let id = ConnectionID(lastNumber)
        connections[words[0]] = id
        names[lastNumber] = words[0]
        if dialect == .events { eventConnections.insert(id) }
        let handshake = Handshake(
            dialect: dialect,
            database: Transcript.database,
            host: "db.example.org",
            session: SessionID("s-" + words[0]),
            lastSession: last,
        )
        step(.connected(id, handshake))
    }

    private mutating func put(_ rest: String) throws {
        var rest = rest
        var override: AuthOverride?
        if rest.hasPrefix("as ") {
            let words = rest.split(separator: " ", maxSplits: 2).map(String.init)
            override = words[1] == "null" ? .nobody : .value(try Node(json: Array(words[1].utf8)))
            rest = words[2]
        }
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        let operation = Request.Operation.put(
            try WriteTarget(words[0]),
            try Draft(json: Array(words[1].utf8))
        )
        lastNumber += 1
        let request = Request(
            database: Transcript.database,
            credential: .admin(override: override),
            operation: operation,
        )
        step(.requested(request, id: RequestID(lastNumber)))
    }

    private mutating func speak(_ name: String, _ rest: String) throws {
        guard let id = connections[name] else { throw TranscriptError.notUnderstood(name) }
        speaker = name
        if rest.hasPrefix("{") || rest.hasPrefix("["), eventConnections.contains(id) {
            let key = try Key("-key\(lastNumber)")
            step(.asked(try EventRequest.parse(Array(rest.utf8)) { key }, from: id))
            return
        }
        if rest.hasPrefix("{") {
            let text = "{\"t\":\"d\",\"d\":\(rest)}"
            step(.received(try ClientMessage.parse(Array(text.utf8)), from: id))
            return
        }
        let words = rest.split(separator: " ").map(String.init)
        switch words.first {
        case "ping": step(.received(.ping, from: id))
        case "admin": verified(name, .admin)
        case "invalid": verified(name, .refused(.invalid("Could not parse auth token.")))
        case "user":
            let auth = AuthVariable(try Node(json: Array(words[1].utf8)))
            var expiry: Timestamp?
            if words.count > 2 {
                let until = try number(String(words[2].dropFirst("until=".count)))
                expiry = Timestamp(milliseconds: until)
            }
            verified(name, .user(auth, expiry: expiry))
        default: throw TranscriptError.notUnderstood(rest)
        }
    }

    private mutating func verified(_ name: String, _ outcome: CredentialOutcome) {
        if let inquiry = inquiries.removeValue(forKey: name) { step(.verified(inquiry, outcome)) }
    }

    /// A checkpoint is written and read back, and a new engine begins with it.
    private mutating func restart() throws {
        var encoder = CheckpointEncoder(engine.snapshots())
        var bytes: [UInt8] = []
        while encoder.next(into: &bytes, atLeast: 64) {}
        engine = DatabaseEngine(Transcript.policy())
        var decoder = CheckpointDecoder()
        let engine = engine
        for start in stride(from: 0, to: bytes.count, by: 7) {
            let piece = Array(bytes[start..<min(start + 7, bytes.count)])
            try decoder.feed(piece) { snapshot throws(CommitDecodingError) in
                try engine.restore(snapshot)
            }
        }
        try decoder.finish()
        connections = [:]
        var effects: [Effect] = []
        engine.recovered(now: Timestamp(milliseconds: now), effects: &effects)
        write(effects)
        if !isHolding { flush() }
    }

    private mutating func step(_ input: Input) {
        var effects: [Effect] = []
        engine.step(input, now: Timestamp(milliseconds: now), effects: &effects)
        write(effects)
        if !isHolding { flush() }
    }

    private mutating func flush() {
        while let (database, number) = unflushed.popFirst() {
            var effects: [Effect] = []
            engine.step(
                .flushed(database, through: number),
                now: Timestamp(milliseconds: now),
                effects: &effects
            )
            write(effects)
        }
    }

    private mutating func write(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .send(.text(let text), let receivers):
                let who = receivers.compactMap { names[$0.value] }.sorted().joined(separator: ",")
                lines.append("\(who) < \(String(decoding: text, as: UTF8.self))")
            case .send(.stream, let receivers), .send(.event, let receivers),
                .send(.events, let receivers):
                let who = receivers.compactMap { names[$0.value] }.sorted().joined(separator: ",")
                lines.append("\(who) < (a stream)")
            case .close(let id, let reason):
                lines.append("close \(names[id.value] ?? "?") \(reason)")
            case .append(let record):
                unflushed[record.database] = record.number
                lines.append("commit \(record.number.value) at \(record.time.milliseconds)")
            case .verify(let inquiry, let token):
                inquiries[speaker] = inquiry
                lines.append("verify \(token)")
            case .respond(_, let response): lines.append("answer \(Transcript.words(response))")
            case .sendNumbered(let text, let receivers):
                for receiver in receivers {
                    let whole = text.text + Array("\(receiver.number)".utf8) + text.ending
                    let who = names[receiver.connection.value] ?? "?"
                    lines.append("\(who) < \(String(decoding: whole, as: UTF8.self))")
                }
            case .work(let inquiry, let work):
                works.append((inquiry, work))
                lines.append("work \(Transcript.words(work))")
            case .release: lines.append("release")
            case .note(let note): lines.append("note \(note)")
            }
        }
    }

    private static func words(_ work: LongWork) -> String {
        switch work {
        case .hash: "hash"
        case .compare(let node, _): "compare with \(node.childCount)"
        case .index(let order, let node): "index \(order) of \(node.childCount)"
        case .follow(let index, _, let node): "follow \(index.order) to \(node.childCount)"
        }
    }

    private static func words(_ response: Response) -> String {
        switch response {
        case .written(let node), .value(let node):
            var text: [UInt8] = []
            node.appendJSON(to: &text, .export)
            return String(decoding: text, as: UTF8.self)
        default: return "\(response)"
        }
    }
}

enum TranscriptError: Error {
    case notUnderstood(String)
}
