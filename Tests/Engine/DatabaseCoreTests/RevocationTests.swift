import DatabaseCore
import JSONTree
import Queries
import RulesTools
import SecurityRules
import Testing
import WireProtocol

/// What transcripts do not show of credentials that stop counting.
@Suite("Credentials that are revoked")
struct RevocationTests {
    private func holder(_ name: CredentialHolder.Name, _ issuedAt: Int64) -> CredentialTerm {
        CredentialTerm(holder: CredentialHolder(name, issuedAt: issuedAt))
    }

    /// Makes a request by a token whose outcome is `outcome`; gives the effects of that.
    private func ask(
        _ driver: EngineDriver,
        _ operation: Request.Operation,
        _ outcome: CredentialOutcome,
        id: UInt64 = 1
    ) -> [Effect] {
        let request = Request(
            database: driver.database,
            credential: .token("t", override: nil),
            operation: operation
        )
        for case .verify(let inquiry, _) in driver.step(.requested(request, id: RequestID(id))) {
            return driver.step(.verified(inquiry, outcome))
        }
        return []
    }

    private static let longRules: String = {
        let rule = String(repeating: "true && ", count: 1_000) + "true"
        return #"{"rules":{".read":"\#(rule)"}}"#
    }()

    private static func operations() throws -> [(String, Request.Operation)] {
        let read = SimulatedOperation.read(.root, query: nil)
        let simulation = SimulationRequest(
            operation: read,
            auth: nil,
            now: nil,
            rules: nil,
            data: nil
        )
        let labels = RulesetLabels(stable: "long", canary: nil)
        return [
            ("simulate", .simulate(simulation)),
            ("label", .labelRulesets(labels, author: "bot")),
        ]
    }

    @Test("what an administrator asked and what takes long is not done once they are revoked")
    func administrators() throws {
        let bot = CredentialHolder.Name.serviceAccount("bot@x")
        for (name, operation) in try Self.operations() {
            for isRevoked in [false, true] {
                let driver = EngineDriver()
                let store = Request.Operation.storeRuleset(
                    id: "long",
                    try Ruleset.load(Self.longRules)
                )
                _ = ask(driver, store, .admin())
                let effects = ask(driver, operation, .admin(holder(bot, 7)), id: 2)
                let work = try #require(
                    effects.compactMap { effect -> (InquiryID, LongWork)? in
                        guard case .work(let inquiry, let work) = effect else { return nil }
                        return (inquiry, work)
                    }.first,
                    "\(name) is long work"
                )
                #expect(driver.engine.heldCredentialCount == 1)
                if isRevoked { driver.step(.revoked(bot, issuedBefore: 8)) }
                let answers = driver.step(.worked(work.0, work.1.perform())).compactMap {
                    effect -> Response? in
                    guard case .respond(_, let response) = effect else { return nil }
                    return response
                }
                #expect(answers.count == 1)
                if case .badCredential? = answers.first {
                    #expect(isRevoked, "\(name)")
                } else {
                    #expect(!isRevoked, "\(name)")
                }
                #expect(driver.engine.heldCredentialCount == 0)
            }
        }
    }

    @Test("a revocation finds the sessions of its holder and leaves those of others")
    func manySessions() {
        let driver = EngineDriver()
        for number in 1...300 {
            driver.connect(UInt64(number))
            let name = CredentialHolder.Name.user("user-\(number % 3)")
            for case .verify(let inquiry, _) in driver.send(UInt64(number), "auth", #""cred":"t""#)
            {
                let auth = AuthVariable(Node.absent.with("uid", Node(string: "u")))
                driver.step(.verified(inquiry, .user(auth, holder(name, 7))))
            }
        }
        #expect(driver.engine.heldCredentialCount == 300)
        let effects = driver.step(.revoked(.user("user-1"), issuedBefore: 8))
        let closed = effects.compactMap { effect -> UInt64? in
            guard case .close(let connection, .tokenRevoked) = effect else { return nil }
            return connection.value
        }
        #expect(closed == (1...300).filter { $0 % 3 == 1 })
        #expect(driver.engine.heldCredentialCount == 200)
        // A name of another kind is another name.
        #expect(driver.step(.revoked(.serviceAccount("user-2"), issuedBefore: .max)).isEmpty)
        driver.step(.shutDown)
        #expect(driver.engine.heldCredentialCount == 0)
    }

    @Test("no client reaches a reserved database, administrators included")
    func reserved() throws {
        let own = DatabaseID(":own")
        for createsDatabases in [false, true] {
            let engine = DatabaseEngine(
                EnginePolicy(
                    databases: [DatabaseID("demo")],
                    reserved: [own],
                    createsDatabases: createsDatabases,
                    defaultRules: .open
                )
            )
            var number: UInt64 = 0
            func ask(
                _ operation: Request.Operation,
                _ credential: RequestCredential
            ) -> [Response] {
                number += 1
                var effects: [Effect] = []
                let now = Timestamp(milliseconds: 1)
                let request = Request(database: own, credential: credential, operation: operation)
                engine.step(
                    .requested(request, id: RequestID(number)),
                    now: now,
                    effects: &effects
                )
                for effect in effects {
                    if case .append(let record) = effect {
                        let through = Input.flushed(own, through: record.number)
                        engine.step(through, now: now, effects: &effects)
                    }
                    if case .verify(let inquiry, _) = effect {
                        engine.step(.verified(inquiry, .admin()), now: now, effects: &effects)
                    }
                }
                return effects.compactMap { effect in
                    guard case .respond(_, let response) = effect else { return nil }
                    return response
                }
            }
            let put = Request.Operation.put(try WriteTarget("/a"), Draft(Node(true)))
            guard case .written = ask(put, .server).first else {
                Issue.record("the server cannot write its own")
                return
            }
            let operations: [Request.Operation] = [
                put, .get(try WriteTarget("/"), .everything), .getRules, .getSettings,
                .putRules(.open, RulesChange(author: "x")), .profile, .inspect, .backUp,
                .stream(ConnectionID(9), .root, .everything, isExport: false),
            ]
            let callers: [RequestCredential] = [
                .none, .admin(override: nil), .token("t", override: nil), .admin(override: .nobody),
            ]
            for operation in operations {
                for caller in callers {
                    guard case .unknownDatabase = ask(operation, caller).first else {
                        Issue.record("\(caller) may \(operation)")
                        continue
                    }
                }
            }
            #expect(!engine.serves(own))
            var effects: [Effect] = []
            let handshake = Handshake(database: own, host: "h", session: SessionID("s"))
            engine.step(
                .connected(ConnectionID(1), handshake),
                now: Timestamp(milliseconds: 1),
                effects: &effects
            )
            guard case .close(_, .unknownDatabase) = effects.last else {
                Issue.record("a session opens on it")
                continue
            }
            // New rules of the configuration are not for it.
            effects = []
            engine.step(.defaultRules(.closed), now: Timestamp(milliseconds: 1), effects: &effects)
            #expect(effects.count { if case .note = $0 { true } else { false } } == 1)
            #expect(engine.shownSnapshots().isEmpty)
            #expect(engine.snapshots().map(\.database) == [own])
            #expect(engine.summaries().map(\.database) == [DatabaseID("demo")])
            guard case .rules = ask(.getRules, .server).first else {
                Issue.record("the server cannot ask for its own")
                continue
            }
        }
    }
}
