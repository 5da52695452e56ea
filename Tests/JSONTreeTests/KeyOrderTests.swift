import JSONTree
import Testing

/// Whatever order keys come in, what is encoded is decoded, and decodes to the same node.
@Suite("Keys in any order read back")
struct KeyOrderTests {
    /// The orders that applications put keys in.
    enum Order: String, CaseIterable {
        case ascending, descending, shuffled, newestFirst, hashes, insideOut

        /// `count` keys; every order gives each key once.
        func keys(_ count: Int) -> [String] {
            var random = SeededRandom(seed: UInt64(count))
            let padded = (0..<count).map { number in
                let digits = String(number)
                return "k" + String(repeating: "0", count: 6 - digits.count) + digits
            }
            switch self {
            case .ascending: return padded
            case .descending: return padded.reversed()
            case .shuffled: return padded.shuffled(using: &random)
            case .newestFirst: return (0..<count).map { "\(-1_700_000_000 - $0)" }
            case .hashes:
                return (0..<count).map { _ in
                    String(random.next(), radix: 16) + String(random.next(), radix: 16)
                }
            case .insideOut:
                return (0..<count).map { number in
                    padded[count / 2 + (number % 2 == 0 ? number / 2 : -(number + 1) / 2)]
                }
            }
        }
    }

    private static let value = String(repeating: "v", count: 150)

    private func expectReadBack(_ node: Node) throws {
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        let read = try bytes.withBytes { try Node(decoding: $0) }
        #expect(read == node)
        #expect(read.text == node.text)
    }

    @Test("put one by one", arguments: Order.allCases, [2, 13, 14, 31, 300, 2_000, 6_000])
    func puts(order: Order, count: Int) throws {
        var node = Node.absent
        for key in order.keys(count) { node.set(Node(string: Self.value), at: try path(key)) }
        #expect(node.childCount == count)
        try expectReadBack(node)
    }

    @Test("as members of one text", arguments: Order.allCases, [31, 300, 6_000])
    func members(order: Order, count: Int) throws {
        let members = order.keys(count).map { "\"\($0)\":\"\(Self.value)\"" }
        let text = Array("{\(members.joined(separator: ","))}".utf8)
        try expectReadBack(try Node(json: text))
        var assembly = JSONAssembly(windowByteCount: 64 * 1024)
        for start in stride(from: 0, to: text.count, by: 10_000) {
            try assembly.append(Array(text[start..<min(start + 10_000, text.count)]))
        }
        let draft = try assembly.finish()
        #expect(draft.node.childCount == count)
        try expectReadBack(draft.node)
    }

    @Test("as server values below the members of a draft", arguments: Order.allCases)
    func serverValues(order: Order) throws {
        var members = order.keys(200).map { "\"m\($0)\":\"\(Self.value)\"" }
        members += order.keys(300).map { "\"a\($0)\":{\".sv\":{\"increment\":1}}" }
        let draft = try Draft(json: Array("{\(members.joined(separator: ","))}".utf8))
        let node = draft.resolved(existing: .absent, now: Timestamp(milliseconds: 1))
        #expect(node.childCount == 500)
        try expectReadBack(node)
    }

    /// A branch over two pages, encoded, and where in the bytes its two keys begin.
    private func branch() throws -> (node: Node, bytes: [UInt8], keys: [Int]) {
        var node = Node.absent
        for key in Order.ascending.keys(20) {
            node.set(Node(string: Self.value), at: try path(key))
        }
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        // The branch is the last block; a key is its length, 7, and its text.
        let keys = bytes.indices.dropLast().filter { bytes[$0] == 7 && bytes[$0 + 1] == 0x6B }
        return (node, bytes, keys.suffix(2).map { $0 + 1 })
    }

    @Test("the first key of a branch bounds nothing")
    func firstKey() throws {
        var (node, bytes, keys) = try branch()
        bytes[keys[0]] = 0x7A
        #expect(try bytes.withBytes { try Node(decoding: $0) } == node)
    }

    @Test("the second key of a branch bounds the pages beside it", arguments: [0x61, 0x7A])
    func secondKey(letter: UInt8) throws {
        var (_, bytes, keys) = try branch()
        bytes[keys[1]] = letter
        #expect(throws: NodeDecodingError.badBlock(.badOrder, offset: 17)) {
            try bytes.withBytes { try Node(decoding: $0) }
        }
    }
}
