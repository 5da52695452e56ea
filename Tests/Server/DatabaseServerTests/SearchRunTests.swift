import JSONTree
import Queries
import Testing

@testable import DatabaseServer

@Suite("the lines of a search")
struct SearchRunTests {
    private static func lines(
        _ root: Node,
        _ query: [(name: String, value: String)],
        _ change: (inout SearchLimits) -> Void = { _ in }
    ) throws -> [String] {
        var request = try SearchRequest(query)
        change(&request.limits)
        var run = SearchRun(request, in: root)
        var text: [UInt8] = []
        while true {
            let (bytes, isLast) = run.next()
            text += bytes
            if isLast { break }
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func list(_ count: Int) throws -> Node {
        try Node(json: "{\((1...count).map { "\"k\(100 + $0)\":\($0)" }.joined(separator: ","))}")
    }

    @Test("a hit shows where it is and what is there, in the room of a line")
    func hits() throws {
        let long =
            String(repeating: "x", count: 100_000) + "ä tea " + String(repeating: "y", count: 500)
        var root = try Node(json: #"{"tea":{"a":1,"b":2},"cup":"tea"}"#)
        root.set(Node(string: long), at: try Path("long"))
        let lines = try Self.lines(root, [("text", "tea"), ("path", "/shop")])
        #expect(lines.count == 4)
        #expect(lines[0] == #"{"path":"/shop/cup","in":"value","value":"tea"}"#)
        #expect(lines[1].hasPrefix(#"{"path":"/shop/long","in":"value","value":{"at":"#))
        #expect(lines[1].contains("xä tea y") && lines[1].utf8.count < 300)
        #expect(lines[2] == #"{"path":"/shop/tea","in":"key","value":{"count":2}}"#)
        #expect(lines[3] == #"{"looked":6,"found":3,"end":"all"}"#)
    }

    @Test("it ends at the limits of hits, bytes and work, and says which")
    func limits() throws {
        let root = try Self.list(500)
        let query = [(name: "text", value: "k")]
        func last(_ change: (inout SearchLimits) -> Void) throws -> String? {
            try Self.lines(root, query, change).last
        }
        #expect(try last { $0.hitCount = 7 } == #"{"looked":8,"found":7,"end":"hits"}"#)
        #expect(try last { $0.byteCount = 400 } == #"{"looked":12,"found":11,"end":"bytes"}"#)
        #expect(try last { $0.workCount = 60 } == #"{"looked":60,"found":59,"end":"work"}"#)
        #expect(try last { $0.workCount = 501 } == #"{"looked":501,"found":500,"end":"all"}"#)
    }

    @Test("each slice says how far it is")
    func progress() throws {
        let lines = try Self.lines(try Self.list(500), [("text", "nowhere")]) {
            $0.sliceWorkCount = 100
        }
        #expect(lines.count == 6)
        #expect(lines[0] == #"{"looked":100,"found":0}"#)
        #expect(lines[5] == #"{"looked":501,"found":0,"end":"all"}"#)
    }

    @Test(
        "requests that make no sense are refused",
        arguments: [
            [], [("text", "")], [("text", String(repeating: "x", count: 1_001))],
            [("text", "a"), ("in", "words")], [("text", "a"), ("limit", "0")],
            [("text", "a"), ("limit", "10001")], [("text", "a"), ("path", "/a.b")],
        ]
    )
    func refused(query: [(String, String)]) {
        #expect(throws: BadRequest.self) {
            try SearchRequest(query.map { (name: $0.0, value: $0.1) })
        }
    }
}
