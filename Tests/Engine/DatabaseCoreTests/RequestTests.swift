import DatabaseCore
import JSONTree
import Queries
import SecurityRules
import Testing

@Suite("Requests of no session")
struct RequestTests {
    /// What the engine answers, every commit being durable at once.
    private func answer(
        _ engine: DatabaseEngine,
        _ operation: Request.Operation,
        _ credential: RequestCredential = .none,
        isForAdmins: Bool = false
    ) throws -> Response {
        let request = Request(
            database: DatabaseID("new"),
            credential: credential,
            operation: operation,
            isForAdmins: isForAdmins,
        )
        var effects: [Effect] = []
        let now = Timestamp(milliseconds: 1_000)
        engine.step(.requested(request, id: RequestID(1)), now: now, effects: &effects)
        for case .append(let record) in effects {
            let input = Input.flushed(record.database, through: record.number)
            engine.step(input, now: now, effects: &effects)
        }
        let answers = effects.compactMap { effect -> Response? in
            if case .respond(_, let response) = effect { response } else { nil }
        }
        try #require(answers.count == 1)
        return answers[0]
    }

    private func engine(createsDatabases: Bool) -> DatabaseEngine {
        DatabaseEngine(
            EnginePolicy(
                databases: [],
                createsDatabases: createsDatabases,
                defaultRules: .open,
            )
        )
    }

    @Test("reading a database that is not there makes none; writing does")
    func readingMakesNone() throws {
        let engine = engine(createsDatabases: true)
        let target = WriteTarget(path: .root)
        guard case .value(let node, nil) = try answer(engine, .get(target, .everything)),
            node.isAbsent
        else {
            Issue.record("an empty database has a value")
            return
        }
        #expect(engine.summaries().isEmpty)
        guard case .written = try answer(engine, .put(target, Draft(Node(string: "x")))) else {
            Issue.record("the write is refused")
            return
        }
        #expect(engine.summaries().map(\.database) == [DatabaseID("new")])
    }

    @Test("in production an unknown database is refused as such")
    func unknown() throws {
        let engine = engine(createsDatabases: false)
        let response = try answer(engine, .get(WriteTarget(path: .root), .everything))
        guard case .unknownDatabase = response else {
            Issue.record("\(response)")
            return
        }
    }

    @Test("what is for admins is refused to others though the rules allow it")
    func isForAdmins() throws {
        let engine = engine(createsDatabases: true)
        let put = Request.Operation.put(WriteTarget(path: .root), Draft(Node(string: "x")))
        guard case .permissionDenied = try answer(engine, put, isForAdmins: true) else {
            Issue.record("anybody may")
            return
        }
        let admin = RequestCredential.admin(override: nil)
        guard case .written = try answer(engine, put, admin, isForAdmins: true) else {
            Issue.record("an admin may not")
            return
        }
    }
}
