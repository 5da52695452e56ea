import DatabaseCore
import EventProtocol
import JSONTree
import Queries
import RulesTools
import SecurityRules
import Testing
import WireProtocol

@Suite("Inspection of the rules' decisions")
struct InspectionTests {
    private static let rules = #"""
        {"rules": {
          "open": {".read": true, ".write": true},
          "doc": {
            ".read": "root.child('open/ok').val() === true",
            ".write": "auth.uid === 'ann' && newData.child('n').val() > 3"}}}
        """#

    private func driver(
        _ inspection: InspectionLevel,
        explains: Bool = false
    ) throws -> EngineDriver {
        let rules = try Ruleset.load(Self.rules)
        let driver = EngineDriver(
            rules: rules,
            inspection: inspection,
            explainsRefusals: explains
        )
        return driver
    }

    private func records(_ effects: [Effect]) -> [DecisionRecord] {
        effects.compactMap { effect in
            if case .decided(_, let record) = effect { record } else { nil }
        }
    }

    private func words(_ effects: [Effect]) -> [String] {
        records(effects).map { record in
            let decision = record.decision.isAllowed ? "allowed" : "refused"
            return
                "\(record.channel.rawValue) \(record.operation.rawValue) \(record.target) \(decision)"
        }
    }

    private func request(
        _ operation: Request.Operation,
        as credential: RequestCredential = .none
    ) -> Input {
        let database = DatabaseID("demo")
        let request = Request(database: database, credential: credential, operation: operation)
        return .requested(request, id: RequestID(7))
    }

    private func event(_ id: Int64, _ members: String) throws -> Input {
        let text = Array(#"{"id":\#(id),\#(members)}"#.utf8)
        let key = Key(unchecked: Array("k".utf8))
        return .asked(try EventRequest.parse(text) { key }, from: ConnectionID(9))
    }

    /// One request of each kind over the wire protocol and REST, refused ones and allowed ones.
    private func work(_ driver: EngineDriver) throws -> [Effect] {
        var effects = driver.connect(1, user: "bob")
        effects += driver.send(1, "p", #""p":"/open/ok","d":true"#)
        effects += driver.send(1, "q", #""p":"/doc","h":"""#)
        effects += driver.send(1, "g", #""p":"/doc","q":{}"#)
        effects += driver.send(1, "p", #""p":"/doc","d":{"n":4}"#)
        effects += driver.send(1, "p", #""p":"/doc","d":{"n":4},"h":"""#)
        effects += driver.send(1, "m", #""p":"/","d":{"open/a":1,"doc/n":9}"#)
        effects += driver.send(1, "o", #""p":"/doc/n","d":1"#)
        effects += driver.send(1, "o", #""p":"/open/x","d":1"#)
        effects += driver.step(
            request(.get(try WriteTarget("none"), .everything))
        )
        // The listen's rule looked at it.
        effects += driver.send(1, "p", #""p":"/open/ok","d":false"#)
        effects += driver.step(.disconnected(ConnectionID(1)))
        return effects
    }

    private static let refused = [
        "wire set /doc refused", "wire transaction /doc refused", "wire update / refused",
        "wire on-disconnect /doc/n refused", "rest read /none refused", "wire recheck /doc refused",
    ]

    @Test("when it is off nothing is reported, and refusals are counted")
    func off() throws {
        let driver = try driver(.off, explains: true)
        let effects = try work(driver)
        #expect(words(effects).isEmpty)
        #expect(!effects.texts(to: 1).contains { $0.contains(#""a":"sd""#) })
        let counts = driver.engine.summaries()[0].refusalCounts
        let all = DecisionRecord.Operation.allCases
        #expect(all.map { counts[$0, default: 0] } == [1, 0, 1, 1, 1, 1, 1, 0])
    }

    @Test("of refused requests alone, each is reported with the values that decided")
    func refused() throws {
        let effects = try work(try driver(.refused))
        #expect(words(effects) == Self.refused)
        let values = records(effects)[0].decision.trace.flatMap(\.values)
        let found = values.first { $0.text == "auth.uid" }
        #expect(found?.outcome == .value(.string("bob", isCut: false)))
        #expect(values.contains { $0.text == "newData.child('n').val()" })
    }

    @Test("of all requests each is reported, but for listens that go on")
    func all() throws {
        let driver = try driver(.all)
        let effects = try work(driver)
        #expect(
            words(effects) == [
                "wire set /open/ok allowed", "wire listen /doc allowed", "wire read /doc allowed",
                "wire set /doc refused", "wire transaction /doc refused", "wire update / refused",
                "wire on-disconnect /doc/n refused", "wire on-disconnect /open/x allowed",
                "rest read /none refused", "wire set /open/ok allowed",
                "wire recheck /doc refused", "ended at-disconnect /open/x allowed",
            ]
        )
    }

    @Test("an update is reported with its paths and the one that is refused")
    func update() throws {
        let record = try #require(
            records(try work(try driver(.refused))).first { $0.operation == .update }
        )
        #expect(record.targets.map(\.description) == ["/open/a", "/doc/n"])
        #expect(record.deniedTarget?.description == "/doc/n")
        #expect(record.targetCount == 2)
        #expect(record.explain().contains("/doc/n"))
    }

    @Test("an update of many paths is reported with some of them and the one that is refused")
    func large() throws {
        let driver = try driver(.refused)
        driver.connect(1)
        let members = (0..<100).map { #""open/\#($0)":1"# } + [#""doc/n":1"#]
        let effects = driver.send(1, "m", #""p":"/","d":{\#(members.joined(separator: ","))}"#)
        let record = try #require(records(effects).first)
        #expect(record.targets.count == DecisionRecord.listedTargets)
        #expect(record.targetCount == 101)
        #expect(record.deniedTarget?.description == "/doc/n")
        #expect(record.explain().contains("/doc/n"))
    }

    @Test(
        "a refusal by a limit is noted at every level, and is not decided twice",
        arguments: [InspectionLevel.off, .refused, .all]
    )
    func overLimit(_ level: InspectionLevel) throws {
        let text = #"{"rules":{".write":"newData.child('a').val().replace('x','yy') == ''"}}"#
        let driver = EngineDriver(rules: try Ruleset.load(text), inspection: level)
        driver.connect(1)
        let value = String(repeating: "x", count: 400_000)
        let effects = driver.send(1, "p", #""p":"/a","d":"\#(value)""#)
        let noted: [DecisionRecord] = effects.compactMap { effect in
            if case .note(.overLimit(_, let record)) = effect { record } else { nil }
        }
        #expect(noted.map(\.target.description) == ["/a"])
        #expect(noted.first?.decision.overLimit?.line == 1)
        let reported = records(effects)
        #expect(reported.count == (level == .off ? 0 : 1))
        // Decided again it would have its values.
        if level == .refused { #expect(reported[0].decision.trace.map(\.values.isEmpty) == [true]) }
    }

    @Test("a request that waits for long work is reported once, when it is done")
    func waiting() throws {
        let text = #"{"rules":{".read":true,".write":true,"l":{".indexOn":["n"]}}}"#
        let driver = EngineDriver(
            rules: try Ruleset.load(text),
            inspection: .all,
            childrenIndexedAtOnce: 1,
            nodesHashedAtOnce: 1
        )
        let list = try Node(json: #"{"a":{"n":2},"b":{"n":1}}"#)
        try driver.put("/l", list)
        driver.connect(1)

        let query = #""p":"/l","q":{"i":"n","l":1,"vf":"l"}"#
        var waits = driver.send(1, "g", query)
        #expect(words(waits).isEmpty)
        for case .work(let inquiry, .index(let order, let node)) in waits {
            waits = driver.step(.worked(inquiry, .index(ChildIndex(order, of: node))))
        }
        #expect(words(waits) == ["wire read /l allowed"])

        let hash = list.hash()
        let put = Request.Operation.put(
            try WriteTarget("/l"),
            Draft(Node(true)),
            condition: EntityTag(hash: hash)
        )
        var compares = driver.step(request(put))
        #expect(words(compares).isEmpty)
        for case .work(let inquiry, .hash) in compares {
            compares = driver.step(.worked(inquiry, .hash(hash)))
        }
        #expect(words(compares) == ["rest set /l allowed"])
    }

    @Test("looking at a database that is not there, and taking away its rules, does not make it")
    func unknownDatabase() throws {
        let engine = DatabaseEngine(
            EnginePolicy(
                databases: [],
                createsDatabases: true,
                defaultRules: .open,
                inspection: .all
            )
        )
        let operations: [Request.Operation] = [
            .inspect, .coverage(resets: true), .shadow(resets: true), .getRules,
            .putRules(nil, RulesChange(author: "ann")),
        ]
        for operation in operations {
            let request = Request(
                database: DatabaseID("none"),
                credential: .admin(override: nil),
                operation: operation
            )
            var effects: [Effect] = []
            let now = Timestamp(milliseconds: 1)
            engine.step(.requested(request, id: RequestID(7)), now: now, effects: &effects)
            #expect(engine.summaries().isEmpty, "\(operation)")
            #expect(effects.count == 1)
        }
    }

    @Test("rules do not decide for an administrator, so nothing is reported")
    func admins() throws {
        let driver = try driver(.all, explains: true)
        #expect(words(try driver.put("/doc", Node(true))).isEmpty)
    }

    @Test("a decision is reported when the commits that it saw are durable")
    func durable() throws {
        let driver = try driver(.refused)
        driver.connect(1)
        var effects: [Effect] = []
        let now = Timestamp(milliseconds: 1_000)
        func send(_ text: String) throws {
            let message = try ClientMessage.parse(Array(text.utf8))
            let input = Input.received(message, from: ConnectionID(1))
            driver.engine.step(input, now: now, effects: &effects)
        }
        try send(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/open/a","d":1}}}"#)
        try send(#"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/doc","d":1}}}"#)
        #expect(words(effects).isEmpty)
        let number = CommitNumber(1)
        driver.engine.step(.flushed(driver.database, through: number), now: now, effects: &effects)
        #expect(words(effects) == ["wire set /doc refused"])
    }

    // MARK: - Clients

    @Test("a client of the wire protocol gets the reason, ahead of each refusal")
    func reasons() throws {
        let effects = try work(try driver(.refused, explains: true))
        let texts = effects.texts(to: 1)
        let explained = texts.indices.filter { texts[$0].contains(#""a":"sd""#) }
        #expect(explained.count == 5)
        for index in explained {
            let next = texts[index + 1]
            #expect(next.contains("permission_denied") || next.contains(#""a":"c""#), "\(next)")
        }
        let recheck = try #require(explained.last.map { texts[$0] })
        #expect(recheck.contains("recheck /doc refused"))
    }

    @Test(
        "a client gets no reason where refusals are not explained, whatever is inspected",
        arguments: InspectionLevel.allCases
    )
    func untold(_ level: InspectionLevel) throws {
        let effects = try work(try driver(level))
        #expect(!effects.texts(to: 1).contains { $0.contains(#""a":"sd""#) })
        for case .explain(_, let text) in effects { Issue.record("a request got \(text)") }
        #expect(records(effects).allSatisfy { $0.explanation == nil })
    }

    @Test("a request is explained ahead of its answer")
    func requests() throws {
        let driver = try driver(.refused, explains: true)
        let effects = driver.step(request(.get(try WriteTarget("none"), .everything)))
        guard case .explain(RequestID(7), let text)? = effects.first,
            case .respond(RequestID(7), .permissionDenied)? = effects.last
        else {
            Issue.record("\(effects)")
            return
        }
        #expect(text.hasPrefix("read /none refused"))
    }

    @Test("an event stream gets a reason as a request, and none when it ends")
    func streams() throws {
        let driver = try driver(.refused, explains: true)
        let stream = Request.Operation.stream(
            ConnectionID(7),
            try Path("doc"),
            .everything,
            isExport: false
        )
        let refused = driver.step(request(stream))
        #expect(words(refused) == ["stream listen /doc refused"])
        try driver.put("/open/ok", Node(true))
        driver.step(request(stream))
        let ended = try driver.put("/open/ok", Node(false))
        #expect(words(ended) == ["stream recheck /doc refused"])
        #expect(ended.texts(to: 7).isEmpty)
    }

    @Test("a client of the plain event protocol gets the reason in the refusal, and nothing else")
    func events() throws {
        let driver = try driver(.refused, explains: true)
        let handshake = Handshake(
            dialect: .events,
            database: driver.database,
            host: "h",
            session: SessionID("e")
        )
        driver.step(.connected(ConnectionID(9), handshake))
        let denied = driver.step(try event(1, #""do":"get","path":"/doc""#)).texts(to: 9)
        #expect(denied.count == 1)
        #expect(denied[0].contains("read /doc refused: no .read rule allows it. | "))
        #expect(!denied[0].contains(#"\n"#))
        // The next request is another matter.
        let bad = driver.step(try event(2, #""do":"unobserve","observer":1"#)).texts(to: 9)
        #expect(!bad[0].contains("refused:"))
        try driver.put("/open/ok", Node(true))
        driver.step(try event(3, #""do":"observe","path":"/doc","events":["value"]"#))
        let ended = try driver.put("/open/ok", Node(false))
        let cancelled = ended.texts(to: 9)
        #expect(cancelled.count == 1)
        #expect(cancelled.first?.contains("recheck /doc refused") == true)
    }

    // MARK: - Switching

    @Test("the level can be changed by an administrator while the server runs")
    func level() throws {
        let driver = try driver(.off)
        func set(_ level: InspectionLevel, _ credential: RequestCredential) -> [Effect] {
            driver.step(request(.setInspection(level), as: credential))
        }
        _ = set(.all, .none)
        #expect(driver.engine.inspection == .off)
        _ = set(.refused, .admin(override: nil))
        #expect(driver.engine.inspection == .refused)
        #expect(words(try work(driver)) == Self.refused)
        _ = set(.off, .admin(override: nil))
        #expect(words(try work(driver)).isEmpty)
    }
}

@Suite("One line of an explanation")
struct ExplanationLineTests {
    @Test(
        "has no break, no control character and a limit",
        arguments: [
            ("a\n\n  b\r\nc", 100, "a | b | c"),
            ("x\u{1b}[31m\u{2028}y\u{202e}z", 100, "x?[31m | y?z"),
            ("ä\t b", 100, "ä b"),
            ("abcdef", 3, "abc..."),
            ("", 3, ""),
        ]
    )
    func lines(_ text: String, _ limit: Int, _ line: String) {
        #expect(ExplanationLine.text(text, limit: limit) == line)
    }

    @Test("in ASCII has nothing else")
    func ascii() {
        #expect(ExplanationLine.text("ä€ b\u{7f}", limit: 9, isASCII: true) == "?? b?")
    }
}
