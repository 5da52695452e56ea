import JSONTree
import Simulation
import TestSupport
import Testing

/// Whatever order keys come in, what is encoded is decoded, and decodes to the same node.
@Suite("Keys in any order read back")
struct KeyOrderTests {
    private static func keys(_ order: KeyOrder, _ count: Int) -> [String] {
        var random = TestSeed.generator(UInt64(count))
        return order.keys(count, &random)
    }

    private static let value = String(repeating: "v", count: 150)

    private func expectReadBack(_ node: Node) throws {
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        let read = try bytes.withBytes { try Node(decoding: $0) }
        #expect(read == node)
        #expect(read.text == node.text)
    }

    @Test("put one by one", arguments: KeyOrder.allCases, [2, 13, 14, 31, 300, 2_000, 6_000])
    func puts(order: KeyOrder, count: Int) throws {
        var node = Node.absent
        for key in Self.keys(order, count) { node.set(Node(string: Self.value), at: try path(key)) }
        #expect(node.childCount == count)
        try expectReadBack(node)
    }

    @Test("as members of one text", arguments: KeyOrder.allCases, [31, 300, 6_000])
    func members(order: KeyOrder, count: Int) throws {
        let members = Self.keys(order, count).map { "\(Node(string: $0).text):\"\(Self.value)\"" }
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

    @Test(
        "as server values below the members of a draft",
        arguments: KeyOrder.allCases.filter { $0 != .longest }
    )
    func serverValues(order: KeyOrder) throws {
        var members = Self.keys(order, 200).map { key in
            "\(Node(string: "m" + key).text):\"\(Self.value)\""
        }
        members += Self.keys(order, 300).map { key in
            "\(Node(string: "a" + key).text):{\".sv\":{\"increment\":1}}"
        }
        let draft = try Draft(json: Array("{\(members.joined(separator: ","))}".utf8))
        let node = draft.resolved(existing: .absent, now: Timestamp(milliseconds: 1))
        #expect(node.childCount == 500)
        try expectReadBack(node)
    }

    /// A branch over two pages, encoded, and where in the bytes its two keys begin.
    private func branch() throws -> (node: Node, bytes: [UInt8], keys: [Int]) {
        var node = Node.absent
        for key in Self.keys(.ascending, 20) {
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
    func secondKey(byte: UInt8) throws {
        var (_, bytes, keys) = try branch()
        bytes[keys[1]] = byte
        #expect(throws: NodeDecodingError.badBlock(.badOrder, offset: 17)) {
            try bytes.withBytes { try Node(decoding: $0) }
        }
    }

    @Test("a check alone refuses what reading refuses, whichever key is changed")
    func checkOnly() throws {
        var node = Node.absent
        var keys: [String] = []
        while node.height < 2 || keys.count % 64 != 0 {
            keys.append("k\(1000 + keys.count)")
            let text = String(repeating: "v", count: 600)
            node.set(Node(string: text), at: try path(keys.last ?? ""))
        }
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        var refused = 0
        for key in keys {
            var changed = bytes
            // Pages stand before the branches over them.
            let place = try #require(bytes.firstRange(of: Array(key.utf8))).lowerBound
            changed[place] = UInt8(ascii: "z")
            let isRead = changed.withBytes { (try? Node(decoding: $0)) != nil }
            let isSound = changed.withBytes { bytes in
                var decoder = NodeDecoder(isCheckOnly: true)
                return (try? decoder.feed(bytes)) != nil && (try? decoder.finish()) != nil
            }
            #expect(isSound == isRead, "\(key)")
            refused += isRead ? 0 : 1
        }
        // The last key of all may be any greater one.
        #expect(refused == keys.count - 1)
    }
}
