import JSONTree
import Queries
import RulesTools
import SecurityRules
import Testing

@Suite("a decision")
struct DecisionTests {
    private static let rules = """
        {"rules":{
          ".read": "data.val() > 1",
          "l": { "$k": {
            ".read": "$k == 'open'",
            ".write": "auth != null", ".validate": "newData.hasChildren(['n'])",
            "n": { ".validate": "newData.isNumber()" } } } }}
        """

    private func request(_ root: String = "null", signedIn: Bool = true) throws -> RulesRequest {
        var claims = Node.absent
        claims.set(Node(string: "ann"), at: try Path("uid"))
        return RulesRequest(
            root: try Node(json: root),
            auth: signedIn ? AuthVariable(claims) : nil,
            now: Timestamp(milliseconds: 5)
        )
    }

    private func lines(_ decision: Decision) -> [String] {
        decision.trace.map { outcome in
            let result =
                switch outcome.result {
                case .value(let value): "\(value)"
                case .error(let error): "\(error.line):\(error.column) \(error.message)"
                }
            let bindings = outcome.bindings.map { "\($0.name)=\($0.key)" }.joined(separator: ",")
            return
                "\(outcome.entry) \(outcome.kind.rawValue) \(outcome.path) [\(bindings)] "
                + "\(outcome.line):\(outcome.column) \(result)"
        }
    }

    @Test("a trace lists every rule consulted, in order, with errors and their places")
    func readTrace() throws {
        let rules = try Ruleset.load(DecisionTests.rules)
        let decision = rules.decideRead(
            try Path("/l/open/deep"),
            query: nil,
            try request(),
            recording: .trace
        )
        #expect(decision.isAllowed)
        #expect(
            lines(decision) == [
                "0 read / [] 2:13 2:13 null cannot be ordered against a number.",
                "0 read /l/$k [$k=open] 4:15 true",
            ]
        )
        #expect(decision.rule?.path == "/l/$k")
        #expect(decision.rule?.source == "$k == 'open'")
        #expect(decision.rule?.location.description == "/l/open")
        #expect(decision.lookedAt.isEmpty)
    }

    @Test("a write is traced grant first, then validation from the root down and below")
    func writeTrace() throws {
        let rules = try Ruleset.load(DecisionTests.rules)
        let entries = try ["/l/b", "/l/a"].map { path in
            (target: try WriteTarget(path), draft: Draft(try Node(json: "{\"n\":1}")))
        }
        let result = rules.simulate(.update(base: .root, entries), try request())
        #expect(result.decision.isAllowed)
        #expect(
            lines(result.decision) == [
                "1 write /l/$k [$k=a] 5:16 true", "1 validate /l/$k [$k=a] 5:45 true",
                "1 validate /l/$k/n [$k=a] 6:26 true", "0 write /l/$k [$k=b] 5:16 true",
                "0 validate /l/$k [$k=b] 5:45 true", "0 validate /l/$k/n [$k=b] 6:26 true",
            ]
        )
        #expect(result.newData == (try Node(json: "{\"l\":{\"a\":{\"n\":1},\"b\":{\"n\":1}}}")))
    }

    @Test("a refused entry of an update is named")
    func deniedEntry() throws {
        let rules = try Ruleset.load(DecisionTests.rules)
        let entries = try [("/l/b", "{\"n\":1}"), ("/l/a", "{\"n\":\"x\"}")].map { path, value in
            (target: try WriteTarget(path), draft: Draft(try Node(json: value)))
        }
        let decision = rules.simulate(.update(base: .root, entries), try request()).decision
        #expect(!decision.isAllowed)
        #expect(decision.deniedEntry == 1)
        #expect(decision.rule?.kind == .validate)
        #expect(decision.rule?.path == "/l/$k/n")
        #expect(decision.rule?.location.description == "/l/a/n")
    }

    @Test("what entries of an update share is decided once")
    func sharedRules() throws {
        let rules = try Ruleset.load(
            "{\"rules\":{\".write\":true,\".validate\":true,\"o\":{\".validate\":\"newData.exists()\"}}}"
        )
        let entries = try (0..<10).map { index in
            (target: try WriteTarget("/o/k\(index)"), draft: Draft(Node(true)))
        }
        let decision = rules.simulate(.update(base: .root, entries), try request()).decision
        #expect(decision.isAllowed)
        #expect(decision.trace.map(\.path) == ["/", "/", "/o"])
    }

    @Test("the simulator's answer has the decision, the deciding rule, the trace and the new data")
    func simulatorAnswer() throws {
        let rules = try Ruleset.load(DecisionTests.rules)
        let result = rules.simulate(
            .write(try WriteTarget("/l/x"), Draft(Node(integer: 5))),
            try request(),
            recording: .trace
        )
        let rule = """
            {"entry":0,"kind":"validate","path":"/l/$k","bindings":{"$k":"x"},"line":5,"column":45,\
            "source":"newData.hasChildren(['n'])","result":false}
            """
        #expect(
            String(decoding: result.decision.simulatorJSON(newData: result.newData), as: UTF8.self)
                == """
                {"allowed":false,"rule":\(rule),"trace":[{"entry":0,"kind":"write","path":"/l/$k",\
                "bindings":{"$k":"x"},"line":5,"column":16,"source":"auth != null","result":true},\
                \(rule)],"newData":5}
                """
        )
    }

    @Test("an aborted rule shows its error and place in the simulator's answer")
    func simulatorError() throws {
        let rules = try Ruleset.load("{\"rules\":{\".read\":\"true && now + data.val() > 1\"}}")
        let operation = SimulatedOperation.read(.root, query: nil)
        let result = rules.simulate(operation, try request(), recording: .trace)
        #expect(
            String(decoding: result.decision.simulatorJSON(), as: UTF8.self) == """
                {"allowed":false,"rule":null,"trace":[{"entry":0,"kind":"read","path":"/",\
                "bindings":{},"line":1,"column":20,"source":"true && now + data.val() > 1",\
                "result":"error","error":{"message":"a number and null cannot be added.",\
                "line":1,"column":28}}]}
                """
        )
    }

    @Test("a write that carries too much for its rules is refused, and says so")
    func stepBudget() throws {
        let rules = try Ruleset.load(
            """
            {"rules":{"l":{".write":true,"$k":{".validate":"newData.val().replace('a','b') != newData.val() + 'x'"}}}}
            """
        )
        var list = Node.absent
        let long = Node(string: String(repeating: "a", count: 500))
        for index in 0..<2_000 { list.set(long, at: try Path("k\(index)")) }
        let decision = rules.simulate(
            .write(try WriteTarget("/l"), Draft(list)),
            try request(),
            recording: []
        ).decision
        #expect(!decision.isAllowed)
        guard case .error(let error) = decision.rule?.result else {
            Issue.record("the rule that ran out of steps decides")
            return
        }
        #expect(
            error.message
                == "The request takes more than 500000 steps of rules (of an update, 100 more a path)."
        )
    }

    @Test("a grant below a rule that ran out of steps does not count")
    func budgetEndsTheRequest() throws {
        let rules = try Ruleset.load(
            """
            {"rules":{".read":"data.val().matches(/^((a{1,60}){1,60})$/)","b":{".read":true}}}
            """
        )
        let root = Node(string: String(repeating: "a", count: 200_000))
        let request = RulesRequest(root: root, auth: nil, now: Timestamp(milliseconds: 0))
        let decision = rules.decideRead(try Path("b"), query: nil, request)
        #expect(!decision.isAllowed)
        #expect(decision.rule?.path == "/")
    }

    @Test(
        "comparing long strings is paid for by the byte",
        arguments: [
            "data.val() != data.val()", "data.val() < data.val()",
            "!data.val().endsWith(data.val())", "!data.val().beginsWith(data.val())",
        ]
    )
    func comparisonsCost(_ source: String) throws {
        let chain = Array(repeating: source, count: 500).joined(separator: " || ")
        let rules = try Ruleset.load("{\"rules\":{\".read\":\"\(chain)\"}}")
        let root = Node(string: String(repeating: "a", count: 100_000))
        let request = RulesRequest(root: root, auth: nil, now: Timestamp(milliseconds: 0))
        let decision = rules.decideRead(.root, query: nil, request, recording: .trace)
        #expect(
            lines(decision).first?.hasSuffix(
                "The request takes more than 500000 steps of rules (of an update, 100 more a path)."
            ) == true
        )
    }

    @Test("a string that grows beyond all bounds aborts the rule")
    func builtString() throws {
        let rules = try Ruleset.load(
            "{\"rules\":{\".read\":\"data.val().replace('a', data.val()).length > 0\"}}"
        )
        let root = Node(string: String(repeating: "a", count: 20_000))
        let request = RulesRequest(root: root, auth: nil, now: Timestamp(milliseconds: 0))
        let decision = rules.decideRead(.root, query: nil, request, recording: .trace)
        #expect(!decision.isAllowed)
        #expect(
            lines(decision).first?.hasSuffix("The string is longer than 10485760 bytes.") == true
        )
    }

    @Test("a plain read orders by key only where the caller says so")
    func plainReadOrder() throws {
        let rules = try Ruleset.load(
            "{\"rules\":{\".read\":\"query.orderByKey && !query.orderByPriority\"}}"
        )
        var request = try request()
        #expect(!rules.decideRead(.root, query: nil, request).isAllowed)
        request.plainReadsOrderByKey = true
        #expect(rules.decideRead(.root, query: nil, request).isAllowed)
    }
}
