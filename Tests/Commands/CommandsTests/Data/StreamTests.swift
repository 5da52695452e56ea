import Testing

@testable import Commands

@Suite("an event stream")
struct ServerEventTests {
    private static func events(_ text: String, step: Int, limit: Int = 1000) throws -> [String] {
        var reader = ServerEventReader(byteLimit: limit)
        var found: [String] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: step) {
            try bytes[start..<min(start + step, bytes.count)].withUnsafeBytes { part in
                try reader.read(part) { event in
                    found.append("\(event.name)|" + String(decoding: event.data, as: UTF8.self))
                }
            }
        }
        return found
    }

    @Test(
        "is read however it arrives, and however its lines end",
        arguments: [
            ("event: put\ndata: {\"a\":1}\n\n", ["put|{\"a\":1}"]),
            ("event: put\r\ndata: 1\r\n\r\nevent: patch\r\ndata: 2\r\n\r\n", ["put|1", "patch|2"]),
            ("event:put\rdata:1\r\revent:patch\rdata:2\r\r", ["put|1", "patch|2"]),
            (": comment\nid: 7\nretry: 1\nevent: put\ndata: a\ndata: b\n\n", ["put|a\nb"]),
            ("event: put\n\ndata: alone\n\n", ["|alone"]),
            ("event: put\ndata\n\n", ["put|"]),
            ("event: put\ndata: unfinished\n", []),
        ]
    )
    func reading(text: String, expected: [String]) throws {
        for step in [1, 2, 3, 7, 1000] {
            #expect(try Self.events(text, step: step) == expected, "by \(step)")
        }
    }

    @Test("with an event beyond the limit is given up")
    func limit() throws {
        let text = "data: " + String(repeating: "x", count: 50) + "\n\n"
        #expect(try Self.events(text, step: 8, limit: 60).count == 1)
        #expect(throws: ServerEventReader.TooLong.self) {
            try Self.events(text, step: 8, limit: 40)
        }
        let many = String(repeating: "data: xxxxxxxx\n", count: 10)
        #expect(throws: ServerEventReader.TooLong.self) {
            try Self.events(many, step: 8, limit: 40)
        }
    }

    @Test(
        "becomes lines of JSON",
        arguments: [
            (
                "put", #"{"path":"/a","data":{"b":1}}"#,
                #"{"event":"put","path":"/a","data":{"b":1}}"#
            ),
            (
                "patch", #"{"path":"/","data":{"b":null}}"#,
                #"{"event":"patch","path":"/","data":{"b":null}}"#
            ),
            ("keep-alive", "null", nil), ("cancel", "null", #"{"event":"cancel","data":null}"#),
            (
                "auth_revoked", "credential is no longer valid",
                #"{"event":"auth_revoked","data":"credential is no longer valid"}"#
            ),
        ] as [(String, String, String?)]
    )
    func lines(name: String, data: String, line: String?) {
        let event = ServerEvent(name: name, data: Array(data.utf8))
        let found = WatchCommand.line(event).map { String(decoding: $0, as: UTF8.self) }
        #expect(found == line.map { $0 + "\n" })
    }
}

@Suite("the children of an answer")
struct ChildTextsTests {
    /// The members of `text` that arrives `step` bytes at a time.
    private static func members(
        _ text: String,
        step: Int,
        isContinued: Bool = false,
    ) -> (text: String, children: ChildTexts) {
        var children = ChildTexts(isContinued: isContinued)
        var out: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: step) {
            bytes[start..<min(start + step, bytes.count)].withUnsafeBytes {
                children.read($0, into: &out)
            }
        }
        return (String(decoding: out, as: UTF8.self), children)
    }

    @Test(
        "are handed on as they stand there",
        arguments: [
            (#"{"a":1,"b":{"c":[1,2]}}"#, #""a":1,"b":{"c":[1,2]}"#, "b", 2),
            (#"{"a":"}],\"{","b\"]":true}"#, #""a":"}],\"{","b\"]":true"#, #"b"]"#, 2),
            (#"{"a":1,".priority":"p"}"#, #""a":1"#, "a", 1),
            (#"{".priority":{"x":1},"z":0}"#, #""z":0"#, "z", 1),
            (
                #"["x",null,{"y":null},"nulls",7]"#, #""0":"x","2":{"y":null},"3":"nulls","4":7"#,
                "4", 4
            ),
            ("[null,null]", "", nil, 0), ("[1,null]", #""0":1"#, "0", 1), ("{}", "", nil, 0),
            ("null", "", nil, 0), (" { \"a\" : 1 , \"b\" : [ ] } \n", #""a":1 ,"b":[ ] "#, "b", 2),
        ] as [(String, String, String?, Int)]
    )
    func members(text: String, expected: String, lastKey: String?, count: Int) {
        for step in [1, 2, 3, 5, 1000] {
            let (members, children) = Self.members(text, step: step)
            #expect(members == expected, "by \(step)")
            #expect(children.lastKey == lastKey)
            #expect(children.childCount == count)
            #expect(children.isWhole)
        }
    }

    @Test("follow those that went before with a comma")
    func continued() {
        #expect(Self.members(#"{"a":1}"#, step: 3, isContinued: true).text == #","a":1"#)
        #expect(Self.members("{}", step: 1, isContinued: true).text == "")
    }

    @Test(
        "are not whole while the answer is not",
        arguments: ["", "{", #"{"a":1"#, #"{"a":[1]"#, "[1,"]
    )
    func cut(text: String) {
        #expect(!Self.members(text, step: 1).children.isWhole)
    }
}
