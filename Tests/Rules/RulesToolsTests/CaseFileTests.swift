import JSONTree
import RulesTools
import SecurityRules
import Testing

@Suite("files of cases")
struct CaseFileTests {
    private static let rules = """
        {"rules":{"a":{".read":"data.child('n').val() === 1 && now > 5 && auth.uid === 'ann'"}}}
        """

    private func read(_ text: String) throws(RulesError) -> CaseFile {
        try CaseFile.read(Array(text.utf8))
    }

    private func problems(_ text: String) throws -> [[String]] {
        let file = try read(text)
        let shared = Result { () throws(RulesError) in try Ruleset.load(Self.rules) }
        return try file.cases.map { example in
            example.run(under: try #require(file.rules(of: example, shared: shared))).problems
        }
    }

    @Test("cases take what their file shares, and replace it")
    func shared() throws {
        let found = try problems(
            """
            {"data":{"a":{"n":1}},"now":6,"auth":{"uid":"ann"},"cases":[
              {"name":"all shared","op":"read","path":"/a","expect":"allow"},
              {"name":"own data","op":"read","path":"/a","data":{"a":{"n":2}},"expect":"deny"},
              {"name":"no data","op":"read","path":"/a","data":null,"expect":"deny"},
              {"name":"own time","op":"read","path":"/a","now":5,"expect":"deny"},
              {"name":"signed out","op":"read","path":"/a","auth":null,"expect":"deny"},
              {"name":"given","op":"read","path":"/a","given":{"/a/n":2},"expect":"deny"},
              {"name":"given on own data","op":"read","path":"/a","data":{},"given":{"a/n":1},"expect":"allow"},
              {"name":"taken away","op":"read","path":"/a","given":{"/a":{"n":1,"m":2},"/a/n":null},"expect":"deny"},
              {"name":"own rules","op":"read","path":"/a","rules":{"rules":{}},"expect":"deny"}
            ]}
            """
        )
        #expect(found == Array(repeating: [], count: 9))
    }

    @Test("a file may bring the rules of all its cases")
    func rulesOfTheFile() throws {
        let file = try read(
            """
            {"rules":{"rules":{".read":true}},"cases":[
              {"name":"1","op":"read","path":"/a","expect":"allow"},
              {"name":"2","op":"read","path":"/a","rules":{"rules":{}},"expect":"deny"}]}
            """
        )
        let problems = try file.cases.map { example in
            let rules = file.rules(of: example, shared: file.sharedRules)
            return example.run(under: try #require(rules)).problems
        }
        #expect(problems == [[], []])
        #expect(file.cases.map(file.hasOwnRules) == [false, true])
    }

    @Test("what comes otherwise than expected is said")
    func mismatches() throws {
        let found = try problems(
            """
            [{"name":"1","op":"read","path":"/a","expect":"allow"},
             {"name":"2","op":"read","path":"/a","expect":"deny","decidedBy":"read /a"},
             {"name":"3","op":"read","path":"/a","expect":"deny","error":"What?"},
             {"name":"4","op":"read","path":"/a","expect":"invalid-rules"},
             {"name":"5","op":"read","path":"/a","rules":{},"expect":"deny"},
             {"name":"6","op":"read","path":"/a","rules":"{}","expect":"invalid-rules","errors":["1:1: x"]},
             {"name":"7","op":"read","path":"/a","rules":{},"expect":"invalid-rules",
              "errors":["1:2: Expected 'rules' property."]},
             {"name":"8","op":"read","path":"/a","rules":{"rules":{".read":true}},"expect":"allow","decidedBy":null}]
            """
        )
        #expect(
            found == [
                ["expected allow, got deny"],
                ["expected to be decided by read /a, was decided by no rule"],
                [#"expected a rule to fail with "What?", got none"#],
                ["expected rules that do not load, but they do"],
                [#"expected deny, but the rules do not load: "1:2: Expected 'rules' property.""#],
                [#"expected the faults "1:1: x", got "1:2: Expected 'rules' property.""#],
                [],
                ["expected to be decided by no rule, was decided by read /"],
            ]
        )
    }

    /// A file that cannot be read, and its faults.
    struct Refusal: Sendable {
        let text: String
        let faults: [String]
    }

    static let refusals = [
        Refusal(text: "", faults: ["1:1: The file of cases is no JSON: the text ends too early."]),
        Refusal(
            text: "5",
            faults: ["1:1: A file of cases is a list of cases, or an object with 'cases'."]
        ),
        Refusal(
            text: "{\"data\":{}}",
            faults: ["1:1: 'cases' is missing; it is the list of cases."]
        ),
        Refusal(
            text: "{\"dat\":{},\"cases\":[]}",
            faults: ["1:2: Unknown member 'dat' in the file of cases. Did you mean 'data'?"]
        ),
        Refusal(text: "{\"cases\":{}}", faults: ["1:10: 'cases' must be a list."]),
        Refusal(
            text:
                "[5,\n {\"op\":\"read\"},\n {\"name\":\"a\",\"op\":\"read\",\"path\":\"/\",\"expect\":\"alow\"}]",
            faults: [
                "1:2: A case must be an object.",
                "2:2: 'name' is missing; it says in a few words what must hold.",
                "3:46: 'expect' must be allow, deny or invalid-rules. Did you mean 'allow'?",
            ]
        ),
        Refusal(
            text: #"[{"name":"a","op":"read","path":"/","expect":"deny","decidedBy":"write"}]"#,
            faults: ["1:65: 'decidedBy' names a rule, such as write /a/$b, or is null."]
        ),
        Refusal(
            text: #"[{"name":"a","op":"read","path":"/","expect":"deny","given":{"a.":1}}]"#,
            faults: [#"1:62: 'given': bad path "a.": a key must not contain '.'."#]
        ),
        Refusal(
            text: #"[{"name":"a","op":"read","path":"/","expect":"deny","errors":[1]}]"#,
            faults: ["1:63: 'errors' must be a string."]
        ),
        Refusal(
            text: #"[{"name":"a","op":"read","path":"/","expects":"deny"}]"#,
            faults: ["1:37: Unknown member 'expects' in a case. Did you mean 'expect'?"]
        ),
    ]

    @Test(
        "a file that cannot be read is refused with the place of every fault",
        arguments: refusals
    )
    func refusal(_ refusal: Refusal) throws {
        let error = try #require(throws: RulesError.self) { _ = try read(refusal.text) }
        let faults = error.faults.map { "\($0)" + ($0.hint.map { " \($0)" } ?? "") }
        #expect(faults == refusal.faults)
    }

    @Test("at most a hundred faults are reported")
    func faultLimit() throws {
        let text = "[" + Array(repeating: "1", count: 500).joined(separator: ",") + "]"
        let error = try #require(throws: RulesError.self) { _ = try read(text) }
        #expect(error.faults.count == CaseFile.faultLimit)
    }

    @Test("a case is found in a file of one long line with characters of several bytes")
    func positions() throws {
        let name = String(repeating: "é", count: 6_000)
        let one = "{\"name\":\"\(name)\",\"op\":\"read\",\"path\":\"/a\",\"expect\":\"deny\"}"
        let file = try read("[\n\(one),\(one),\(one)]")
        let columns = file.cases.map { file.position(of: $0) }
        let length = one.unicodeScalars.count + 1
        #expect(columns.map(\.line) == [2, 2, 2])
        #expect(columns.map(\.column) == [1, 1 + length, 1 + 2 * length])
    }

    @Test("two rulesets differ in the cases that they decide differently")
    func differences() throws {
        let old = try Ruleset.load(#"{"rules":{"a":{".read":true},"b":{".read":true}}}"#)
        let new = try Ruleset.load(
            #"{"rules":{"a":{".read":false},"b":{"$k":{".read":true}},"c":{".read":true}}}"#
        )
        let file = try read(
            """
            [{"name":"a","op":"read","path":"/a","expect":"allow"},
             {"name":"b","op":"read","path":"/b/x","expect":"allow"},
             {"name":"c","op":"read","path":"/c","auth":{"uid":"ann"},"expect":"deny"},
             {"name":"d","op":"read","path":"/d","expect":"deny"}]
            """
        )
        let kinds = file.cases.map { $0.difference(from: old, to: new)?.kind }
        #expect(
            kinds == [
                .nowRefused, .decidedBy(.rule("read /b/$k"), before: .rule("read /b")), .nowAllowed,
                nil,
            ]
        )
        #expect(file.cases[2].summary == "read /c as \"ann\"")
    }
}
