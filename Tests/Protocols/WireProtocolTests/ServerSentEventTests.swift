import JSONTree
import Testing
import WireProtocol

@Suite("Server-sent events")
struct ServerSentEventTests {
    private static let leaf = Node(string: "a\n\u{2028}\"é")

    private static func path(_ text: String) throws -> Path { try Path(text) }

    @Test("are one line of data each, as readers of the REST API know them")
    func texts() throws {
        let node = try Node(json: Array(#"{"0":1,"1":{".value":2,".priority":3}}"#.utf8))
        let table: [(ServerSentEvent, Node.JSONForm, String)] = [
            (.put(.root, .absent), .value, "put\ndata: {\"path\":\"/\",\"data\":null}"),
            (
                .put(try Self.path("a/\"b"), Self.leaf), .value,
                "put\ndata: {\"path\":\"/a/\\\"b\",\"data\":\"a\\n\u{2028}\\\"é\"}"
            ),
            (.put(.root, node), .value, "put\ndata: {\"path\":\"/\",\"data\":[1,2]}"),
            (
                .put(.root, node), .export,
                #"put\#ndata: {"path":"/","data":{"0":1,"1":{".value":2,".priority":3}}}"#
            ),
            (
                .patch(
                    at: try Self.path("m"),
                    [(try Self.path("a/b"), .absent), (try Self.path("c"), node)]
                ), .value, #"patch\#ndata: {"path":"/m","data":{"a/b":null,"c":[1,2]}}"#
            ),
            (.keepAlive, .value, "keep-alive\ndata: null"),
            (.cancel, .value, "cancel\ndata: null"),
            (.authRevoked, .value, "auth_revoked\ndata: credential is no longer valid"),
        ]
        for (event, form, text) in table {
            let encoded = String(decoding: event.encoded(form), as: UTF8.self)
            #expect(encoded == "event: \(text)\n\n")
        }
    }

    @Test("have the same text in pieces", arguments: [1, 7, 1_000, 1_000_000])
    func pieces(byteCount: Int) throws {
        var node = Node.absent
        for number in 0..<500 {
            node.set(Node(string: "é\(number)"), at: try Self.path("k\(number)/x"))
        }
        let events: [ServerSentEvent] = [
            .put(try Self.path("p"), node), .patch(at: .root, [(try Self.path("q"), node)]),
        ]
        for event in events {
            var stream = StreamedServerSentEvent(event, .value)
            var text: [UInt8] = []
            var pieceCount = 1
            while stream.next(into: &text, atLeast: byteCount) { pieceCount += 1 }
            #expect(text == event.encoded(.value))
            #expect(pieceCount > 1 || byteCount > text.count)
        }
    }
}
