import JSONTree
import Queries
import SecurityRules
import Testing

@Suite("the limits of one request")
struct LimitTests {
    private static let outOfSteps =
        "The request takes more than 500000 steps of rules (of an update, 100 more a path)."

    private func decide(
        _ rule: String,
        on root: Node,
        recording: Recording = Recording()
    ) throws -> Decision {
        let rules = try Ruleset.load("{\"rules\":{\".read\":\"\(rule)\"}}")
        let request = RulesRequest(root: root, auth: nil, now: Timestamp(milliseconds: 0))
        return rules.decideRead(.root, query: nil, request, recording: recording)
    }

    private func message(_ outcome: RuleOutcome?) -> String? {
        guard case .error(let error) = outcome?.result else { return nil }
        return error.message
    }

    @Test(
        "one operation on a long text is paid for however it ends",
        arguments: [
            ("data.val().replace('x', 'yy').length < 5", "x", 400_000),
            ("data.val().replace('x', '').length < 5", "x", 400_000),
            ("data.val().toLowerCase() == ''", "x", 2_500_000),
            (
                "data.val() + data.val() + 1 + 2 + 3 + 4 == ''", "xxxx", 1_000_000
            ),
            ("data.val() < data.val()", "x", 9_000_000),
            ("data.child(data.val()).exists()", "/x", 600_000),
            ("data.hasChildren([data.val()])", "/x", 600_000),
        ]
    )
    func longText(_ rule: String, _ unit: String, _ count: Int) throws {
        let decision = try decide(rule, on: Node(string: String(repeating: unit, count: count)))
        #expect(!decision.isAllowed)
        #expect(message(decision.overLimit) == Self.outOfSteps)
        #expect(message(decision.rule) == Self.outOfSteps)
    }

    @Test(
        "what is done for every child is paid for however short its text is",
        arguments: [
            ("newData.val() + now != ''", 1_000),
            ("newData.val().matches(/^(([a-z]{1,60}){1,60}|.*)$/)", 1_000),
            // No rule is ever run: only children are visited.
            ("true", 25_000),
        ]
    )
    func manyChildren(_ rule: String, _ count: Int) throws {
        let isBelow = rule == "true"
        let place = isBelow ? "\"a\":{\"b\":{\".validate\":true}}" : "\".validate\":\"\(rule)\""
        // The grant leaves some 20,000 steps.
        let grant = "root.child('t').val().toUpperCase() != ''"
        let rules = try Ruleset.load("{\"rules\":{\".write\":\"\(grant)\",\"$k\":{\(place)}}}")
        var old = Node.absent
        old.set(Node(string: String(repeating: "t", count: 1_700_000)), at: try Path("t"))
        var new = Node.absent
        for index in 0..<count { new.set(Node(string: "v"), at: try Path("k\(index)")) }
        let time = Timestamp(milliseconds: 1_790_000_000_123)
        let request = RulesRequest(root: old, auth: nil, now: time)
        let decision = rules.decideWrite([try WriteTarget("/")], newRoot: new, request)
        #expect(!decision.isAllowed)
        #expect(message(decision.rule) == Self.outOfSteps)
        #expect(decision.rule?.kind == .validate)
        #expect(decision.overLimit?.path == (isBelow ? "/$k/a/b" : "/$k"))
    }

    @Test("a string that grows too long is reported, unless the request is allowed")
    func longString() throws {
        let grows = "data.val().replace('a', data.val()).length > 0"
        let root = Node(string: String(repeating: "a", count: 20_000))
        let refused = try decide(grows, on: root)
        #expect(refused.rule == nil)
        #expect(message(refused.overLimit) == "The string is longer than 10485760 bytes.")

        let rules = try Ruleset.load("{\"rules\":{\".read\":\"\(grows)\",\"b\":{\".read\":true}}}")
        let request = RulesRequest(root: root, auth: nil, now: Timestamp(milliseconds: 0))
        let allowed = rules.decideRead(try Path("b"), query: nil, request)
        #expect(allowed.isAllowed && allowed.overLimit == nil)
        #expect(try decide("data.val() == 1", on: root).overLimit == nil)
    }

    @Test("the rule that met a limit can stand for the trace")
    func tracedToLimit() throws {
        let root = Node(string: String(repeating: "a", count: 400_000))
        let decision = try decide("data.val().replace('a', 'bb') == ''", on: root).tracedToLimit
        #expect(decision.trace.map(\.path) == ["/"])
        #expect(decision.isCut)
    }

    /// Each path of an update takes some 40 steps of these rules.
    private func decideUpdate(_ pathCount: Int, stepsPerPath: Int) throws -> Decision {
        let term = "newData.val() == data.parent().parent().child('b').val() || "
        let terms = String(repeating: term, count: stepsPerPath / 8)
        let rules = try Ruleset.load("{\"rules\":{\"a\":{\"$k\":{\".write\":\"\(terms)true\"}}}}")
        var root = Node.absent
        let paths = try (0..<pathCount).map { try Path("a/k\($0)") }
        for path in paths { root.set(Node(string: "x"), at: path) }
        let request = RulesRequest(root: .absent, auth: nil, now: Timestamp(milliseconds: 0))
        let targets = paths.map { WriteTarget(path: $0) }
        return rules.decideWrite(targets, newRoot: root, request)
    }

    @Test("an update has steps for each of its paths, up to a limit of all")
    func updates() throws {
        #expect(try decideUpdate(10_001, stepsPerPath: 64).isAllowed)
        #expect(try !decideUpdate(10_001, stepsPerPath: 400).isAllowed)
        #expect(try !decideUpdate(60_000, stepsPerPath: 64).isAllowed)
        #expect(RulesLimits.steps(pathCount: 1) == RulesLimits.stepsPerRequest)
        #expect(RulesLimits.steps(pathCount: 0) == RulesLimits.stepsPerRequest)
        #expect(RulesLimits.steps(pathCount: 100_000) == RulesLimits.stepsPerUpdate)
    }
}
