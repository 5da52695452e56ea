import JSONTree
import Testing

@testable import DatabaseServer

@Suite("Texts of answers, piece by piece")
struct AnswerTextTests {
    private func joined(_ text: AnswerText, size: Int) -> String {
        var text = text
        var out: [UInt8] = []
        while let piece = text.piece(atLeast: size) { out += piece }
        return String(decoding: out, as: UTF8.self)
    }

    private func target(_ path: String, isPriority: Bool = false) throws -> WriteTarget {
        WriteTarget(path: try Path(path), isPriority: isPriority)
    }

    private func node(_ json: String) throws -> Node { try Draft(json: Array(json.utf8)).node }

    @Test("an update is an object of its paths", arguments: [1, 2, 7, 1_000])
    func update(size: Int) throws {
        let entries = [
            (try target("/r/a"), try node(#"{"b":{"c":[1,2]}}"#)),
            (try target("/r/a\"/d"), Node.absent),
            (try target("/r/p", isPriority: true), Node(integer: 3)),
            (try target("/r", isPriority: true), try node(#""x""#)),
        ]
        let base = try Path("/r")
        let compact = AnswerText(entries, base: base, isPretty: false)
        #expect(
            joined(compact, size: size)
                == #"{"a":{"b":{"c":[1,2]}},"a\"/d":null,"p/.priority":3,".priority":"x"}"#
        )
        let pretty = AnswerText(entries, base: base, isPretty: true)
        #expect(
            joined(pretty, size: size) == """
                {
                  "a" : {
                    "b" : {
                      "c" : [ 1, 2 ]
                    }
                  },
                  "a\\"/d" : null,
                  "p/.priority" : 3,
                  ".priority" : "x"
                }

                """
        )
    }

    @Test("an update of nothing is an empty object", arguments: [1, 100])
    func empty(size: Int) {
        #expect(joined(AnswerText([], base: .root, isPretty: false), size: size) == "{}")
        #expect(joined(AnswerText([], base: .root, isPretty: true), size: size) == "{}\n")
    }

    @Test("a value for people ends in a line break", arguments: [1, 100])
    func value(size: Int) throws {
        let value = try node(#"{"a":{"b":1},"c":2}"#)
        let text = joined(AnswerText(value, .value, isPretty: true), size: size)
        #expect(text == "{\n  \"a\" : {\n    \"b\" : 1\n  },\n  \"c\" : 2\n}\n")
        #expect(joined(AnswerText(value, .value), size: size) == #"{"a":{"b":1},"c":2}"#)
        let keys = joined(AnswerText(value, .keys, isPretty: true), size: size)
        #expect(keys == "{\n  \"a\" : true,\n  \"c\" : true\n}\n")
        #expect(joined(AnswerText(.absent, .keys), size: size) == "null")
    }

    @Test("the bytes are counted as they are sent")
    func count() throws {
        let members = (0..<2_000).map { #""k\#($0)":{"n":\#($0)}"# }.joined(separator: ",")
        let text = AnswerText(try node("{\(members)}"), .value, isPretty: true)
        var count = TextCount(text)
        while !count.advance(atLeast: 1_000) {}
        #expect(count.byteCount == joined(text, size: 16_384).utf8.count)
    }
}
