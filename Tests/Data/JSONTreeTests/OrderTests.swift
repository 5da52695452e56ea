import JSONTree
import TestSupport
import Testing

@Suite("Orders")
struct OrderTests {
    private static let keys = [
        "-2147483648", "-5", "0", "1", "01", "001", "9", "10", "2147483647", " 1", "+1", "-",
        "-2147483649", "1.5", "2147483648", "99999999999", "A", "_", "a", "a-", "b", "~",
        "\u{E9}", "\u{1F600}", "\u{FF5E}",
    ]

    @Test("keys are in key order, each pair of them")
    func keyOrder() {
        for (i, a) in OrderTests.keys.enumerated() {
            for (j, b) in OrderTests.keys.enumerated() {
                let order = a.withBytes { x in b.withBytes { Key.compare(x, $0) } }
                #expect(order.signum() == (i - j).signum(), "\(a) and \(b)")
            }
        }
    }

    @Test("key order agrees with UTF-16 for random texts", arguments: TestSeed.seeds(3))
    func randomKeys(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let scalars = Array(
            "ab-09éߟ\u{D7FF}\u{E000}\u{EFFF}\u{F000}\u{FFFD}\u{10000}\u{1F600}\u{10FFFF}"
                .unicodeScalars
        )
        for _ in 0..<5_000 {
            let texts = (0..<2).map { _ in
                var text = ""
                for _ in 0...random.below(12) {
                    text.unicodeScalars.append(random.element(scalars))
                }
                return Array(text.utf8)
            }
            let order = texts[0].withBytes { x in texts[1].withBytes { Key.compare(x, $0) } }
            #expect((order < 0) == NaiveTree.isBefore(texts[0], texts[1]), "seed \(seed): \(texts)")
            #expect((order == 0) == (texts[0] == texts[1]), "seed \(seed): \(texts)")
        }
    }

    @Test("an equal text in another normal form is another key")
    func normalisation() throws {
        #expect(try Key("\u{E9}") != Key("e\u{301}"))
        let node = try Node(json: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(node.childCount == 2)
    }

    @Test("values are in value order, maps equal")
    func valueOrder() throws {
        let texts = [
            "null", "false", "true", "-2", "3", "\"10\"", "\"9\"", "\"Z\"", "\"a\"",
            "\"\u{1F600}\"",
            "\"\u{FF5E}\"", #"{"a":1}"#,
        ]
        let nodes = try texts.map { try Node(json: $0) }
        for (i, a) in nodes.enumerated() {
            for (j, b) in nodes.enumerated() {
                #expect(Node.compareValues(a, b).signum() == (i - j).signum())
            }
        }
        #expect(Node.compareValues(try Node(json: #"{"b":1}"#), try Node(json: #"{"a":1}"#)) == 0)
        #expect(Node.compareValues(Node(integer: 2), Node(double: 2.5)) < 0)
        #expect(Node.compareValues(Node(double: -0.0), Node(integer: 0)) == 0)
        let prioritised = Node(integer: 2).settingPriority(Node(integer: 100))
        #expect(Node.compareValues(prioritised, Node(integer: 3)) < 0)
    }

    @Test("children are in priority order, then key order")
    func priorityOrder() throws {
        let node = try Node(
            json: #"""
                {"a":{".value":1,".priority":"x"},"b":{".value":1,".priority":5},"c":1,
                "d":{".value":1,".priority":"10"},"e":{".value":1,".priority":-1},"9":1,"10":1}
                """#
        )
        var children: [(key: Key, priority: Node)] = []
        node.visitChildren { key, child in
            children.append((Key(key), child.priority))
            return true
        }
        children.sort { a, b in
            let order = Node.compareValues(a.priority, b.priority)
            return order == 0 ? a.key < b.key : order < 0
        }
        #expect(children.map(\.key.string) == ["9", "10", "c", "e", "b", "d", "a"])
    }

    @Test(
        "a double enters the hash by its bits",
        arguments: [
            (0.1, "3fb999999999999a"), (1.5, "3ff8000000000000"), (-1, "bff0000000000000"),
            (1e21, "444b1ae4d6e2ef50"), (9_007_199_254_740_992, "4340000000000000"),
            (.leastNonzeroMagnitude, "0000000000000001"), (-0.0, "8000000000000000"),
        ] as [(Double, String)]
    )
    func doubleBits(number: Double, hex: String) throws {
        // The number's own hash equals that of the text that the rule spells out.
        #expect(Node(double: number).hash() == sha1Base64("number:\(hex)"))
    }
}
