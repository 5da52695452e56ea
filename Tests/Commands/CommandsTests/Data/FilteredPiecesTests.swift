import JSONTree
import Testing

@testable import Commands

@Suite("the wanted part of a JSON text")
struct FilteredPiecesTests {
    /// The pieces of a text that arrives `step` bytes at a time.
    static func pieces(
        _ text: String,
        filter: String = "/",
        byteCount: Int,
        step: Int = 7
    ) throws -> [JSONPieces.Piece] {
        var cutter = FilteredPieces(byteCount: byteCount, filter: try Path(filter))
        let bytes = Array(text.utf8)
        var found: [JSONPieces.Piece] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            cutter.append(Array(bytes[start..<min(bytes.count, start + step)]))
            while let piece = try cutter.next() { found.append(piece) }
        }
        cutter.end()
        while let piece = try cutter.next() { found.append(piece) }
        return found
    }

    /// `/a/b={"c":1}` for each piece, with `*` where it must follow.
    static func lines(_ pieces: [JSONPieces.Piece]) -> [String] {
        pieces.map {
            ($0.mustFollow ? "*" : "")
                + "\($0.target.description)=\(String(decoding: $0.json, as: UTF8.self))"
        }
    }

    @Test(
        "is what stands at its path",
        arguments: [
            ("/a", [#"/={"b":{"c":1},"d":2}"#]), ("/a/b", [#"/={"c":1}"#]), ("a/b/c", ["/=1"]),
            ("/a/b/c/d", []), ("/x", []), ("/l/1", [#"/="two""#]), ("/l/01", []), ("/l/2", []),
            ("/é", ["/=5"]), ("/e\u{301}", ["/=6"]), ("/s", [#"/={".sv":"timestamp"}"#]),
            ("/z/a", [#"/={"b":0}"#]),
        ]
    )
    func wanted(filter: String, expected: [String]) throws {
        let text = #"""
            {"z":{"a":{"b":0}},"a":{"b":{"c":1},"d":2},"l":["one","two"],".priority":9,
             "\u00e9":5,"e\u0301":6,"s":{".sv":"timestamp"}}
            """#
        for step in [1, 4, 1000] {
            let found = try Self.pieces(text, filter: filter, byteCount: 1000, step: step)
            #expect(Self.lines(found) == expected)
        }
        // Cut ever smaller, it is the same data.
        for byteCount in [1, 5, 12, 30, 60] {
            let found = try Self.pieces(text, filter: filter, byteCount: byteCount)
            #expect(found.allSatisfy(\.isNothing) == expected.isEmpty, "by \(byteCount)")
        }
    }

    @Test(
        "is read in pieces as a whole text is",
        arguments: [
            ("/a", 8, [#"/={"b":"123456"}"#, #"/={"c":[1]}"#, "*/.priority=3"]),
            ("/a/b", 8, [#"/="123456""#]),
            ("/d", 8, ["/=4"]),
        ]
    )
    func cut(filter: String, byteCount: Int, expected: [String]) throws {
        let text = #"{"a":{"b":"123456","c":[1],".priority":3},"d":4}"#
        #expect(Self.lines(try Self.pieces(text, filter: filter, byteCount: byteCount)) == expected)
    }

    @Test("is gone where a later member of the same name lacks it")
    func repeated() throws {
        let text = #"{"a":{"b":"12345678"},"a":{"x":"12345678","b":"90"},"a":5}"#
        let found = try Self.pieces(text, filter: "/a/b", byteCount: 10)
        // The second is `{"a":null}` of the whole, and what follows waits for it.
        #expect(
            Self.lines(found) == [#"/="12345678""#, "*/=null", #"*/="90""#, "*/=null"]
        )
    }

    @Test(
        "without data is known",
        arguments: [
            ("null", true), ("{}", true), (" [ ] ", true), ("0", false), ("[1]", false),
            (#""null""#, false), (#"{"n":1}"#, false), ("false", false),
        ]
    )
    func nothing(text: String, isNothing: Bool) throws {
        let found = try Self.pieces(text, byteCount: 100)
        #expect(found.map(\.isNothing) == [isNothing])
    }

    @Test("is refused with all else that is not JSON, with its position")
    func fault() throws {
        var cutter = FilteredPieces(byteCount: 4, filter: try Path("/b"))
        cutter.append(Array("{\"a\":\n {\"x\":tru}}".utf8))
        cutter.end()
        let error = #expect(throws: JSONError.self) { while try cutter.next() != nil {} }
        #expect(error?.reason == .unexpectedByte(0x7D))
        let place = try #require(cutter.faultPosition)
        #expect(place == (2, 10))
    }
}
