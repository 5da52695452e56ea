import TestSupport
import Testing

@testable import JSONTree

@Suite("outlines, and keys by their position")
struct OutlineTests {
    static let rows: [(json: String, outline: String)] = [
        ("null", "null"), ("5", "5"), ("-0.5", "-0.5"), ("true", "true"), (#""tea""#, #""tea""#),
        (#"{".value":"tea",".priority":2}"#, #"{".value":"tea",".priority":2}"#),
        (
            #"{"a":1,"b":{"c":{"d":2}},"e":"x",".priority":"p"}"#,
            #"{"count":3,"first":{"a":1,"b":{"count":1},"e":"x"},".priority":"p"}"#
        ),
        (
            #"{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7}"#,
            #"{"count":7,"first":{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6}}"#
        ),
        // What is below `first` has its own priority, and looks like an outline only where it is one.
        (
            #"{"count":1,"a":{".value":1,".priority":2}}"#,
            #"{"count":2,"first":{"a":{".value":1,".priority":2},"count":1}}"#
        ),
    ]

    @Test("show a leaf as it is, and of a map how many children and the first six", arguments: rows)
    func shapes(json: String, outline: String) throws {
        let node = try Node(json: json)
        #expect(String(decoding: node.json(.outline), as: UTF8.self) == outline)
        var stream = JSONStream(node, .outline)
        var streamed: [UInt8] = []
        while stream.next(into: &streamed, atLeast: 1) {}
        #expect(String(decoding: streamed, as: UTF8.self) == outline)
    }

    @Test(
        "cut long texts between two characters",
        arguments: [("x", 4096), ("x", 4097), ("é", 2049), ("日", 1366), ("👍", 1025)]
    )
    func texts(sign: String, count: Int) {
        let text = String(repeating: sign, count: count)
        let whole = Node(string: text)
        let outline = whole.outline
        guard text.utf8.count > 4096 else { return #expect(outline.string == text) }
        let shown = outline.child(Key(unchecked: Array("text".utf8))).string ?? ""
        #expect(text.hasPrefix(shown) && (4093...4096).contains(shown.utf8.count))
        let bytes = outline.child(Key(unchecked: Array("bytes".utf8))).integer
        #expect(bytes == Int64(text.utf8.count))
        var map = Node.absent
        map.set(whole, at: Path([Key(unchecked: Array("a".utf8))]))
        #expect(map.json(.outline).count < 200)
    }

    @Test(
        "a key is found by its position, however many pages there are",
        arguments: [1, 2, 40, 300, 5_000, 70_000]
    )
    func positions(count: Int) throws {
        var random = TestSeed.generator(UInt64(count))
        var node = Node.absent
        for number in 0..<count {
            // Integers, which sort by value, and words.
            let word = "k\(random.next() % 1_000_000)-\(number)"
            let key = try Key(number.isMultiple(of: 3) ? "\(number)" : word)
            node.set(Node(integer: 1), at: Path([key]))
        }
        var keys: [Key] = []
        node.visitChildren { key, _ in
            keys.append(Key(key))
            return true
        }
        #expect(keys.count == count)
        #expect(count < 300 || node.height > 0)
        for index in (0..<count).shuffled(using: &random).prefix(500) + [0, count - 1] {
            #expect(node.key(at: index) == keys[index])
        }
        #expect(node.key(at: count) == nil && node.key(at: -1) == nil)
        #expect(Node(integer: 5).key(at: 0) == nil && Node.absent.key(at: 0) == nil)
    }
}
