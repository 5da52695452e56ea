import Testing

@testable import WireProtocol

/// A client's message and what it is read as.
struct ReadingCase: Sendable, CustomTestStringConvertible {
    let json: String
    let words: String

    init(_ json: String, _ words: String) {
        self.json = json
        self.words = words
    }

    var testDescription: String { String(json.prefix(120)) }
}

private func request(_ number: Int, _ action: String, _ body: String) -> String {
    #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":\#(body)}}"#
}

/// What clients of the transcripts send.
let transcriptCases: [ReadingCase] = [
    ReadingCase(#"{"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.js.12-18-0":1}}}}"#, "1 stats"),
    ReadingCase(#"{"t":"d","d":{"r":2,"a":"q","b":{"p":"/room","h":""}}}"#, "2 listen /room h="),
    ReadingCase(
        #"{"t":"d","d":{"r":3,"a":"m","b":{"p":"/room","d":{"topic":"coffee","seen/ann":{".sv":"timestamp"}}}}}"#,
        #"3 merge /room [/room/topic="coffee" /room/seen/ann=null /:timestamp]"#
    ),
    ReadingCase(
        #"{"t":"d","d":{"r":4,"a":"q","b":{"p":"/log","q":{"l":3,"vf":"r","i":"n"},"t":1,"h":""}}}"#,
        #"4 listen /log {"i":"n","l":3,"vf":"r"} t=1 h="#
    ),
    ReadingCase(
        #"{"t":"d","d":{"r":5,"a":"n","b":{"p":"/log","q":{"l":3,"vf":"r","i":"n"},"t":1}}}"#,
        #"5 unlisten /log {"i":"n","l":3,"vf":"r"} t=1"#
    ),
    ReadingCase(#"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/ctr","d":1,"h":""}}}"#, "3 put /ctr 1 h="),
    ReadingCase(
        #"{"t":"d","d":{"r":4,"a":"p","b":{"p":"/ctr","d":2,"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}}}"#,
        "4 put /ctr 2 h=YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="
    ),
    ReadingCase(#"{"t":"d","d":{"r":6,"a":"p","b":{"p":"/admin","d":1}}}"#, "6 put /admin 1"),
    ReadingCase(#"{"t":"d","d":{"r":8,"a":"auth","b":{"cred":"eyJ..."}}}"#, "8 auth eyJ..."),
    ReadingCase(
        #"{"t":"d","d":{"r":10,"a":"o","b":{"p":"/status/ann","d":{"on":false,"at":{".sv":"timestamp"}}}}}"#,
        #"10 onDisconnectPut /status/ann {"on":false} /at:timestamp"#
    ),
    ReadingCase(#"{"t":"c","d":{"t":"p","d":{}}}"#, "ping"),
    ReadingCase(
        #"{"t":"d","d":{"r":12,"a":"p","b":{"p":"/room/.priority","d":3}}}"#,
        "12 put /room/.priority 3"
    ),
]

@Test("the clients' half of the transcripts is understood", arguments: transcriptCases)
func transcript(_ row: ReadingCase) {
    #expect(words(row.json) == row.words)
}

let readingCases: [ReadingCase] = [
    // Control.
    ReadingCase(#"{"t":"c","d":{"t":"a","d":{}}}"#, "upgradeAck"),
    ReadingCase(#"{"t":"c","d":{"t":"n","d":{}}}"#, "endOfTransmission"),
    ReadingCase(#"{"t":"c","d":{"t":"zz","d":[1]}}"#, "unknownControl"),
    ReadingCase(#"{"d":{"d":{},"t":"p"},"t":"c"}"#, "ping"),
    ReadingCase(#"{"t":"c","d":{"t":"p"}}"#, "ping"),
    // Any order, unknown members, white space.
    ReadingCase(#"{"d":{"b":{"d":1,"p":"/a"},"a":"p","r":7},"t":"d"}"#, "7 put /a 1"),
    ReadingCase(#"{"t":"d","d":{"b":{"d":1,"p":"/a"},"r":7,"a":"p"}}"#, "7 put /a 1"),
    ReadingCase(
        #"{"x":[{}],"t":"d","d":{"y":{"z":null},"r":7,"a":"p","b":{"w":{},"p":"a","d":1}}}"#,
        "7 put /a 1"
    ),
    ReadingCase(
        " {\n\"t\" : \"d\" ,\t\"d\":{ \"r\" : 7, \"a\":\"g\" ,\"b\" : {\"p\":\"\"} } } \r\n",
        "7 get /"
    ),
    ReadingCase(#"{"t":"d","d":{"r":1,"r":2,"a":"g","b":{"p":"/a","p":"/b"}}}"#, "2 get /b"),
    ReadingCase(#"{"t":"d","d":{"r":0,"a":"unauth","b":{}}}"#, "0 unauth"),
    ReadingCase(#"{"t":"d","d":{"r":0,"a":"unauth"}}"#, "0 unauth"),
    ReadingCase(#"{"t":"d","d":{"r":-3,"a":"s","b":null}}"#, "-3 stats"),
    ReadingCase(#"{"t":"d","d":{"r":9007199254740993,"a":"s","b":{}}}"#, "9007199254740993 stats"),
    // Names with an alias.
    ReadingCase(request(1, "l", #"{"p":"/a","h":""}"#), "1 listen /a h="),
    ReadingCase(request(1, "u", #"{"p":"/a"}"#), "1 unlisten /a"),
    ReadingCase(request(1, "appcheck", #"{"token":"x"}"#), "1 appCheck"),
    ReadingCase(request(1, "unappeck", "{}"), "1 unAppCheck"),
    ReadingCase(request(1, "unappcheck", "{}"), "1 unAppCheck"),
    // Credentials.
    ReadingCase(request(1, "gauth", #"{"cred":"owner"}"#), "1 gauth owner"),
    ReadingCase(request(1, "auth", #"{"cred":"x","noauth":true}"#), "1 auth x as nobody"),
    ReadingCase(request(1, "auth", #"{"cred":"x","noauth":false}"#), "1 auth x"),
    ReadingCase(request(1, "auth", #"{"authvar":null,"cred":"x"}"#), "1 auth x as nobody"),
    ReadingCase(
        request(1, "gauth", #"{"cred":"x","authvar":{"uid":"ann"}}"#),
        #"1 gauth x as {"uid":"ann"}"#
    ),
    ReadingCase(request(1, "gauth", #"{"cred":"x","authvar":{}}"#), "1 gauth x as null"),
    ReadingCase(
        request(1, "gauth", #"{"cred":"x","authvar":{"uid":"a"},"noauth":true}"#),
        "1 gauth x as nobody"
    ),
    // Paths.
    ReadingCase(request(1, "g", #"{"p":"/"}"#), "1 get /"),
    ReadingCase(request(1, "g", #"{"p":"a/b/"}"#), "1 get /a/b"),
    ReadingCase(request(1, "g", #"{"p":"//a///b"}"#), "1 get /a/b"),
    ReadingCase(request(1, "g", #"{"p":"/a b/%2F/é"}"#), "1 get /a b/%2F/é"),
    ReadingCase(request(1, "g", #"{"p":"/\u00e9"}"#), "1 get /é"),
    ReadingCase(
        request(1, "oc", #"{"p":"/a/.priority","d":null}"#),
        "1 onDisconnectCancel /a/.priority"
    ),
    ReadingCase(request(1, "p", #"{"p":"/.priority","d":"x"}"#), #"1 put /.priority "x""#),
    // Values.
    ReadingCase(request(1, "p", #"{"p":"/a","d":null}"#), "1 put /a null"),
    ReadingCase(request(1, "p", #"{"p":"/a","d":{}}"#), "1 put /a null"),
    ReadingCase(request(1, "p", #"{"p":"/a","d":["x",null,"z"]}"#), #"1 put /a {"0":"x","2":"z"}"#),
    ReadingCase(
        request(1, "p", #"{"p":"/a","d":{".value":5,".priority":"p"}}"#),
        #"1 put /a {".value":5,".priority":"p"}"#
    ),
    ReadingCase(
        request(1, "p", #"{"p":"/a","d":{"b":1,".priority":2}}"#),
        #"1 put /a {"b":1,".priority":2}"#
    ),
    ReadingCase(
        request(1, "p", #"{"p":"/a","d":{".sv":{"increment":-2.5}}}"#),
        "1 put /a null /:increment(-2.5)"
    ),
    ReadingCase(
        request(1, "p", #"{"p":"/a/.priority","d":{".sv":"timestamp"}}"#),
        "1 put /a/.priority null /:timestamp"
    ),
    ReadingCase(request(1, "p", #"{"p":"/a","d":1,"h":null}"#), "1 put /a 1"),
    // Merges.
    ReadingCase(request(1, "m", #"{"p":"/","d":{}}"#), "1 merge / []"),
    ReadingCase(
        request(1, "m", #"{"p":"/a","d":{"b/c":1,"/d/":null},"h":"x"}"#),
        "1 merge /a [/a/b/c=1 /a/d=null] h=x"
    ),
    ReadingCase(
        request(1, "m", #"{"p":"/a","d":{".priority":1,"b":2}}"#),
        "1 merge /a [/a/.priority=1 /a/b=2]"
    ),
    ReadingCase(
        request(1, "m", #"{"p":"/a","d":{"b/.priority":1,"b/c":2,"b-":3}}"#),
        "1 merge /a [/a/b/.priority=1 /a/b/c=2 /a/b-=3]"
    ),
    ReadingCase(request(1, "om", #"{"p":"/a","d":{"b":1}}"#), "1 onDisconnectMerge /a [/a/b=1]"),
    ReadingCase(request(1, "m", #"{"d":{"b":1},"p":"/a"}"#), "1 merge /a [/a/b=1]"),
    // Listens.
    ReadingCase(request(1, "q", #"{"p":"/a"}"#), "1 listen /a"),
    ReadingCase(request(1, "q", #"{"p":"/a","h":null,"t":null,"q":null}"#), "1 listen /a"),
    ReadingCase(
        request(1, "q", #"{"p":"/a","h":"x","ch":{"hs":["",""],"ps":["b"]}}"#),
        "1 listen /a h=x ch=/b:"
    ),
    ReadingCase(
        request(
            1,
            "q",
            #"{"ch":{"ps":["b","c/.priority","/"],"hs":["x","y","z",""],"v":2},"p":"/a","h":"x"}"#
        ),
        "1 listen /a h=x ch=/b:x,/c/.priority:y,/:z"
    ),
    ReadingCase(request(1, "q", #"{"p":"/a","h":"x","ch":null}"#), "1 listen /a h=x"),
    ReadingCase(
        request(1, "q", #"{"p":"/a","h":"x","ch":{"ps":[],"hs":[""]}}"#),
        "1 listen /a h=x ch="
    ),
    // Without a hash of the whole the parts say nothing; elsewhere they are passed over.
    ReadingCase(request(1, "q", #"{"p":"/a","ch":{"ps":["b"],"hs":["y",""]}}"#), "1 listen /a"),
    ReadingCase(request(1, "g", #"{"p":"/a","ch":5}"#), "1 get /a"),
    ReadingCase(request(1, "g", #"{"p":"/a","q":{}}"#), "1 get /a"),
    // Others.
    ReadingCase(request(1, "echo", #"{"d":{"x":[1, 2]}}"#), #"1 echo {"x":[1, 2]}"#),
    ReadingCase(request(1, "echo", "{}"), "1 echo null"),
    ReadingCase(request(1, "qx", "{}"), "1 unknown qx"),
    ReadingCase(request(1, "", "5"), "1 unknown "),
    ReadingCase(
        request(1, String(repeating: "é", count: 40), "[]"),
        "1 unknown \(String(repeating: "é", count: 32))..."
    ),
]

@Test("a well-formed message is understood", arguments: readingCases)
func reading(_ row: ReadingCase) {
    #expect(words(row.json) == row.words)
}

@Test("a path and a value of 32 keys together are taken, 33 are not")
func depthLimit() {
    func put(_ keyCount: Int, _ depth: Int) -> String {
        let path = String(repeating: "/k", count: keyCount)
        let value =
            String(repeating: #"{"k":"#, count: depth) + "1" + String(repeating: "}", count: depth)
        return words(request(1, "p", #"{"p":"\#(path)","d":\#(value)}"#))
    }
    for keyCount in [0, 1, 20, 31, 32] {
        #expect(put(keyCount, 32 - keyCount).hasPrefix("1 put"))
        #expect(put(keyCount, 33 - keyCount).hasPrefix("1 malformed: "))
    }
    let deep = String(repeating: "/k", count: 31)
    #expect(words(request(1, "m", #"{"p":"\#(deep)","d":{"a":1}}"#)).hasPrefix("1 merge"))
    #expect(
        words(request(1, "m", #"{"p":"\#(deep)","d":{"a":{"b":1}}}"#))
            == "1 malformed: 33 levels deep, the limit is 32"
    )
    #expect(
        words(request(1, "m", #"{"p":"\#(deep)","d":{"a/b":1}}"#))
            == "1 malformed: 33 levels deep, the limit is 32"
    )
    #expect(
        words(request(1, "p", #"{"p":"\#(deep)/k","d":{"b":{".sv":"timestamp"}}}"#))
            == "1 malformed: 33 levels deep, the limit is 32"
    )
}
