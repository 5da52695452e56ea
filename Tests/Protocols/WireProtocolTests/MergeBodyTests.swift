import JSONTree
import Testing
import WireProtocol

@Suite("the object of an update")
struct MergeBodyTests {
    private func written(_ text: String) throws -> [String] {
        try MergeEntry.parse(Array(text.utf8), base: .root)
            .map { "\($0.target) \(String(decoding: $0.draft.node.json(), as: UTF8.self))" }
    }

    @Test("of members with the same name the last counts")
    func repeated() throws {
        #expect(try written(#"{"a":1,"b/c":2,"a":3}"#) == ["/b/c 2", "/a 3"])
    }

    @Test("names of other scalars are other names, also where they look the same")
    func composed() throws {
        let (one, two) = ("\u{e9}", "e\u{301}")
        let found = try written("{\"a\":1,\"\(one)\":2,\"\(two)\":3,\"a\":4}")
        #expect(
            found.map { Array($0.utf8) }
                == ["/\(one) 2", "/\(two) 3", "/a 4"].map { Array($0.utf8) }
        )
    }

    @Test("locations of two names that overlap are refused, beside a repeated name too")
    func overlap() {
        for text in [#"{"a":1,"a/b":2}"#, #"{"a":1,"a/b":2,"a":3}"#] {
            #expect(throws: MergeError.target(.overlap("/a", "/a/b"))) { try written(text) }
        }
    }
}
