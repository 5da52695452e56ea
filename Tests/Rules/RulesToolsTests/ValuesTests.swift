import JSONTree
import Queries
import RulesTools
import SecurityRules
import Testing

@Suite("the values of sub-expressions")
struct ValuesTests {
    /// A rule, what it is asked about, and its values as text.
    struct Example: Sendable, CustomTestStringConvertible {
        var rule: String
        var data = "null"
        var path = "/"
        var auth: String? = #"{"uid":"ann","token":{"email":"a@b"}}"#
        var values: [String]

        var testDescription: String { rule }
    }

    static let examples = [
        Example(
            rule: "auth != null && auth.uid == 'ann'",
            values: [
                "auth != null && auth.uid == 'ann' = true", "auth != null = true", "auth = {}",
                "auth.uid == 'ann' = true", "auth.uid = 'ann'", "auth = {}",
            ]
        ),
        Example(
            rule: "auth != null && auth.uid == 'ann'",
            auth: nil,
            values: [
                "auth != null && auth.uid == 'ann' = false", "auth != null = false",
                "auth = null",
                "auth.uid == 'ann' -", "auth.uid -", "auth -",
            ]
        ),
        Example(
            rule: "data.exists() || root.child('a').child('b/c').val() > 1",
            data: #"{"a":{"b":{"c":2}}}"#,
            path: "/x",
            values: [
                "data.exists() || root.child('a').child('b/c').val() > 1 = true",
                "data.exists() = false", "data = null at data /x",
                "root.child('a').child('b/c').val() > 1 = true",
                "root.child('a').child('b/c').val() = 2",
                "root.child('a').child('b/c') = 2 at data /a/b/c", "root = {} at data /",
            ]
        ),
        Example(
            rule: "data.child(auth.uid).hasChild('x') == false",
            data: #"{"ann":{"x":true}}"#,
            values: [
                "data.child(auth.uid).hasChild('x') == false = false",
                "data.child(auth.uid).hasChild('x') = true",
                "data.child(auth.uid) = {} at data /ann", "data = {} at data /",
                "auth.uid = 'ann'", "auth = {}",
            ]
        ),
        Example(
            rule: "data.child('a').hasChild('b')",
            values: ["data.child('a').hasChild('b') = false", "data = null at data /"]
        ),
        Example(
            rule: "data.child('a.b').parent().exists() || data.child('').exists()",
            data: "5",
            values: [
                "data.child('a.b').parent().exists() || data.child('').exists() = true",
                "data.child('a.b').parent().exists() = true",
                "data.child('a.b').parent() = 5 at data /",
                "data.child('a.b') = null at data nowhere", "data = 5 at data /",
                "data.child('').exists() -", "data.child('') -", "data -",
            ]
        ),
        Example(
            rule: "true && now + data.val() > 1",
            values: [
                "true && now + data.val() > 1 ! a number and null cannot be added.",
                "now + data.val() > 1 ! a number and null cannot be added.",
                "now + data.val() ! a number and null cannot be added.", "now = 7",
                "data.val() = null", "data = null at data /",
            ]
        ),
        Example(
            rule: "(data.val().length > 3 || now > 0) && auth != null",
            data: "[1]",
            values: [
                "(data.val().length > 3 || now > 0) && auth != null "
                    + "! Expected a string, found an object.",
                "(data.val().length > 3 || now > 0) ! Expected a string, found an object.",
                "data.val().length > 3 ! Expected a string, found an object.",
                "data.val().length ! Expected a string, found an object.", "data.val() = {}",
                "data = {} at data /", "now > 0 -", "now -", "auth != null -", "auth -",
            ]
        ),
        Example(
            rule: "data.parent().exists()",
            values: [
                "data.parent().exists() ! The root has no parent.",
                "data.parent() ! The root has no parent.", "data = null at data /",
            ]
        ),
        Example(
            rule: "(auth.uid == 'bob' ? data.child('b') : data.child('a')).isNumber()",
            data: #"{"a":1.5}"#,
            values: [
                "(auth.uid == 'bob' ? data.child('b') : data.child('a')).isNumber() = true",
                "(auth.uid == 'bob' ? data.child('b') : data.child('a')) = 1.5 at data /a",
                "auth.uid == 'bob' = false", "auth.uid = 'ann'", "auth = {}",
                "data.child('b') -", "data -", "data.child('a') = 1.5 at data /a",
                "data = {} at data /",
            ]
        ),
        Example(
            rule: "data.hasChildren(['a', auth.uid]) || !data.val().matches(/^x/)",
            data: #""x""#,
            values: [
                "data.hasChildren(['a', auth.uid]) || !data.val().matches(/^x/) = false",
                "data.hasChildren(['a', auth.uid]) = false", "data = 'x' at data /",
                "auth.uid = 'ann'", "auth = {}", "!data.val().matches(/^x/) = false",
                "data.val().matches(/^x/) = true", "data.val() = 'x'", "data = 'x' at data /",
            ]
        ),
        Example(
            rule: "query.orderByKey == true || 0 / 0 != -data.val()",
            data: "3",
            values: [
                "query.orderByKey == true || 0 / 0 != -data.val() = true",
                "query.orderByKey == true = false", "query.orderByKey = false", "query = {}",
                "0 / 0 != -data.val() = true", "0 / 0 = NaN", "-data.val() = -3",
                "data.val() = 3", "data = 3 at data /",
            ]
        ),
        Example(
            rule: "auth.token.email.replace('@', 'x').toUpperCase() == 'AXB'",
            values: [
                "auth.token.email.replace('@', 'x').toUpperCase() == 'AXB' = true",
                "auth.token.email.replace('@', 'x').toUpperCase() = 'AXB'",
                "auth.token.email.replace('@', 'x') = 'axb'", "auth.token.email = 'a@b'",
                "auth.token = {}", "auth = {}",
            ]
        ),
    ]

    private static func text(_ value: ObservedValue) -> String {
        switch value {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let value): value == value.rounded() ? "\(Int(value))" : numberText(value)
        case .string(let text, let isCut): "'\(text)'" + (isCut ? "…" : "")
        case .object: "{}"
        case .snapshot(let path, let isNew, let value):
            "\(text(value)) at \(isNew ? "newData" : "data") \(path?.description ?? "nowhere")"
        }
    }

    private static func numberText(_ value: Double) -> String { value.isNaN ? "NaN" : "\(value)" }

    static func lines(_ outcome: RuleOutcome) -> [String] {
        outcome.values.map { value in
            switch value.outcome {
            case .value(let observed): "\(value.text) = \(text(observed))"
            case .error(let message): "\(value.text) ! \(message)"
            case .unevaluated: "\(value.text) -"
            }
        }
    }

    static func request(_ data: String, _ auth: String? = nil) throws -> RulesRequest {
        RulesRequest(
            root: try Node(json: data),
            auth: try auth.map { AuthVariable(try Node(json: $0)) },
            now: Timestamp(milliseconds: 7)
        )
    }

    @Test(
        "are all there, in source order, and none that was not needed has one",
        arguments: examples
    )
    func table(_ example: Example) throws {
        let source = example.rule.replacing("\"", with: "\\\"")
        let rules = try Ruleset.load(
            example.path == "/"
                ? "{\"rules\":{\".read\":\"\(source)\"}}"
                : "{\"rules\":{\"$x\":{\".read\":\"\(source)\"}}}"
        )
        let decision = rules.decideRead(
            try Path(example.path),
            query: nil,
            try Self.request(example.data, example.auth),
            recording: .values
        )
        let outcome = try #require(decision.trace.first)
        #expect(Self.lines(outcome) == example.values)
        #expect(!decision.isCut)
        if decision.isAllowed {
            #expect(
                decision.rule.map(Self.lines) == example.values,
                "the deciding rule has them too"
            )
        }
        let ranges = outcome.values.map(\.range)
        for (index, range) in ranges.enumerated() {
            for other in ranges[..<index] {
                #expect(
                    other.upperBound <= range.lowerBound
                        || (other.lowerBound <= range.lowerBound
                            && range.upperBound <= other.upperBound),
                    "ranges nest"
                )
            }
        }
    }

    @Test("a write shows both trees")
    func bothTrees() throws {
        let rules = try Ruleset.load(
            """
            {"rules":{"$k":{".write":"newData.parent().child($k).val() == data.val() + 1"}}}
            """
        )
        let result = rules.simulate(
            .write(try WriteTarget("/n"), Draft(Node(integer: 5))),
            try Self.request(#"{"n":4}"#)
        )
        let outcome = try #require(result.decision.rule)
        #expect(
            Self.lines(outcome) == [
                "newData.parent().child($k).val() == data.val() + 1 = true",
                "newData.parent().child($k).val() = 5",
                "newData.parent().child($k) = 5 at newData /n",
                "newData.parent() = {} at newData /", "newData = 5 at newData /n", "$k = 'n'",
                "data.val() + 1 = 5", "data.val() = 4", "data = 4 at data /n",
            ]
        )
    }

    @Test("stand where the rules text says, past escapes and line ends")
    func places() throws {
        let rules = try Ruleset.load(
            "{\"rules\":{\n  \".read\": \"data.val() == \\\"\\u0061\\\" &&\n    now > 0\"}}"
        )
        let decision = rules.decideRead(
            .root,
            query: nil,
            try Self.request("\"a\""),
            recording: .values
        )
        let values = try #require(decision.rule).values
        #expect(
            values.map { "\($0.line):\($0.column)" } == [
                "2:13", "2:13", "2:13", "2:13", "3:5", "3:5",
            ]
        )
        #expect(values.map(\.range) == [0..<32, 0..<17, 0..<10, 0..<4, 25..<32, 25..<28])
    }

    @Test("constant rules have none, and nothing has any unless it is asked for")
    func none() throws {
        let rules = try Ruleset.load(#"{"rules":{".read":"true","a":{".read":"now > 0"}}}"#)
        let request = try Self.request("null")
        let constant = rules.decideRead(.root, query: nil, request, recording: .values)
        #expect(constant.trace.map(\.values.count) == [0])
        let other = try Ruleset.load(#"{"rules":{".read":"now > 0"}}"#)
        for recording in [Recording(), .trace, .paths] {
            let decision = other.decideRead(.root, query: nil, request, recording: recording)
            #expect(decision.rule?.values.isEmpty == true)
        }
        #expect(Recording.values.contains(.trace))
    }

    @Test("long strings are cut between characters, and say so")
    func longStrings() throws {
        let rules = try Ruleset.load(#"{"rules":{".read":"data.val() != null"}}"#)
        let limit = RulesLimits.tracedStringByteCount
        for (count, isCut) in [(limit / 4, false), (limit / 4 + 1, true)] {
            let text = "abc" + String(repeating: "🜂", count: count - 1) + (isCut ? "" : "d")
            let request = RulesRequest(
                root: Node(string: text),
                auth: nil,
                now: Timestamp(milliseconds: 0)
            )
            let decision = rules.decideRead(.root, query: nil, request, recording: .values)
            let shown = isCut ? "abc" + String(repeating: "🜂", count: limit / 4 - 1) : text
            #expect(
                decision.rule?.values[1].outcome == .value(.string(shown, isCut: isCut)),
                "\(count)"
            )
            #expect(!decision.isCut, "a cut string is no cut trace")
        }
    }

    // MARK: Caps

    @Test(
        "a trace holds a limited number of rules; the decision and the refusing rule are complete"
    )
    func cutRules() throws {
        let rules = try Ruleset.load(
            """
            {"rules":{"l":{".write":true,"$k":{".validate":"newData.val() < 5000 || now < 0"}}}}
            """
        )
        for count in [RulesLimits.tracedRuleCount - 1, RulesLimits.tracedRuleCount, 5_001] {
            var list = Node.absent
            for number in 0..<count {
                let name = String(100_000 + number)
                list.set(Node(integer: Int64(number)), at: try Path("k\(name)"))
            }
            let operation = SimulatedOperation.write(try WriteTarget("/l"), Draft(list))
            let silent = rules.simulate(operation, try Self.request("null"), recording: []).decision
            for recording: Recording in [.trace, .values, [.values, .paths]] {
                let decision = rules.simulate(
                    operation,
                    try Self.request("null"),
                    recording: recording
                ).decision
                #expect(decision.isAllowed == (count <= 5_000))
                #expect(decision.isAllowed == silent.isAllowed)
                #expect(decision.isCut == (count >= RulesLimits.tracedRuleCount))
                #expect(decision.trace.count == min(count + 1, RulesLimits.tracedRuleCount))
                if recording.contains(.paths) { #expect(decision.lookedAt.count == count) }
                if count > 5_000, recording.contains(.values) {
                    let rule = try #require(decision.rule)
                    #expect(rule.location.description == "/l/k105000")
                    #expect(Self.lines(rule).contains("newData.val() = 5000"))
                }
                let json = String(decoding: decision.simulatorJSON(), as: UTF8.self)
                #expect(json.contains("],\"cut\":true") == decision.isCut)
            }
        }
    }

    @Test("a trace holds so many values and no more, and goes on with the rules")
    func cutValues() throws {
        // Each rule has three operations for each of its parts, and one for all.
        let chain = Array(repeating: "now < 0", count: 1_500).joined(separator: " || ")
        let rules = try Ruleset.load(
            """
            {"rules":{".read":"\(chain)","a":{".read":"\(chain)","b":{".read":"\(chain)",
              "c":{".read":"now > 0"}}}}}
            """
        )
        let request = try Self.request("null")
        let path = try Path("a/b/c")
        let decision = rules.decideRead(path, query: nil, request, recording: .values)
        #expect(decision.isAllowed)
        #expect(decision.isCut)
        #expect(decision.trace.map(\.values.count) == [3_001, 3_001, 0, 0])
        #expect(decision.trace.map(\.result) == [false, false, false, true].map { .value($0) })
    }

    @Test("a refusing rule that takes too many steps has no values once a trace is full")
    func slowRefusal() throws {
        let rules = try Ruleset.load(
            """
            {"rules":{"l":{".write":true,"$k":{".validate":"newData.val().length < 100000"}}}}
            """
        )
        var list = Node.absent
        for number in 0..<2_000 {
            list.set(Node(string: "x"), at: try Path("k\(100_000 + number)"))
        }
        for (byteCount, isRecorded) in [(200_000, true), (400_000, false)] {
            let long = String(repeating: "x", count: byteCount)
            list.set(Node(string: long), at: try Path("k2"))
            let operation = SimulatedOperation.write(try WriteTarget("/l"), Draft(list))
            let decision = rules.simulate(operation, try Self.request("null")).decision
            #expect(!decision.isAllowed && decision.isCut)
            #expect(decision.rule?.values.isEmpty == !isRecorded)
            #expect(decision.rule?.result == .value(false))
        }
    }

    @Test("strings and keys fill only so much room")
    func cutBytes() throws {
        let rules = try Ruleset.load(
            """
            {"rules":{"l":{".write":true,"$k":{
              ".validate":"newData.parent().child($k).val() != newData.val() + 'x'"}}}}
            """
        )
        var list = Node.absent
        let long = Node(string: String(repeating: "a", count: 256))
        for number in 0..<800 { list.set(long, at: try Path("k\(100_000 + number)")) }
        let operation = SimulatedOperation.write(try WriteTarget("/l"), Draft(list))
        let decision = rules.simulate(operation, try Self.request("null")).decision
        #expect(decision.isAllowed && decision.isCut)
        let byteCount = decision.trace.reduce(0) { $0 + $1.heldByteCount }
        #expect(
            byteCount < RulesLimits.tracedByteCount + RulesLimits.tracedValueCount * 60 + 200_000
        )
    }

    // MARK: JSON

    @Test(
        "the simulator's answer has values as it is written down",
        arguments: [
            ("data.val() == null", "5", #"{"text":"data.val()","line":1,"column":20,"value":5}"#),
            (
                "data.val() == null", "5",
                #"{"text":"data","line":1,"column":20,"value":5,"path":"/","tree":"data"}"#
            ),
            (
                "data.child('a#').exists()", "5",
                #"{"text":"data.child('a#')","line":1,"column":20,"value":null,"path":null,"tree":"data"}"#
            ),
            (
                "now < 0 && data.exists()", "5",
                #"{"text":"data.exists()","line":1,"column":31,"unevaluated":true}"#
            ),
            (
                "0 / 0 == 1", "5",
                #"{"text":"0 / 0","line":1,"column":20,"value":null,"number":"NaN"}"#
            ),
            (
                "data.val() == null", #"{"a":1}"#,
                #"{"text":"data.val()","line":1,"column":20,"value":{}}"#
            ),
            (
                "data.val().length > 0", "5",
                #"{"text":"data.val().length","line":1,"column":20,"error":"Expected a string, found a number."}"#
            ),
        ]
    )
    func json(rule: String, data: String, entry: String) throws {
        let rules = try Ruleset.load("{\"rules\":{\".read\":\"\(rule)\"}}")
        let decision = rules.decideRead(
            .root,
            query: nil,
            try Self.request(data),
            recording: .values
        )
        let json = String(decoding: decision.simulatorJSON(), as: UTF8.self)
        #expect(json.contains(entry), "\(json)")
        #expect(try Node(json: json).isMap)
    }
}
