import JSONTree
import Testing

@Test("a set built in one pass holds its keys in order", arguments: [0, 1, 2, 60, 61, 5_000])
func keySet(count: Int) {
    var builder = KeySetBuilder()
    var expected = Node.absent
    let keys = (0..<count).map { "k\(100_000 + $0)" }
    for key in keys {
        key.withBytes { builder.append($0) }
        expected.set(Node(true), at: Path([Key(unchecked: Array(key.utf8))]))
    }
    let set = builder.finish()
    #expect(set == expected)
    #expect(set.childCount == count)
    var found: [String] = []
    set.visitChildren { key, _ in
        found.append(key.string)
        return true
    }
    #expect(found == keys)
}

@Test("a set built in one pass takes long keys, and can be written to")
func longKeySet() {
    var builder = KeySetBuilder()
    func key(_ number: Int) -> [UInt8] {
        Array("k\(1_000 + number)".utf8) + [UInt8](repeating: 0x78, count: number * 20)
    }
    for number in 0..<100 { key(number).withBytes { builder.append($0) } }
    var set = builder.finish()
    #expect(set.childCount == 100)
    for number in 0..<100 {
        let path = Path([Key(unchecked: key(number))])
        #expect(set.descendant(at: path) == Node(true))
        if number.isMultiple(of: 2) { set.set(.absent, at: path) }
    }
    for number in 100..<140 {
        let long = Array("k\(1_000 + number)".utf8) + [UInt8](repeating: 0x79, count: 1_900)
        set.set(Node(true), at: Path([Key(unchecked: long)]))
    }
    #expect(set.childCount == 90)
    var count = 0
    set.visitChildren { _, _ in
        count += 1
        return true
    }
    #expect(count == 90)
}
