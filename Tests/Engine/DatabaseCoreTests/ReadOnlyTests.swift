import DatabaseCore
import EventProtocol
import JSONTree
import Queries
import SecurityRules
import Testing
import WireProtocol

@Suite("administrators of the console")
struct ReadOnlyTests {
    private static let now = Timestamp(milliseconds: 1_000)
    private static let main = DatabaseID("main")
    private static let viewer = CredentialTerm(administrator: "vera", isReadOnly: true)

    private func engine() -> DatabaseEngine {
        DatabaseEngine(
            EnginePolicy(databases: [Self.main], createsDatabases: false, defaultRules: .closed)
        )
    }

    /// What the engine makes of an input, every commit being durable at once.
    private func effects(_ engine: DatabaseEngine, _ input: Input) -> [Effect] {
        var effects: [Effect] = []
        engine.step(input, now: Self.now, effects: &effects)
        for case .append(let record) in effects {
            let flushed = Input.flushed(record.database, through: record.number)
            engine.step(flushed, now: Self.now, effects: &effects)
        }
        return effects
    }

    private func isDenied(_ operation: Request.Operation, term: CredentialTerm) throws -> Bool {
        let request = Request(
            database: Self.main,
            credential: .admin(override: nil, term),
            operation: operation
        )
        for case .respond(_, let response) in effects(
            engine(),
            .requested(request, id: RequestID(1))
        ) {
            if case .permissionDenied = response { return true }
            return false
        }
        Issue.record("no answer")
        return false
    }

    @Test("are refused every request that changes something, and no other")
    func requests() throws {
        let target = WriteTarget(path: .root)
        let draft = Draft(Node(string: "x"))
        var dryRun = RulesChange(author: "vera")
        dryRun.isDryRun = true
        let changes: [Request.Operation] = [
            .put(target, draft), .push(.root, key: try Key("k"), draft),
            .merge(.root, [MergeEntry(target: target, draft: draft)]),
            .foresee(target, isUpdate: false), .putRules(.open, RulesChange(author: "vera")),
            .putRules(nil, RulesChange(author: "vera")),
            .putSetting(.strictTriggerValidation(true)), .storeRuleset(id: "a", .open),
            .labelRulesets(RulesetLabels(stable: nil, canary: nil), author: "vera"),
            .setInspection(.off), .coverage(resets: true), .shadow(resets: true),
        ]
        for operation in changes {
            #expect(try isDenied(operation, term: Self.viewer), "\(operation)")
            #expect(try !isDenied(operation, term: .unlimited), "\(operation)")
        }
        let questions: [Request.Operation] = [
            .get(target, .everything), .getRules, .getRulesHistory, .getSettings, .inspect, .backUp,
            .confirm, .databases, .status, .coverage(resets: false), .shadow(resets: false),
            .putRules(.open, dryRun),
        ]
        for operation in questions {
            #expect(try !isDenied(operation, term: Self.viewer), "\(operation)")
        }
    }

    /// The replies to requests on a connection of this administrator.
    private func replies(
        _ engine: DatabaseEngine,
        _ administrator: Handshake.Administrator,
        _ requests: [String]
    ) throws -> [String] {
        let connection = ConnectionID(1)
        let handshake = Handshake(
            dialect: .events,
            database: Self.main,
            host: "localhost",
            session: SessionID("s"),
            administrator: administrator
        )
        _ = effects(engine, .connected(connection, handshake))
        var replies: [String] = []
        for text in requests {
            let request = try EventRequest.parse(Array(text.utf8)) {
                Key(unchecked: Array("k".utf8))
            }
            for case .send(.text(let reply), _) in effects(
                engine,
                .asked(request, from: connection)
            ) {
                replies.append(String(decoding: reply, as: UTF8.self))
            }
        }
        return replies
    }

    private static let changes = [
        #"{"id":1,"do":"set","path":"/a","value":1}"#, #"{"id":1,"do":"remove","path":"/a"}"#,
        #"{"id":1,"do":"update","path":"/","value":{"a":1}}"#,
        #"{"id":1,"do":"push","path":"/a","value":1}"#,
        #"{"id":1,"do":"onDisconnect","path":"/a","value":1}"#,
        #"{"id":1,"do":"onDisconnect","path":"/","update":{"a":1}}"#,
        #"{"id":1,"do":"onDisconnect","path":"/a","cancel":true}"#,
    ]

    @Test("are refused the same over a connection, which begins as theirs")
    func sessions() throws {
        let viewer = Handshake.Administrator(override: nil, term: Self.viewer)
        for reply in try replies(engine(), viewer, Self.changes) {
            #expect(
                reply.contains(#""error":"permission_denied","message":"This session only reads.""#)
            )
        }
        let read = try replies(engine(), viewer, [#"{"id":1,"do":"get","path":"/a"}"#])
        #expect(read.count == 1)
        #expect(read.first?.contains(#""ok":true"#) == true)
        let admin = Handshake.Administrator(
            override: nil,
            term: CredentialTerm(administrator: "ann")
        )
        for reply in try replies(engine(), admin, Self.changes) {
            #expect(reply.contains(#""ok":true"#), "\(reply)")
        }
    }

    @Test("see as another identity what the rules let that one read")
    func override() throws {
        let engine = engine()
        let rules = try Ruleset.load(#"{"rules":{"a":{".read":"auth.uid == 'ann'"}}}"#)
        _ = effects(engine, .defaultRules(rules))
        var auth = Node.absent
        auth.set(Node(string: "ann"), at: Path([try Key("uid")]))
        let ann = Handshake.Administrator(override: .value(auth), term: Self.viewer)
        let asked = [#"{"id":1,"do":"get","path":"/a"}"#, #"{"id":1,"do":"get","path":"/b"}"#]
        let found = try replies(engine, ann, asked)
        #expect(found.map { $0.contains(#""ok":true"#) } == [true, false])
    }

    @Test("have each change noted ahead of its commit, with how it was made")
    func notes() throws {
        let engine = engine()
        let connection = ConnectionID(1)
        let handshake = Handshake(
            dialect: .events,
            database: Self.main,
            host: "localhost",
            session: SessionID("s"),
            administrator: Handshake.Administrator(
                override: nil,
                term: CredentialTerm(administrator: "ann")
            )
        )
        _ = effects(engine, .connected(connection, handshake))
        var kinds: [WriteKind] = []
        for text in Self.changes.dropLast() {
            let request = try EventRequest.parse(Array(text.utf8)) {
                Key(unchecked: Array("k".utf8))
            }
            let found = effects(engine, .asked(request, from: connection))
            let note = found.firstIndex { effect in
                if case .note(.sessionAct) = effect { true } else { false }
            }
            let commit = found.firstIndex { if case .append = $0 { true } else { false } }
            let place = try #require(note)
            if case .note(.sessionAct(_, _, by: "ann", .write(let kind, _, _))) = found[place] {
                kinds.append(kind)
                if kind != .onDisconnect { #expect(place < (commit ?? 0)) }
            }
        }
        #expect(kinds == [.set, .remove, .update, .push, .onDisconnect, .onDisconnect])
    }
}
