import DatabaseCore
import EventProtocol
import JSONTree
import Queries
import RulesTools
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
///     A admin [TERM] | A user {"uid":"ann"} [TERM] | A invalid    the outcome of A's credential; a term is
///                                       until=9000 and by=ann@7: it runs out then, and ann got it in second 7
///     revoke ann 8                      what ann got before second 8 no longer counts; by=bot@x is a service account
///     put /a/b {"c":1}                  an admin's write over REST
///     put as {"uid":"ann"} /a 1         a write over REST that the rules decide
///     put token=R /a 1                  the same with a credential that has the outcome `R user ...`
///     get [as AUTH] [etag] /a           a read over REST
///     push | update [as AUTH] [etag] /a JSON
///     put [as AUTH] [if=TAG] [etag] [limit=tiny] /a JSON
///     settings | limit large | strict false | store ID RULES | label [stable=ID] [canary=ID]
///     push-rules [by=NAME] [expect=N] [dry] RULES | detach [by=NAME] [expect=N] [dry] | history
///     stream S [as JSON | token T] [export] /a [limitToFirst=2&orderBy="$key"]    an event stream named S
///     hold | flush                      commits wait to be durable from here on | are durable
///     tick | turn | shutdown | low | room
///     restart                           a new process from the checkpoint of now
///     open E                            a connection that speaks the plain event protocol, session `s-E`
///     E {"id":1,"do":"get",...}         a request on it
///     indexing 2                        a new engine that indexes more than 2 children elsewhere
///     selecting 2                       a new engine that collects more than 2 children elsewhere
///     hashing 2                         a new engine that hashes 2 nodes and more elsewhere
///     deciding 2                        a new engine that decides writes of more than 2 paths elsewhere
///     simulate /a | simulate /a JSON    a read or a write by a signed-out client, tried out
///     work [refused]                    the oldest long work is done and its outcome reported
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
            policy.bounds.childrenIndexedAtOnce = Int(try number(rest))
            engine = DatabaseEngine(policy)
        case "hashing":
            var policy = Transcript.policy()
            policy.bounds.nodesHashedAtOnce = Int(try number(rest))
            engine = DatabaseEngine(policy)
        case "deciding":
            var policy = Transcript.policy()
            policy.bounds.pathsDecidedAtOnce = Int(try number(rest))
            engine = DatabaseEngine(policy)
        case "selecting":
            var policy = Transcript.policy()
            policy.bounds.childrenSelectedAtOnce = Int(try number(rest))
            engine = DatabaseEngine(policy)
        case "work":
            if works.isEmpty { throw TranscriptError.notUnderstood("nothing to work out") }
            let (inquiry, work) = works.removeFirst()
            step(.worked(inquiry, rest == "refused" ? .refused : work.perform()))
        case "disconnect": if let id = connections[rest] { step(.disconnected(id)) }
        case "get", "put", "push", "update": try ask(parts[0], rest)
        case "simulate": administer(.simulate(try simulation(rest)))
        case "settings": administer(.getSettings)
        case "limit":
            let limit = try found(WriteSizeLimit(rawValue: rest), rest)
            administer(.putSetting(.defaultWriteSizeLimit(limit)))
        case "strict": administer(.putSetting(.strictTriggerValidation(rest == "true")))
        case "store":
            let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
            administer(.storeRuleset(id: words[0], try Ruleset.load(words[1])))
        case "label": administer(.labelRulesets(labels(rest), author: "owner"))
        case "push-rules", "detach": try changeRules(rest)
        case "history": administer(.getRulesHistory)
        case "stream": try stream(rest)
        case "revoke":
            let words = rest.split(separator: " ").map(String.init)
            step(.revoked(name(words[0]), issuedBefore: try number(words[1])))
        case "hold": isHolding = true
        case "flush":
            isHolding = false
            flush()
        case "tick": step(.tick)
        case "turn": step(.longWork(steps: 1_000))
        case "shutdown": step(.shutDown)
        case "low": step(.log(.diskLow))
        case "full": step(.log(.diskFull))
        case "room": step(.log(.ready))
        case "restart": try restart()
        default: try speak(parts[0], rest)
        }
        return lines
    }

    /// `PATH` is read, `PATH JSON` written, by a signed-out client.
    private func simulation(_ rest: String) throws -> SimulationRequest {
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        let operation: SimulatedOperation =
            words.count == 1
            ? .read(try Path(words[0]), query: nil)
            : .write(try WriteTarget(words[0]), try Draft(json: Array(words[1].utf8)))
        var request = SimulationRequest(
            operation: operation,
            auth: nil,
            now: nil,
            rules: nil,
            data: nil
        )
        request.isAnsweredInWords = true
        return request
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

    /// A request over REST: options, a path, and for a write its value.
    private mutating func ask(_ verb: String, _ rest: String) throws {
        var rest = rest[...]
        var override: AuthOverride?
        var token: String?
        var condition: EntityTag?
        var sizeLimit: WriteSizeLimit?
        var tagUse = Request.TagUse.none
        while !rest.hasPrefix("/") {
            let word = String(rest.prefix { $0 != " " })
            rest = rest.dropFirst(word.count + 1)
            if word == "as" {
                let auth = String(rest.prefix { $0 != " " })
                rest = rest.dropFirst(auth.count + 1)
                override = auth == "null" ? .nobody : .value(try Node(json: Array(auth.utf8)))
            } else if word == "etag" {
                tagUse = .wanted
            } else if word.hasPrefix("token=") {
                token = String(word.dropFirst("token=".count))
            } else if word.hasPrefix("if=") {
                condition = EntityTag(received: String(word.dropFirst(3)))
            } else {
                sizeLimit = try found(WriteSizeLimit(rawValue: String(word.dropFirst(6))), word)
            }
        }
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        let target = try WriteTarget(words[0])
        let body = Array(words.dropFirst().joined().utf8)
        lastNumber += 1
        let operation: Request.Operation
        switch verb {
        case "get": operation = .get(target, .everything, tagUse)
        case "push":
            let key = try Key("-key\(lastNumber)")
            operation = .push(target.path, key: key, try Draft(json: body), tagUse)
        case "update":
            let entries = try MergeEntry.parse(body, base: target.path)
            operation = .merge(target.path, entries, tagUse)
        default:
            operation = .put(target, try Draft(json: body), condition: condition, tagUse)
        }
        if let token {
            speaker = token
            send(operation, .token(token, override: nil), sizeLimit)
        } else {
            send(operation, .admin(override: override), sizeLimit)
        }
    }

    private mutating func administer(_ operation: Request.Operation) {
        lastNumber += 1
        send(operation, .admin(override: nil))
    }

    private mutating func send(
        _ operation: Request.Operation,
        _ credential: RequestCredential,
        _ sizeLimit: WriteSizeLimit? = nil
    ) {
        let request = Request(
            database: Transcript.database,
            credential: credential,
            operation: operation,
            sizeLimit: sizeLimit,
        )
        step(.requested(request, id: RequestID(lastNumber)))
    }

    /// Rules of its own, or without a text none.
    private mutating func changeRules(_ rest: String) throws {
        var rest = rest[...]
        var change = RulesChange(author: "owner")
        while !rest.isEmpty, !rest.hasPrefix("{") {
            let word = rest.prefix { $0 != " " }
            rest = rest.dropFirst(word.count + 1)
            if word == "dry" {
                change.isDryRun = true
            } else if word.hasPrefix("by=") {
                change.author = String(word.dropFirst(3))
            } else {
                change.expectedVersion = Int(try number(String(word.dropFirst(7))))
            }
        }
        let rules = rest.isEmpty ? nil : try Ruleset.load(String(rest))
        administer(.putRules(rules, change))
    }

    private func labels(_ text: String) -> RulesetLabels {
        var labels: [String: String] = [:]
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=").map(String.init)
            labels[parts[0]] = parts[1]
        }
        return RulesetLabels(stable: labels["stable"], canary: labels["canary"])
    }

    private func found<Value>(_ value: Value?, _ text: String) throws -> Value {
        guard let value else { throw TranscriptError.notUnderstood(text) }
        return value
    }

    private mutating func stream(_ rest: String) throws {
        var words = rest.split(separator: " ").map(String.init)[...]
        speaker = words.removeFirst()
        var credential = RequestCredential.admin(override: nil)
        if words.first == "as" {
            let json = words[words.startIndex + 1]
            credential = .admin(
                override: json == "null" ? .nobody : .value(try Node(json: Array(json.utf8)))
            )
            words.removeFirst(2)
        } else if words.first == "token" {
            credential = .token(words[words.startIndex + 1], override: nil)
            words.removeFirst(2)
        }
        let isExport = words.first == "export"
        if isExport { words.removeFirst() }
        let path = try Path(words.removeFirst())
        let parameters = (words.first ?? "").split(separator: "&").map { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1).map(String.init)
            return (name: parts[0], value: parts[1])
        }
        let query = try RESTQuery.parse(parameters).spec ?? .everything
        lastNumber += 1
        let id = ConnectionID(lastNumber)
        connections[speaker] = id
        names[lastNumber] = speaker
        lastNumber += 1
        send(.stream(id, path, query, isExport: isExport), credential)
    }

    private mutating func speak(_ name: String, _ rest: String) throws {
        if inquiries[name] != nil, try answer(name, rest) { return }
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
        guard rest == "ping" else { throw TranscriptError.notUnderstood(rest) }
        step(.received(.ping, from: id))
    }

    /// Tells the outcome of a credential, if the line says one.
    private mutating func answer(_ name: String, _ rest: String) throws -> Bool {
        let words = rest.split(separator: " ").map(String.init)
        let outcome: CredentialOutcome
        switch words.first {
        case "admin": outcome = .admin(try term(words.dropFirst()))
        case "invalid": outcome = .refused(.invalid("Could not parse auth token."))
        case "user":
            let auth = AuthVariable(try Node(json: Array(words[1].utf8)))
            outcome = .user(auth, try term(words.dropFirst(2)))
        default: return false
        }
        if let inquiry = inquiries.removeValue(forKey: name) { step(.verified(inquiry, outcome)) }
        return true
    }

    private func term(_ words: ArraySlice<String>) throws -> CredentialTerm {
        var expiry: Timestamp?
        var holder: CredentialHolder?
        for word in words {
            if word.hasPrefix("until=") {
                expiry = Timestamp(milliseconds: try number(String(word.dropFirst(6))))
            } else if let place = word.lastIndex(of: "@"), word.hasPrefix("by=") {
                let issuedAt = try number(String(word[word.index(after: place)...]))
                holder = CredentialHolder(
                    self.name(String(word[..<place].dropFirst(3))),
                    issuedAt: issuedAt
                )
            } else {
                throw TranscriptError.notUnderstood(word)
            }
        }
        return CredentialTerm(expiry: expiry, holder: holder)
    }

    /// A name with an `@` in it is that of a service account.
    private func name(_ text: String) -> CredentialHolder.Name {
        text.contains("@") ? .serviceAccount(text) : .user(text)
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
            case .send(.serverSent(let text), let receivers):
                let who = receivers.compactMap { names[$0.value] }.sorted().joined(separator: ",")
                let events = String(decoding: text, as: UTF8.self).split(separator: "\n\n")
                lines += events.map { "\(who) < \($0.replacing("\ndata: ", with: " "))" }
            case .send(.stream, let receivers), .send(.event, let receivers),
                .send(.events, let receivers), .send(.serverSentStream, let receivers):
                let who = receivers.compactMap { names[$0.value] }.sorted().joined(separator: ",")
                lines.append("\(who) < (a stream)")
            case .close(let id, let reason):
                lines.append("close \(names[id.value] ?? "?") \(reason)")
            case .append(let record):
                unflushed[record.database] = record.number
                lines.append("commit \(record.number.value) at \(record.time.milliseconds)")
            case .forward(let text, let id):
                let who = names[id.value] ?? "?"
                lines.append("\(who) > \(String(decoding: text, as: UTF8.self))")
            case .verify(let inquiry, let token):
                inquiries[speaker] = inquiry
                lines.append("verify \(token)")
            case .respond(_, let response): lines.append("answer \(Transcript.words(response))")
            case .sendNumbered(let text, let receivers):
                for receiver in receivers {
                    let whole = text.whole(receiver.number)
                    let who = names[receiver.connection.value] ?? "?"
                    lines.append("\(who) < \(String(decoding: whole, as: UTF8.self))")
                }
            case .work(let inquiry, let work):
                works.append((inquiry, work))
                lines.append("work \(Transcript.words(work))")
            case .endWork: lines.append("end work")
            case .release: lines.append("release")
            // Each request of an administrator has one, which says what the transcript has just said.
            case .note(.administered): break
            case .note(.rulesReplaced(let id, _)): lines.append("note rulesReplaced(\(id))")
            case .note(let note): lines.append("note \(note)")
            case .profiled(let database, let record):
                lines.append("profiled \(database) \(record.name.rawValue) \(record.path)")
            case .decided(_, let record):
                let decision = record.decision.isAllowed ? "allowed" : "refused"
                lines.append("decided \(record.operation.rawValue) \(record.target) \(decision)")
            case .explain(_, let text): lines.append("explain \(text)")
            }
        }
    }

    private static func words(_ work: LongWork) -> String {
        switch work {
        case .hash: "hash"
        case .compare(let node, _): "compare with \(node.childCount)"
        case .index(let order, let node): "index \(order) of \(node.childCount)"
        case .decide: "decide"
        case .select(_, let children): "select of \(children.node.childCount)"
        case .load(let rulesets): "load \(rulesets.map(\.id))"
        case .simulate: "simulate"
        case .follow(let index, _, let node): "follow \(index.order) to \(node.childCount)"
        }
    }

    private static func words(_ response: Response) -> String {
        switch response {
        case .streaming: return "streaming"
        case .written(let node, let tag), .value(let node, let tag):
            return words(node, tag)
        case .mismatch(let node, let tag): return "mismatch \(words(node, tag))"
        case .settings(let settings): return words(settings)
        case .rulesHistory(let versions): return "history \(versions.map(words))"
        case .rulesMismatch(let present): return "mismatch \(present.map(words) ?? "none")"
        case .simulated(let answer):
            return
                "simulated \(String(decoding: answer.body, as: UTF8.self).split(separator: "\n")[0])"
        case .pushed(let key, let tag): return "pushed \(key.string)" + words(tag)
        case .merged(let entries, let tag):
            return "merged \(entries.map { "\($0.0)=\(words($0.1, nil))" })" + words(tag)
        default: return "\(response)"
        }
    }

    private static func words(_ node: Node, _ tag: EntityTag?) -> String {
        var text: [UInt8] = []
        node.appendJSON(to: &text, .export)
        return String(decoding: text, as: UTF8.self) + words(tag)
    }

    private static func words(_ settings: DatabaseSettings) -> String {
        let rulesets = settings.rulesets.map { "\($0.id) of \($0.time.milliseconds)" }
        let labels = settings.labels
        return "settings limit \(settings.defaultWriteSizeLimit) strict "
            + "\(settings.isStrictInTriggers) rulesets \(rulesets) stable \(labels.stable ?? "-") "
            + "canary \(labels.canary ?? "-")"
    }

    private static func words(_ version: RulesVersion) -> String {
        let time = version.time.map { "\($0.milliseconds)" } ?? "?"
        return "\(version.number) at \(time) by \(version.author ?? "?"): "
            + (version.text ?? "detached")
    }

    private static func words(_ tag: EntityTag?) -> String {
        tag.map { " etag \($0.text)" } ?? ""
    }
}

enum TranscriptError: Error {
    case notUnderstood(String)
}
