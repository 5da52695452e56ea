import JSONTree
import RulesTools
import SecurityRules
import Testing

@Suite("bodies of simulator requests")
struct SimulationBodyTests {
    /// A body that makes no sense, and what is said of it.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let body: String
        let text: String

        init(_ body: String, _ text: String) {
            self.body = body
            self.text = text
        }

        var testDescription: String { text }
    }

    static let refusals = [
        Refusal("", "1:1: The body is no JSON: the text ends too early."),
        Refusal("{", "1:2: The body is no JSON: the text ends too early."),
        Refusal("[1]", "1:1: The body must be an object."),
        Refusal(#"{"op":"read","path":"/"} x"#, "1:26: The body is no JSON: text after the value."),
        Refusal(
            "{\n \"op\":\"read\",\n \"path\":\"/\",}",
            "3:13: The body is no JSON: unexpected '}'."
        ),
        Refusal(
            #"{"op":"read","path":"/","pth":1}"#,
            "1:25: Unknown member 'pth' in the body. Did you mean 'path'?"
        ),
        Refusal(
            #"{"op":"read","path":"/","😀":1}"#,
            "1:25: Unknown member '😀' in the body. "
                + "Known are op, path, value, query, auth, now, rules, data."
        ),
        Refusal(#"{"op":"read","op":"write","path":"/"}"#, "1:14: 'op' is given twice."),
        Refusal(#"{"path":"/"}"#, "1:1: 'op' is missing; it must be read, write, update or query."),
        Refusal(#"{"op":5,"path":"/"}"#, "1:7: 'op' must be a string."),
        Refusal(
            #"{"op":"fly","path":"/"}"#,
            "1:7: 'op' is 'fly'; it must be read, write, update or query."
        ),
        Refusal(#"{"op":"read"}"#, "1:1: 'path' is missing; it names a location, such as /a/b."),
        Refusal(#"{"op":"read","path":["a"]}"#, "1:21: 'path' must be a string."),
        Refusal(
            #"{"op":"read","path":"/a.b"}"#,
            "1:21: 'path' is not a path: a key must not contain '.'."
        ),
        Refusal(
            #"{"op":"write","path":"/a$","value":1}"#,
            "1:22: 'path' cannot be written: bad path \"/a$\": a key must not contain '$'."
        ),
        Refusal(#"{"op":"write","path":"/a"}"#, "1:1: 'value' is missing; null deletes."),
        Refusal(
            #"{"op":"read","path":"/","value":1}"#,
            "1:25: 'value' has no meaning here: a read has no value."
        ),
        Refusal(
            #"{"op":"write","path":"/","value":1,"query":{}}"#,
            "1:36: 'query' has no meaning here: a write has no query."
        ),
        Refusal(
            #"{"op":"write","path":"/","value":{"a":{"b#":1}}}"#,
            "1:40: 'value' cannot be stored: a key must not contain '#'."
        ),
        Refusal(
            #"{"op":"write","path":"/","value":{"a":{".sv":"tomorrow"}}}"#,
            "1:40: 'value' cannot be stored: unknown server value in .sv."
        ),
        Refusal(
            #"{"op":"update","path":"/","value":[1]}"#,
            "1:35: 'value' of an update must be an object of paths and values."
        ),
        Refusal(
            #"{"op":"update","path":"/","value":{"a":1,"b$":2}}"#,
            "1:42: 'value' of an update: bad path \"b$\": a key must not contain '$'."
        ),
        Refusal(
            #"{"op":"update","path":"/","value":{"a":1,"a/b":2}}"#,
            #"1:35: 'value' of an update: a merge must not write "/a" and "/a/b" at once."#
        ),
        Refusal(
            #"{"op":"update","path":"/","value":{"a":1,"":2}}"#,
            "1:42: 'value' of an update: a merge must not have an empty path."
        ),
        Refusal(
            #"{"op":"query","path":"/","query":{"orderbykey":true}}"#,
            "1:35: Unknown member 'orderbykey' in 'query'. Did you mean 'orderByKey'?"
        ),
        Refusal(
            #"{"op":"query","path":"/","query":{"limitToFirst":0}}"#,
            "1:34: 'query': limitToFirst takes a whole number from 1 to 2147483647."
        ),
        Refusal(#"{"op":"query","path":"/","query":[]}"#, "1:34: 'query' must be an object."),
        Refusal(
            #"{"op":"read","path":"/","auth":"ann"}"#,
            "1:32: 'auth' must be an object or null. Such as {\"uid\":\"ann\"}."
        ),
        Refusal(
            #"{"op":"read","path":"/","now":1.5}"#,
            "1:31: 'now' must be a whole number of milliseconds."
        ),
        Refusal(
            #"{"op":"read","path":"/","now":"1"}"#,
            "1:31: 'now' must be a whole number of milliseconds."
        ),
        Refusal(
            "{\"op\":\"read\",\"path\":\"/\",\n\"data\":{\"é\":{\"a/b\":1}}}",
            "2:14: 'data' cannot be stored: a key must not contain '/'."
        ),
        Refusal(
            #"{"op":"read","path":"/","data":{"a":{".sv":"timestamp"}}}"#,
            "1:32: 'data' must be data as it is stored, without server values. "
                + "{\".sv\":...} belongs into 'value'."
        ),
        Refusal(
            #"{"op":"read","path":"/","rules":true}"#,
            "1:33: 'rules' must be the text of a rules file, or the object that it holds."
        ),
    ]

    @Test("a body that makes no sense is refused with its place", arguments: refusals)
    func refusal(_ refusal: Refusal) throws {
        let error = try #require(throws: SimulationBodyError.self) {
            _ = try SimulationRequest(body: Array(refusal.body.utf8))
        }
        guard case .malformed(let fault) = error else {
            Issue.record("\(error)")
            return
        }
        #expect("\(fault)" + (fault.hint.map { " \($0)" } ?? "") == refusal.text)
    }

    /// Rules with a fault, in a body, and where: in the rules, and in the body.
    struct BadRules: Sendable {
        let body: String
        let place: String
    }

    @Test(
        "the faults of rules are placed in the rules and in the body",
        arguments: [
            BadRules(
                body: #"{"op":"read","path":"/","rules":{"rules":{".read":"x"}}}"#,
                place: "1:20 1:52"
            ),
            BadRules(
                body:
                    "{\"op\":\"read\",\"path\":\"/\",\n\"rules\":{\n\"rules\":{\".read\":\"x\"}}}",
                place: "2:19 3:19"
            ),
            BadRules(
                body: #"{"op":"read","path":"/","rules":"{\"rules\":\n {\".read\":\"x\"}}"}"#,
                place: "2:12 1:61"
            ),
            BadRules(
                body:
                    #"{"op":"read","path":"/","rules":"{\"rules\": {\".read\":\"'\u00e9\ud83d\ude00' + x\"}}"}"#,
                place: "1:28 1:82"
            ),
        ]
    )
    func rules(_ bad: BadRules) throws {
        let error = try #require(throws: SimulationBodyError.self) {
            _ = try SimulationRequest(body: Array(bad.body.utf8))
        }
        guard case .rules(let rules, let places) = error else {
            Issue.record("\(error)")
            return
        }
        let fault = try #require(rules.faults.last)
        let place = try #require(places.last)
        #expect("\(fault.line):\(fault.column) \(place.line):\(place.column)" == bad.place)
        #expect(
            String(decoding: error.json(), as: UTF8.self).contains(
                "\"body\":{\"line\":\(place.line),\"column\":\(place.column)}"
            )
        )
    }

    @Test("the parts of a form are named in what is said of its body")
    func form() {
        var form = SimulationForm()
        form.add("op", text: "read", from: "the operation")
        form.add("path", text: "/a\nb", from: "the path")
        form.add("auth", json: Array("{\n\"uid\":\n5,\"x\":{}}".utf8), from: "--auth")
        form.add("query", json: Array("{\"a\":1}".utf8), from: "--query")
        form.finish()
        let error = #expect(throws: SimulationBodyError.self) {
            _ = try SimulationRequest(body: form.body)
        }
        guard case .malformed(let fault) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(form.words(fault).hasPrefix("the path:1:1: 'path' is not a path"))
        let unknown = RulesFault(line: 10, column: 2, message: "m", hint: "h")
        #expect(form.words(unknown) == "--query:1:2: m\n    hint: h")
    }
}
