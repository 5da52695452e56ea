import JSONTree
import TestSupport
import Testing

@Suite("Encoding")
struct EncodingTests {
    /// A node with everything in it: pages, branches, long texts, priorities long and short.
    private func sample(_ count: Int = 60) throws -> Node {
        var node = try Node(
            json:
                #"{"a":{"b":[1,-2,300,70000,5000000000,1.5,true,false]},"é😀":"x",".priority":"root"}"#
        )
        let long = String(repeating: "long ", count: 150)
        for number in 0..<count {
            node.set(
                Node(string: "value \(number) \(long.prefix(number * 3))"),
                at: try path("m/k\(number)")
            )
            node.setPriority(Node(integer: Int64(number)), at: try path("m/k\(number)"))
        }
        node.set(Node(string: long).settingPriority(Node(string: long)), at: try path("m/long"))
        return node
    }

    private func encoded(_ node: Node) -> [UInt8] {
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        return bytes
    }

    @Test(
        "every kind of node is read back as it was",
        arguments: [
            "null", "true", "false", "0", "-1", "127", "-129", "2147483648", "1.5", "-0", "\"\"",
            "\"x\"",
            #"{".value":1,".priority":2}"#, #"{".value":"v",".priority":"p"}"#,
            #"{"a":1,".priority":1.5}"#,
        ]
    )
    func kinds(text: String) throws {
        let node = try Node(json: text)
        let read = try encoded(node).withBytes { try Node(decoding: $0) }
        #expect(read == node)
        #expect(read.text == text)
    }

    @Test("its length is known before it is made")
    func length() throws {
        var nodes = [Node.absent, Node(true), Node(integer: -7), Node(double: 0.5)]
        nodes += [Node(string: "text"), Node(string: String(repeating: "x", count: 70_000))]
        nodes += [Node(integer: 1).settingPriority(Node(string: "p"))]
        nodes += try [0, 1, 60, 3_000].map { try sample($0) }
        // Children lie within the pages of their parents, or in pages of their own.
        for node in nodes {
            node.visitChildren { _, child in
                nodes.append(child)
                return nodes.count < 2_000
            }
        }
        for node in nodes { #expect(node.encodingByteCount == encoded(node).count) }
    }

    @Test("pieces of any size give the node back", arguments: [1, 2, 7, 100, 5_000])
    func pieces(size: Int) throws {
        let node = try sample()
        var encoder = NodeEncoder(node)
        var bytes: [UInt8] = []
        var pieceCount = 0
        while encoder.next(into: &bytes, atLeast: size) { pieceCount += 1 }
        #expect(bytes == encoded(node))
        #expect(pieceCount > 0)
        var decoder = NodeDecoder()
        for start in stride(from: 0, to: bytes.count, by: size) {
            try Array(bytes[start..<min(start + size, bytes.count)]).withBytes {
                try decoder.feed($0)
            }
        }
        #expect(try decoder.finish() == node)
    }

    @Test("an encoder writes the node as it was, whatever is written meanwhile")
    func snapshot() throws {
        var node = try sample()
        let old = node
        var encoder = NodeEncoder(node)
        var stream = JSONStream(node, .export)
        var bytes: [UInt8] = []
        var text: [UInt8] = []
        var number = 0
        var hasMore = true
        while hasMore {
            let more = (
                encoder.next(into: &bytes, atLeast: 300), stream.next(into: &text, atLeast: 300)
            )
            hasMore = more.0 || more.1
            node.set(number.isMultiple(of: 2) ? .absent : Node(true), at: try path("m/k\(number)"))
            number += 1
        }
        #expect(try bytes.withBytes { try Node(decoding: $0) } == old)
        #expect(try Node(json: text) == old)
        #expect(node != old)
    }

    @Test("bytes cut off anywhere are refused")
    func truncated() throws {
        let bytes = encoded(try sample(8))
        for count in 0..<bytes.count {
            #expect(throws: NodeDecodingError.self) {
                try Array(bytes.prefix(count)).withBytes { try Node(decoding: $0) }
            }
        }
        let error = #expect(throws: NodeDecodingError.self) {
            try (bytes + [0x11]).withBytes { try Node(decoding: $0) }
        }
        #expect(error == .trailingBytes)
    }

    @Test(
        "damaged bytes are refused or are a sound node, and never trap",
        arguments: TestSeed.seeds(6)
    )
    func damaged(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let bytes = encoded(try sample(seed.isMultiple(of: 2) ? 6 : 25))
        var readCount = 0
        for _ in 0..<250 {
            var changed = bytes
            switch random.below(4) {
            case 0: changed[random.below(changed.count)] ^= 1 << UInt8(random.below(8))
            case 1: changed[random.below(changed.count)] = UInt8(random.below(14))
            case 2:
                let start = random.below(changed.count)
                changed.removeSubrange(start..<min(changed.count, start + 1 + random.below(9)))
            default:
                let start = random.below(changed.count - 8)
                for place in 0..<1 + random.below(8) {
                    changed[start + place] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            guard var node = try? changed.withBytes({ try Node(decoding: $0) }) else { continue }
            readCount += 1
            // Whatever was accepted can be used like any node.
            #expect(try Node(json: node.json(.export)) == node, "seed \(seed)")
            node.set(Node(string: "x"), at: try path("m/k0"))
            node.set(.absent, at: try path("m/k3"))
            node.set(Node(integer: 1), at: try path("m/k2/deeper"))
            #expect(encoded(node).withBytes { (try? Node(decoding: $0)) == node }, "seed \(seed)")
        }
        // Characters inside strings may change into others.
        #expect(readCount > 0, "seed \(seed)")
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let block: [UInt8]
        let fault: NodeFault
        var testDescription: String { name }
    }

    private static let badBlocks: [Fault] = [
        Fault(name: "no bytes", block: [], fault: .badLength),
        Fault(name: "unknown tag", block: [0x20], fault: .badTypeByte),
        Fault(name: "a bare scalar", block: [2], fault: .badTypeByte),
        Fault(name: "text longer than the block", block: [7, 2, 0x61], fault: .badLength),
        Fault(name: "text shorter than the block", block: [7, 1, 0x61, 0x61], fault: .badLength),
        Fault(name: "text that is not UTF-8", block: [7, 1, 0xFF], fault: .badText),
        Fault(
            name: "short text in the long form",
            block: [8, 1, 0, 0, 0, 0x61],
            fault: .badLength
        ),
        Fault(name: "a map without entries", block: [9, 5, 0, 0, 0], fault: .badLength),
        Fault(
            name: "a map's size beyond the block",
            block: [9, 90, 0, 1, 0, 7, 0, 1, 0x61, 2],
            fault: .badLength
        ),
        Fault(
            name: "a wrong offset",
            block: [9, 10, 0, 1, 0, 8, 0, 1, 0x61, 2],
            fault: .badOffset
        ),
        Fault(name: "an empty key", block: [9, 9, 0, 1, 0, 7, 0, 0, 2], fault: .badKey),
        Fault(name: "a key with a dot", block: [9, 10, 0, 1, 0, 7, 0, 1, 0x2E, 2], fault: .badKey),
        Fault(
            name: "keys out of order",
            block: [9, 15, 0, 2, 0, 9, 0, 12, 0, 1, 0x62, 2, 1, 0x61, 2],
            fault: .badOrder
        ),
        Fault(
            name: "a key twice",
            block: [9, 15, 0, 2, 0, 9, 0, 12, 0, 1, 0x61, 2, 1, 0x61, 2],
            fault: .badOrder
        ),
        Fault(
            name: "an integer in too many bytes",
            block: [9, 14, 0, 1, 0, 7, 0, 1, 0x61, 4, 1, 0, 0, 0],
            fault: .badNumber
        ),
        Fault(
            name: "a whole double",
            block: [9, 18, 0, 1, 0, 7, 0, 1, 0x61, 6, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F],
            fault: .badNumber
        ),
        Fault(
            name: "not a number",
            block: [9, 18, 0, 1, 0, 7, 0, 1, 0x61, 6, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F],
            fault: .badNumber
        ),
        Fault(
            name: "a reference to nothing",
            block: [9, 12, 0, 1, 0, 7, 0, 1, 0x61, 10, 0, 0],
            fault: .badReference
        ),
        Fault(name: "a boolean as priority", block: [11, 2, 2], fault: .badTypeByte),
        Fault(
            name: "a priority of a priority",
            block: [11, 3, 1, 11, 3, 1, 2],
            fault: .badTypeByte
        ),
        Fault(name: "a priority without a value", block: [11, 3, 1], fault: .badLength),
    ]

    @Test("each rule of a block's bytes is checked", arguments: EncodingTests.badBlocks)
    func refusedBlock(testCase: Fault) {
        let count = UInt8(testCase.block.count)
        let bytes: [UInt8] = [0x10, count, 0, 0, 0, 0, 0] + testCase.block + [0x11]
        let error = #expect(throws: NodeDecodingError.self) {
            try bytes.withBytes { try Node(decoding: $0) }
        }
        guard case .badBlock(testCase.fault, _)? = error else {
            Issue.record("\(String(describing: error)) instead of \(testCase.fault)")
            return
        }
    }

    @Test(
        "items that do not fit together are refused",
        arguments: [
            ([0x11], .badReferences),
            ([0x20], .unknownItem(0x20)),
            ([0x10, 0, 0, 0, 0xFF, 0, 0], .tooLong(byteCount: 0xFF00_0000)),
            ([0x10, 2, 0, 0, 0, 1, 0, 7, 0], .badReferences),
            ([0x10, 2, 0, 0, 0, 0, 0, 7, 0, 0x10, 2, 0, 0, 0, 0, 0, 7, 0, 0x11], .badReferences),
            ([0x10, 2, 0, 0, 0, 0, 0, 7, 0], .unexpectedEnd),
            ([0x12, 7, 0], .badBlock(.badTypeByte, offset: 0)),
            ([0x13, 0x13], .trailingBytes),
            ([], .unexpectedEnd),
        ] as [([UInt8], NodeDecodingError)]
    )
    func items(bytes: [UInt8], expected: NodeDecodingError) {
        let error = #expect(throws: NodeDecodingError.self) {
            try bytes.withBytes { try Node(decoding: $0) }
        }
        #expect(error == expected)
    }
}
