import JSONTree
import Queries
import RulesTools
import SecurityRules
import Testing

@Suite("a set of rules")
struct RulesetTests {
    static let text = """
        // Rules of a small forum.
        {
          "rules": { /* the root */
            "posts": {
              ".indexOn": ["author", "meta/time", ".value", "author"],
              "$post": {
                ".read": "auth != null &&
                          $post != 'hidden'",
                "pinned": { ".indexOn": "at" }
              }
            }
          }
        }
        """

    @Test("the text is kept as it was given")
    func textIsKept() throws {
        #expect(try Ruleset.load(RulesetTests.text).text == RulesetTests.text)
    }

    @Test("the strict view has no comments and no raw newlines")
    func strictView() throws {
        let strict = String(
            decoding: try Ruleset.load(RulesetTests.text).strictJSON(),
            as: UTF8.self
        )
        #expect(
            strict == """
                {"rules":{"posts":{".indexOn":["author","meta/time",".value","author"],\
                "$post":{".read":"auth != null &&\\n                  $post != 'hidden'",\
                "pinned":{".indexOn":"at"}}}}}
                """
        )
        #expect(try Ruleset.load(strict).strictJSON() == Array(strict.utf8))
    }

    @Test("indexes are found by name and through wildcards")
    func indexes() throws {
        let rules = try Ruleset.load(RulesetTests.text)
        #expect(
            rules.indexes(at: try Path("posts")) == [
                .child(try Path("author")), .child(try Path("meta/time")), .value,
            ]
        )
        #expect(rules.indexes(at: try Path("posts/p1/pinned")) == [.child(try Path("at"))])
        #expect(rules.indexes(at: try Path("posts/p1")) == [])
        #expect(rules.indexes(at: try Path("elsewhere/deep")) == [])
    }

    @Test("closed rules deny everything and open ones allow it")
    func constantRules() throws {
        let request = RulesRequest(root: .absent, auth: nil, now: Timestamp(milliseconds: 0))
        for (rules, isOpen) in [(Ruleset.closed, false), (Ruleset.open, true)] {
            let path = try Path("a/b")
            #expect(rules.decideRead(path, query: nil, request).isAllowed == isOpen)
            #expect(
                rules.decideWrite([WriteTarget(path: path)], newRoot: Node(true), request).isAllowed
                    == isOpen
            )
            #expect(
                rules.decideWrite([WriteTarget(path: .root)], newRoot: .absent, request).isAllowed
                    == isOpen
            )
        }
    }

    @Test("a text above the limit is refused")
    func textLimit() throws {
        let text = "{\"rules\":{}}" + String(repeating: " ", count: RulesLimits.textByteCount)
        let error = #expect(throws: RulesError.self) { try Ruleset.load(text) }
        #expect(error?.description == "1:1: Rules are longer than 262144 bytes.\n")
        #expect(try Ruleset.load(text, byteLimit: text.utf8.count).text == text)
    }

    @Test("an expression above 64 KB is refused")
    func expressionLimit() throws {
        let source = "true || '" + String(repeating: "a", count: 64 * 1024) + "' == 'b'"
        let error = #expect(throws: RulesError.self) {
            try Ruleset.load("{\"rules\":{\".read\":\"\(source)\"}}")
        }
        #expect(error?.description == "1:20: Expression is longer than 65536 bytes.\n")
    }

    @Test("a chain of thousands of operands loads and runs")
    func longChains() throws {
        for (symbol, operand) in [("||", "false"), ("&&", "true")] {
            let source = Array(repeating: operand, count: 5_000).joined(separator: symbol)
            let rules = try Ruleset.load("{\"rules\":{\".read\":\"\(source)\"}}")
            let request = RulesRequest(root: .absent, auth: nil, now: Timestamp(milliseconds: 0))
            #expect(rules.decideRead(.root, query: nil, request).isAllowed == (symbol == "&&"))
        }
    }

    @Test(
        "an expression nested too deeply is refused",
        arguments: [
            ("(", "true", ")"), ("!", "true", ""), ("true ? true : ", "true", ""),
            ("- ", "1", ""), ("auth[", "1", "] == 1"), ("1 + (", "1", ") == 2"),
            ("root.child('' + ", "'a'", ").val()"),
        ]
    )
    func nesting(_ open: String, _ inner: String, _ close: String) throws {
        let deep =
            String(repeating: open, count: 1_000) + inner + String(repeating: close, count: 1_000)
        let error = #expect(throws: RulesError.self) {
            try Ruleset.load("{\"rules\":{\".read\":\"\(deep)\"}}")
        }
        #expect(error?.faults.map(\.message) == ["Expression is nested deeper than 200 levels."])
    }

    @Test("an expression of 190 levels runs")
    func deepExpression() throws {
        let open = String(repeating: "!(", count: 95)
        let close = String(repeating: ")", count: 95)
        let rules = try Ruleset.load("{\"rules\":{\".read\":\"\(open)false\(close)\"}}")
        let request = RulesRequest(root: .absent, auth: nil, now: Timestamp(milliseconds: 0))
        #expect(rules.decideRead(.root, query: nil, request).isAllowed)
    }

    @Test("a chain of sums or of members is bounded too", arguments: ["1 + ", "- "])
    func leftChains(_ piece: String) throws {
        let source = String(repeating: piece, count: 5_000) + "1 == 1"
        let error = #expect(throws: RulesError.self) {
            try Ruleset.load("{\"rules\":{\".read\":\"\(source)\"}}")
        }
        #expect(error?.faults.map(\.message) == ["Expression is nested deeper than 200 levels."])
    }

    @Test("rules nested too deeply are refused")
    func fileNesting() throws {
        let text = String(repeating: "{\"a\":", count: 5_000)
        let error = #expect(throws: RulesError.self) { try Ruleset.load("{\"rules\":" + text) }
        #expect(error?.faults.map(\.message) == ["Rules are nested deeper than 100 levels."])
    }

    @Test("at most a thousand faults are listed")
    func faultLimit() throws {
        let members = (0..<2_000).map { "\"k\($0)\":1" }.joined(separator: ",")
        let error = #expect(throws: RulesError.self) {
            try Ruleset.load("{\"rules\":{\(members)}}")
        }
        #expect(error?.faults.count == RulesLimits.faultCount)
    }

    @Test("a number ordered against a string literal is warned of")
    func orderWarning() throws {
        let rules = try Ruleset.load("{\"rules\":{\".read\":\"'a' < 1\"}}")
        #expect(
            rules.lint().filter { $0.code == .mixedOrder }.map(\.description) == [
                "1:20: warning[mixed-order]: A number and a string have no order: this always fails."
            ]
        )
    }

    @Test(
        "a fault comes with a hint",
        arguments: [
            ("dta.exists()", "Did you mean 'data'?"), ("uid == 1", "The user's id is auth.uid."),
            ("data.exist()", "Did you mean 'exists'?"),
            ("data.hasChilds(['a'])", "Did you mean 'hasChild'?"),
            ("'a'.startsWith('b')", "Did you mean 'beginsWith'?"),
            ("data.length > 1", "That is a member of strings: val().length."),
            ("query.limitTofirst == 1", "Did you mean 'limitToFirst'?"),
            ("auth.token.admin", "Compare it, as with == true."),
            ("data == 1", "The value of a snapshot is val()."),
            ("auth.uid = 1", "Equality is written ==."), ("true & true", "Did you mean &&?"),
            ("'a'.matches('a')", "Write it between slashes, as /^a+$/, without quotes."),
        ]
    )
    func hints(_ source: String, _ hint: String) throws {
        let error = #expect(throws: RulesError.self) {
            try Ruleset.load("{\"rules\":{\".read\":\"\(source)\"}}")
        }
        #expect(error?.faults.first?.hint == hint)
    }

    @Test("a misspelt rule is hinted at")
    func ruleHint() throws {
        let error = #expect(throws: RulesError.self) {
            try Ruleset.load("{\"rules\":{\".raed\":\"true\"}}")
        }
        #expect(error?.faults.first?.hint == "Did you mean '.read'?")
    }

    @Test("refused rules have a JSON body that lists every fault")
    func errorBody() throws {
        let error = #expect(throws: RulesError.self) {
            try Ruleset.load("{\"rules\":{\".read\":\"foo\",\".write\":\"dta\"}}")
        }
        #expect(
            String(decoding: error?.json() ?? [], as: UTF8.self) == """
                {"error":"1:20: Unknown variable 'foo'.\\n1:35: Unknown variable 'dta'.\\n",\
                "errors":[{"line":1,"column":20,"message":"Unknown variable 'foo'."},\
                {"line":1,"column":35,"message":"Unknown variable 'dta'.","hint":"Did you mean 'data'?"}]}
                """
        )
    }
}
