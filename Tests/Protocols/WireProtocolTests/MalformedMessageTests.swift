import Testing

@testable import WireProtocol

/// A request body that cannot be carried out, and the answer to its sender.
struct MalformedCase: Sendable, CustomTestStringConvertible {
    let action: String
    let body: String
    let fault: String

    init(_ action: String, _ body: String, _ fault: String) {
        self.action = action
        self.body = body
        self.fault = fault
    }

    var testDescription: String { "\(action) \(body.prefix(100))" }
}

private let long = String(repeating: "k", count: 769)
private let manyPaths = (0..<10_002).map { "\"\($0)\"" }.joined(separator: ",")

let malformedCases: [MalformedCase] = [
    // Bodies.
    MalformedCase("p", "5", "the body must be an object"),
    MalformedCase("q", "[]", "the body must be an object"),
    MalformedCase("q", "null", "the body must be an object"),
    MalformedCase("p", "{}", "`p` is missing"),
    MalformedCase("p", #"{"d":1}"#, "`p` is missing"),
    MalformedCase("p", #"{"p":"/a"}"#, "`d` is missing"),
    MalformedCase("p", #"{"p":5,"d":1}"#, "`p` must be a string"),
    MalformedCase("p", #"{"p":null,"d":1}"#, "`p` must be a string"),
    MalformedCase("p", #"{"p":["a"],"d":1}"#, "`p` must be a string"),
    MalformedCase("p", #"{"p":"/a","d":1,"h":5}"#, "`h` must be a string"),
    MalformedCase("o", #"{"p":"/a"}"#, "`d` is missing"),
    MalformedCase("oc", "{}", "`p` is missing"),
    MalformedCase("g", #"{"q":{}}"#, "`p` is missing"),
    MalformedCase("n", #"{"t":1}"#, "`p` is missing"),
    // Paths.
    MalformedCase("g", #"{"p":"/a.b"}"#, #"bad path "/a.b": a key must not contain '.'"#),
    MalformedCase("g", #"{"p":"/a#b"}"#, ##"bad path "/a#b": a key must not contain '#'"##),
    MalformedCase("g", #"{"p":"/a$b"}"#, #"bad path "/a$b": a key must not contain '$'"#),
    MalformedCase("g", #"{"p":"/a[b"}"#, #"bad path "/a[b": a key must not contain '['"#),
    MalformedCase("g", #"{"p":"/a]b"}"#, #"bad path "/a]b": a key must not contain ']'"#),
    MalformedCase(
        "g",
        #"{"p":"/a\u0007"}"#,
        "bad path \"/a\u{7}\": a key must not contain byte 0x7"
    ),
    MalformedCase(
        "g",
        #"{"p":"/a\u007f"}"#,
        "bad path \"/a\u{7F}\": a key must not contain byte 0x7F"
    ),
    MalformedCase(
        "g",
        #"{"p":"/\#(long)"}"#,
        "bad path \"/\(long.prefix(63))...\": a key has 769 bytes, the limit is 768"
    ),
    MalformedCase(
        "g",
        #"{"p":"\#(String(repeating: "/k", count: 33))"}"#,
        "bad path \"\(String(repeating: "/k", count: 32))...\": 33 levels deep, the limit is 32"
    ),
    MalformedCase("g", #"{"p":"/a/.priority"}"#, "`p` must not end in .priority here"),
    MalformedCase("m", #"{"p":"/a/.priority","d":{}}"#, "`p` must not end in .priority here"),
    MalformedCase("q", #"{"p":"/a/.priority","h":""}"#, "`p` must not end in .priority here"),
    MalformedCase(
        "p",
        #"{"p":"/.priority/a","d":1}"#,
        #"bad path "/.priority/a": a key must not contain '.'"#
    ),
    MalformedCase(
        "p",
        #"{"p":"/a/.value","d":1}"#,
        #"bad path "/a/.value": a key must not contain '.'"#
    ),
    MalformedCase(
        "g",
        #"{"p":"/.info/connected"}"#,
        "/.info is kept by the client and cannot be read or written here"
    ),
    MalformedCase(
        "p",
        #"{"p":".info/x","d":1}"#,
        "/.info is kept by the client and cannot be read or written here"
    ),
    MalformedCase(
        "q",
        #"{"p":"//.info","h":""}"#,
        "/.info is kept by the client and cannot be read or written here"
    ),
    MalformedCase(
        "m",
        #"{"p":"/","d":{".info/x":1}}"#,
        "/.info is kept by the client and cannot be read or written here"
    ),
    // Values.
    MalformedCase("p", #"{"p":"/a","d":{"b.c":1}}"#, "a key must not contain '.' at byte 48"),
    MalformedCase("p", #"{"p":"/a","d":{"":1}}"#, "a key is empty at byte 48"),
    MalformedCase("p", #"{"p":"/a","d":{"b/c":1}}"#, "a key must not contain '/' at byte 48"),
    MalformedCase("p", #"{"p":"/a","d":{".foo":1}}"#, "a key must not contain '.' at byte 48"),
    MalformedCase(
        "p",
        #"{"p":"/a","d":{"\#(long)":1}}"#,
        "a key has 769 bytes, the limit is 768 at byte 48"
    ),
    MalformedCase("p", #"{"p":"/a","d":{".value":1,"b":2}}"#, ".value beside children"),
    MalformedCase(
        "p",
        #"{"p":"/a","d":{".value":{"b":2}}}"#,
        ".value must be a string, a number, a boolean or null"
    ),
    MalformedCase(
        "p",
        #"{"p":"/a","d":{".value":1,".priority":true}}"#,
        ".priority must be a string, a number or null"
    ),
    MalformedCase(
        "p",
        #"{"p":"/a","d":{"b":1,".priority":{"c":1}}}"#,
        ".priority must be a string, a number or null"
    ),
    MalformedCase("p", #"{"p":"/a","d":{".sv":"now"}}"#, "unknown server value in .sv"),
    MalformedCase("p", #"{"p":"/a","d":{".sv":{"increment":"1"}}}"#, "unknown server value in .sv"),
    MalformedCase("p", #"{"p":"/a","d":{".sv":{"decrement":1}}}"#, "unknown server value in .sv"),
    MalformedCase("p", #"{"p":"/a","d":{".sv":"timestamp","b":1}}"#, "unknown server value in .sv"),
    MalformedCase(
        "p",
        #"{"p":"/a","d":\#(String(repeating: #"{"k":"#, count: 40))1\#(String(repeating: "}", count: 40))}"#,
        "nested too deep, the limit is 32 levels"
    ),
    // Priorities.
    MalformedCase(
        "p",
        #"{"p":"/a/.priority","d":true}"#,
        ".priority must be a string, a number or null"
    ),
    MalformedCase(
        "p",
        #"{"p":"/a/.priority","d":{"b":1}}"#,
        ".priority must be a string, a number or null"
    ),
    MalformedCase(
        "p",
        #"{"p":"/a/.priority","d":{".value":1,".priority":1}}"#,
        ".priority must be a string, a number or null"
    ),
    MalformedCase(
        "p",
        #"{"p":"/a/.priority","d":{"b":{".sv":"timestamp"}}}"#,
        ".priority must be a string, a number or null"
    ),
    MalformedCase(
        "o",
        #"{"p":"/a/.priority","d":[1]}"#,
        ".priority must be a string, a number or null"
    ),
    MalformedCase(
        "m",
        #"{"p":"/a","d":{"b/.priority":false}}"#,
        ".priority must be a string, a number or null"
    ),
    // Merges.
    MalformedCase("m", #"{"p":"/a"}"#, "`d` is missing"),
    MalformedCase(
        "m",
        #"{"p":"/a","d":null}"#,
        "`d` of a merge must be an object of paths and values"
    ),
    MalformedCase(
        "m",
        #"{"p":"/a","d":[1]}"#,
        "`d` of a merge must be an object of paths and values"
    ),
    MalformedCase(
        "om",
        #"{"p":"/a","d":"x"}"#,
        "`d` of a merge must be an object of paths and values"
    ),
    MalformedCase("m", #"{"p":"/a","d":{"":1}}"#, "a merge must not have an empty path"),
    MalformedCase("m", #"{"p":"/a","d":{"/":1}}"#, "a merge must not have an empty path"),
    MalformedCase(
        "m",
        #"{"p":"/a","d":{"b.c":1}}"#,
        #"bad path "b.c": a key must not contain '.'"#
    ),
    MalformedCase(
        "m",
        #"{"p":"/a","d":{"b":1,"b/c":2}}"#,
        #"a merge must not write "/a/b" and "/a/b/c" at once"#
    ),
    MalformedCase(
        "m",
        #"{"p":"/a","d":{"b/c/d":1,"x":1,"b":2}}"#,
        #"a merge must not write "/a/b" and "/a/b/c/d" at once"#
    ),
    MalformedCase(
        "m",
        #"{"p":"/a","d":{"b":1,"/b":2}}"#,
        #"a merge must not write "/a/b" and "/a/b" at once"#
    ),
    MalformedCase(
        "m",
        #"{"p":"/a","d":{"b":1,"b":2}}"#,
        #"a merge must not write "/a/b" and "/a/b" at once"#
    ),
    MalformedCase(
        "m",
        #"{"p":"/a","d":{"b/.priority":1,"b":2}}"#,
        #"a merge must not write "/a/b" and "/a/b/.priority" at once"#
    ),
    // Queries and tags.
    MalformedCase("q", #"{"p":"/a","t":0}"#, "`t` must be a positive whole number"),
    MalformedCase("q", #"{"p":"/a","t":-1}"#, "`t` must be a positive whole number"),
    MalformedCase("q", #"{"p":"/a","t":1.5}"#, "`t` must be a positive whole number"),
    MalformedCase("q", #"{"p":"/a","t":"1"}"#, "`t` must be a positive whole number"),
    MalformedCase("q", #"{"p":"/a","q":5}"#, "`q` must be an object"),
    MalformedCase("q", #"{"p":"/a","q":[]}"#, "`q` must be an object"),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"l":0}}"#,
        "`l` of a query must be a positive whole number"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"l":-2}}"#,
        "`l` of a query must be a positive whole number"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"l":2.5}}"#,
        "`l` of a query must be a positive whole number"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"l":"2"}}"#,
        "`l` of a query must be a positive whole number"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"l":null}}"#,
        "`l` of a query must be a positive whole number"
    ),
    MalformedCase("q", #"{"p":"/a","q":{"l":2,"vf":"x"}}"#, #"`vf` of a query must be "l" or "r""#),
    MalformedCase("q", #"{"p":"/a","q":{"l":2,"vf":1}}"#, #"`vf` of a query must be "l" or "r""#),
    MalformedCase("q", #"{"p":"/a","q":{"i":5}}"#, "`i` of a query must be a string"),
    MalformedCase("q", #"{"p":"/a","q":{"i":""}}"#, #"bad index "": the path is empty"#),
    MalformedCase("q", #"{"p":"/a","q":{"i":"/"}}"#, #"bad index "/": the path is empty"#),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"i":".foo"}}"#,
        #"bad index ".foo": a key must not contain '.'"#
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"i":".key","sp":5}}"#,
        "`sp` must be a string when a query is ordered by key"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"ep":null,"i":".key"}}"#,
        "`ep` must be a string when a query is ordered by key"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"sp":{"x":1}}}"#,
        "`sp` of a query must not be an object or a list"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"sp":[1]}}"#,
        "`sp` of a query must not be an object or a list"
    ),
    MalformedCase("q", #"{"p":"/a","q":{"sp":1,"sn":5}}"#, "`sn` must be a string"),
    MalformedCase("q", #"{"p":"/a","q":{"sp":1,"sin":"no"}}"#, "`sin` must be a boolean"),
    MalformedCase("q", #"{"p":"/a","q":{"ep":1,"ein":0}}"#, "`ein` must be a boolean"),
    MalformedCase("q", #"{"p":"/a","q":{"l":1,"l":2}}"#, "`l` is given twice in a query"),
    MalformedCase(
        "q",
        #"{"p":"/a","q":{"sp":"\#(String(repeating: "x", count: 70_000))"}}"#,
        "a query must not be longer than 65536 bytes"
    ),
    // Compound hashes.
    MalformedCase("q", #"{"p":"/a","h":"x","ch":5}"#, "`ch` must be an object"),
    MalformedCase("q", #"{"p":"/a","h":"x","ch":{"hs":[""]}}"#, "`ps` of `ch` is missing"),
    MalformedCase("q", #"{"p":"/a","h":"x","ch":{"ps":[]}}"#, "`hs` of `ch` is missing"),
    MalformedCase(
        "q",
        #"{"p":"/a","h":"x","ch":{"ps":"b","hs":["",""]}}"#,
        "`ps` of `ch` must be an array of strings"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","h":"x","ch":{"ps":[],"hs":[null]}}"#,
        "`hs` of `ch` must be an array of strings"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","h":"x","ch":{"ps":["b"],"hs":[""]}}"#,
        "`ch` has 1 paths and 1 hashes, one hash more is due"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","h":"x","ch":{"ps":[],"hs":[]}}"#,
        "`ch` has 0 paths and 0 hashes, one hash more is due"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","h":"x","ch":{"ps":["b"],"hs":["y","z"]}}"#,
        "the last of `hs` must be empty"
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","h":"x","ch":{"ps":["b.c"],"hs":["y",""]}}"#,
        #"bad path "b.c": a key must not contain '.'"#
    ),
    MalformedCase(
        "q",
        #"{"p":"/a","h":"x","ch":{"ps":[\#(manyPaths)],"hs":[""]}}"#,
        "`ps` of `ch` is too long, the limit is 10000 paths"
    ),
    // Credentials.
    MalformedCase("auth", "{}", "`cred` is missing"),
    MalformedCase("auth", #"{"cred":5}"#, "`cred` must be a string"),
    MalformedCase("gauth", #"{"cred":null}"#, "`cred` must be a string"),
    MalformedCase("auth", #"{"cred":"x","noauth":1}"#, "`noauth` must be a boolean"),
    MalformedCase("auth", #"{"cred":"x","authvar":"ann"}"#, "`authvar` must be an object or null"),
]

@Test("a body that cannot be carried out is answered with what is wrong", arguments: malformedCases)
func malformed(_ row: MalformedCase) {
    let forms = [
        #"{"t":"d","d":{"r":77,"a":"\#(row.action)","b":\#(row.body)}}"#,
        // The number may come behind what is wrong, and so may the action.
        #"{"t":"d","d":{"a":"\#(row.action)","b":\#(row.body),"r":77}}"#,
        #"{"d":{"b":\#(row.body),"a":"\#(row.action)","r":77},"t":"d"}"#,
    ]
    for form in forms {
        let result = words(form)
        #expect(result.hasPrefix("77 malformed: "))
        #expect(result.contains(row.fault.replacing(/\ at byte \d+$/, with: "")))
    }
    #expect(words(forms[0]).hasPrefix("77 malformed: \(row.fault)"))
}

@Test("the table of malformed bodies has more than 60 rows")
func tableSize() { #expect(malformedCases.count > 60) }

/// Texts without a request to answer.
let closingCases: [ReadingCase] = [
    ReadingCase("", "!not JSON: the text ends too early at byte 0"),
    ReadingCase("hello", "!not a message: an object was expected"),
    ReadingCase("[]", "!not a message: an object was expected"),
    ReadingCase("null", "!not a message: an object was expected"),
    ReadingCase("{", "!not JSON: the text ends too early at byte 1"),
    ReadingCase("{}", "!not a message: `t` is missing"),
    ReadingCase(#"{"t":"d"}"#, "!not a message: `d` is missing"),
    ReadingCase(#"{"d":{}}"#, "!not a message: `t` is missing"),
    ReadingCase(#"{"t":1,"d":{}}"#, "!not a message: `t` is of the wrong type"),
    ReadingCase(#"{"t":"x","d":{}}"#, "!not a message: `t` is neither \"c\" nor \"d\""),
    ReadingCase(#"{"t":"c","d":5}"#, "!not a message: an object was expected"),
    ReadingCase(#"{"t":"c","d":{}}"#, "!not a message: `t` is missing"),
    ReadingCase(#"{"t":"c","d":{"t":7}}"#, "!not a message: `t` is of the wrong type"),
    ReadingCase(#"{"t":"d","d":[]}"#, "!not a message: an object was expected"),
    ReadingCase(#"{"t":"d","d":{}}"#, "!not a message: `r` is missing"),
    ReadingCase(#"{"t":"d","d":{"a":"s","b":{}}}"#, "!not a message: `r` is missing"),
    ReadingCase(#"{"t":"d","d":{"r":"1","a":"s"}}"#, "!not a message: `r` is of the wrong type"),
    ReadingCase(#"{"t":"d","d":{"r":1.5,"a":"s"}}"#, "!not a message: `r` is of the wrong type"),
    ReadingCase(#"{"t":"d","d":{"r":null,"a":"s"}}"#, "!not a message: `r` is of the wrong type"),
    ReadingCase(
        #"{"t":"d","d":{"r":1,"a":"s","b":{}}"#,
        "!not JSON: the text ends too early at byte 35"
    ),
    ReadingCase(
        #"{"t":"d","d":{"r":1,"a":"s","b":{}}}}"#,
        "!not JSON: text after the value at byte 36"
    ),
    ReadingCase(#"{"t":"d","d":{"r":1,"a":"s","b":{},}}"#, "!not JSON: unexpected '}' at byte 35"),
    ReadingCase(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":tru}}}"#, "!not JSON"),
    ReadingCase(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":01}}}"#, "!not JSON"),
    ReadingCase(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":"\x"}}}"#, "!not JSON"),
    ReadingCase(
        "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"p\",\"b\":{\"p\":\"/a\u{1}\",\"d\":1}}}",
        "!not JSON"
    ),
    ReadingCase(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":5 "d":1}}}"#, "!not JSON"),
    ReadingCase(
        #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1e999}}}"#,
        "!not JSON: a number is out of range at byte 46"
    ),
    ReadingCase("{t:\"d\"}", "!not JSON: unexpected 't' at byte 1"),
]

@Test("a text without a place for a reply closes the connection", arguments: closingCases)
func closing(_ row: ReadingCase) {
    #expect(words(row.json).hasPrefix(row.words))
}

@Test("a request without an action, or with one that is no text, is answered")
func badAction() {
    #expect(words(#"{"t":"d","d":{"r":4,"b":{}}}"#) == "4 malformed: the action is missing")
    #expect(words(#"{"t":"d","d":{"r":4}}"#) == "4 malformed: the action is missing")
    #expect(
        words(#"{"t":"d","d":{"a":5,"r":4,"b":{}}}"#) == "4 malformed: the action must be a string"
    )
}

@Test("a text nested 100000 deep closes the connection and nothing else")
func bottomless() {
    for opening in ["[", #"{"a":"#] {
        let nested = String(repeating: opening, count: 100_000)
        #expect(words(nested).hasPrefix("!not"))
        #expect(
            words(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":"# + nested).hasPrefix(
                "!not JSON"
            )
        )
        #expect(words(#"{"x":"# + nested).hasPrefix("!not JSON"))
    }
}

@Test("what ends a connection has a close code")
func messageCloseCodes() throws {
    #expect(throws: MessageError.missing(member: "t")) { try ClientMessage.parse(Array("{}".utf8)) }
    #expect(MessageError.missing(member: "t").closeCode == 1003)
    do throws(MessageError) {
        _ = try ClientMessage.parse(Array("{".utf8))
        Issue.record("an open brace is no JSON")
    } catch {
        #expect(error.closeCode == 1007)
    }
}
