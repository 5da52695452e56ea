import JSONTree
import Testing

@testable import DatabaseServer

@Suite("hashes that are worked out once")
struct HashMemoTests {
    @Test("hashes of one node are worked out once, whatever hashes they are held against")
    func hashes() throws {
        // The children have priorities, and numbers that the JavaScript SDK hashes otherwise: three hashes.
        let json =
            #"{"b":{".value":7.999999999999999,".priority":1},"a":{".value":2,".priority":2}}"#
        let node = try Node(json: Array(json.utf8))
        let forms = [Node.HashForm.standard, .iOS, .javaScript].map { node.hash($0) }
        #expect(Set(forms).count == 3)
        let memo = HashMemo()
        let hash = { (node: Node, asked: String?) in memo.hash(node, like: asked) { false } }
        for _ in 0..<100 {
            for asked in [nil, "other"] + forms.map(Optional.some) {
                let expected = asked == "other" ? forms[0] : asked ?? forms[0]
                #expect(hash(node, asked) == expected)
            }
        }
        #expect(memo.walkCount == 3)
        let others = try (0..<4).map { try Node(json: Array("[\($0)]".utf8)) }
        for other in others { #expect(hash(other, nil) == other.hash()) }
        #expect(memo.walkCount == 7)
        #expect(hash(others[0], "x") == others[0].hash())
        #expect(memo.walkCount == 7)
        #expect(hash(node, forms[1]) == forms[1])
        #expect(memo.walkCount == 9, "the oldest was forgotten")
        memo.clear()
        #expect(hash(node, nil) == forms[0])
        #expect(memo.walkCount == 10)
    }
}
