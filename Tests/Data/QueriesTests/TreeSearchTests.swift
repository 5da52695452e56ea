import JSONTree
import TestSupport
import Testing

@testable import Queries

/// Searches against the plainest way to search, and how much work they do.
@Suite("searches")
struct TreeSearchTests {
    /// A hit as the test writes it: `key /a/b` or `value /a/b 7`, with the offset in a text.
    private static func text(_ hit: SearchHit) -> String {
        hit.isKey ? "key \(hit.path)" : "value \(hit.path)" + (hit.offset.map { " \($0)" } ?? "")
    }

    private static func hits(
        _ root: Node,
        _ text: String,
        in part: TreeSearch.Part = .both,
        at base: Path = .root,
        slice: Int = .max / 2
    ) -> [String] {
        var search = TreeSearch(root, at: base, for: SearchPattern(text), in: part)
        var found: [String] = []
        while !search.isOver {
            search.advance(work: slice) {
                found.append(Self.text($0)); return true
            }
        }
        return found
    }

    @Test(
        "a text is found in keys and texts in any case, a number and a boolean where they are equal",
        arguments: [
            ("tea", ["key /a/Tea", "value /a/text 8"]), ("TEA", ["key /a/Tea", "value /a/text 8"]),
            ("12", ["value /a/Tea", "key /n12", "value /x 1"]), ("1.2e1", ["value /a/Tea"]),
            ("true", ["key /true", "value /x 5"]), ("false", ["value /n12"]),
            ("Ö", ["value /o 1"]), ("9007199254740993", ["value /z"]), ("nowhere", []),
        ]
    )
    func examples(text: String, expected: [String]) throws {
        let root = try Node(
            json: """
                {"a": {"Tea": 12, "text": "Cups of TEA"}, "n12": false, "o": "wörter", "true": {"b": 1},
                 "x": "-12 8true", "z": 9007199254740993}
                """
        )
        #expect(Self.hits(root, text) == expected)
    }

    @Test("the node at the path counts by its value, and paths begin at the root")
    func base() throws {
        let base = try Path("/rooms/tea")
        #expect(Self.hits(Node(string: "tea"), "tea", at: base) == ["value /rooms/tea 0"])
        let below = try Node(json: #"{"tea": 1}"#)
        #expect(Self.hits(below, "tea", at: base) == ["key /rooms/tea/tea"])
        #expect(Self.hits(.absent, "tea", at: base).isEmpty)
    }

    @Test(
        "slices of any size find what one slice finds, in its order",
        arguments: TestSeed.seeds(30)
    )
    func slices(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let root = Self.tree(depth: 5, &random)
        for part in TreeSearch.Part.allCases {
            for text in ["a", "B", "ab", "1", "äb"] {
                let naive = Self.naive(root, .root, text, part)
                #expect(Self.hits(root, text, in: part) == naive, "seed \(seed)")
                let slice = Int.random(in: 1...9, using: &random)
                let sliced = Self.hits(root, text, in: part, slice: slice)
                #expect(sliced == naive, "seed \(seed), slices of \(slice)")
            }
        }
    }

    @Test(
        "a slice does its share of work and one node more at most, and all slices together look at each node once"
    )
    func work() throws {
        let members = (0..<20_000).map {
            #""k\#($0)":{"n":\#($0),"t":"\#(String(repeating: "x", count: 640))"}"#
        }
        let root = try Node(json: "{\(members.joined(separator: ","))}")
        var search = TreeSearch(root, at: .root, for: SearchPattern("nowhere"), in: .both)
        var sliceCount = 0
        while !search.isOver {
            let before = search.workCount
            search.advance(work: 1_000) { _ in true }
            #expect(search.workCount - before <= 1_000 + 11)
            sliceCount += 1
        }
        #expect(search.nodeCount == 60_001)
        #expect(search.workCount == 60_001 + 10 * 20_000)
        #expect(sliceCount <= 262)
    }

    @Test("it ends where the taker of hits has enough")
    func enough() throws {
        let root = try Node(json: #"{"a1":1,"a2":2,"a3":{"a4":4}}"#)
        var search = TreeSearch(root, at: .root, for: SearchPattern("a"), in: .keys)
        var found: [String] = []
        search.advance(work: 100) {
            found.append(Self.text($0)); return found.count < 2
        }
        #expect(found == ["key /a1", "key /a2"])
        #expect(search.isOver)
    }

    // MARK: - The twin

    private static func naive(_ node: Node, _ path: Path, _ text: String, _ part: TreeSearch.Part)
        -> [String]
    {
        var found: [String] = []
        let lower = text.lowercased()
        func position(in other: String) -> Int? {
            let bytes = Array(other.lowercased().utf8)
            let wanted = Array(lower.utf8)
            return bytes.indices.first { bytes[$0...].starts(with: wanted) }
        }
        if part != .values, let key = path.lastKey, position(in: key.string) != nil {
            found.append("key \(path)")
        } else if part != .keys, node.isLeaf {
            if let string = node.string {
                if let position = position(in: string) { found.append("value \(path) \(position)") }
            } else if node.number.map({ "\(Int($0))" }) == text {
                found.append("value \(path)")
            }
        }
        node.visitChildren { key, child in
            found += naive(child, path.appending(Key(key)), text, part)
            return true
        }
        return found
    }

    private static func tree(depth: Int, _ random: inout SeededGenerator) -> Node {
        let words = ["a", "ab", "BA", "b1", "xÄB", "1", "cc", "12"]
        guard depth > 0, Int.random(in: 0..<4, using: &random) > 0 else {
            let word = words.randomElement(using: &random) ?? ""
            return Bool.random(using: &random)
                ? Node(string: word) : Node(integer: Int64.random(in: 0...3, using: &random))
        }
        var node = Node.absent
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let word = words.randomElement(using: &random) ?? ""
            let key = Key(unchecked: Array("\(word)\(Int.random(in: 0...5, using: &random))".utf8))
            node.set(tree(depth: depth - 1, &random), at: Path([key]))
        }
        return node
    }
}
