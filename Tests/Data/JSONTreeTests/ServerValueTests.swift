import JSONTree
import Testing

@Suite("Server values")
struct ServerValueTests {
    private let now = Timestamp(milliseconds: 1_700_000_000_000)

    private func resolve(_ draft: String, existing: String = "null") throws -> String {
        let draft = try Draft(json: Array(draft.utf8))
        return draft.resolved(existing: try Node(json: existing), now: now).text
    }

    @Test("the timestamp is the commit's time wherever it stands")
    func timestamp() throws {
        #expect(try resolve(#"{".sv":"timestamp"}"#) == "1700000000000")
        #expect(
            try resolve(#"{"a":{"b":{".sv":"timestamp"}},"c":[{".sv":"timestamp"}],"d":1}"#)
                == #"{"a":{"b":1700000000000},"c":{"0":1700000000000},"d":1}"#
        )
    }

    @Test(
        "an increment adds to a number and replaces anything else",
        arguments: [
            ("5", "3", "8"), ("-5", "3", "-2"), ("1.5", "3", "4.5"), ("1", "0.5", "1.5"),
            ("null", "3", "3"), ("\"5\"", "3", "3"), ("true", "3", "3"), (#"{"a":1}"#, "3", "3"),
            (#"{".value":5,".priority":1}"#, "3", "8"),
            ("9223372036854775807", "1", "9.223372036854776e+18"),
            ("9007199254740992", "1", "9007199254740993"),
            ("1.7976931348623157e308", "1e308", "1.7976931348623157e+308"),
        ]
    )
    func increment(existing: String, step: String, result: String) throws {
        #expect(try resolve(#"{".sv":{"increment":\#(step)}}"#, existing: existing) == result)
        let deep = try resolve(
            #"{"a":{"b":{".sv":{"increment":\#(step)}}}}"#,
            existing: #"{"a":{"b":\#(existing)}}"#
        )
        #expect(deep == #"{"a":{"b":\#(result)}}"#)
    }

    @Test("a priority may be a server value, and may stand beside one")
    func priorities() throws {
        #expect(
            try resolve(#"{"a":1,".priority":{".sv":"timestamp"}}"#)
                == #"{"a":1,".priority":1700000000000}"#
        )
        #expect(
            try resolve(#"{".value":{".sv":"timestamp"},".priority":2}"#)
                == #"{".value":1700000000000,".priority":2}"#
        )
        #expect(
            try resolve(
                #"{".value":{".sv":{"increment":1}},".priority":{".sv":{"increment":2}}}"#,
                existing: #"{".value":10,".priority":20}"#
            )
                == #"{".value":11,".priority":22}"#
        )
        #expect(
            try resolve(#"{"m":{"x":{".sv":"timestamp"},".priority":3}}"#)
                == #"{"m":{"x":1700000000000,".priority":3}}"#
        )
    }

    @Test("of equal members the last one counts, server values too")
    func duplicates() throws {
        #expect(try resolve(#"{"a":{".sv":"timestamp"},"a":1}"#) == #"{"a":1}"#)
        #expect(try resolve(#"{"a":1,"a":{".sv":"timestamp"}}"#) == #"{"a":1700000000000}"#)
        #expect(try resolve(#"{"b":{"x":{".sv":"timestamp"}},"a":2,"b":null}"#) == #"{"a":2}"#)
    }

    @Test("a draft tells where its server values stand and how deep it is")
    func places() throws {
        let draft = try Draft(
            json: Array(#"{"b":{"c":{".sv":"timestamp"}},"a":{".sv":{"increment":2}}}"#.utf8)
        )
        #expect(draft.node.isAbsent)
        #expect(draft.depth == 2)
        #expect(draft.serverValues.map(\.target.description) == ["/b/c", "/a"])
        #expect(draft.serverValues.map(\.value) == [.timestamp, .increment(Node(integer: 2))])
    }
}
