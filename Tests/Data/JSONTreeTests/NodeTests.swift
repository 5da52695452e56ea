import JSONTree
import Testing

@Suite("Node")
struct NodeTests {
    @Test("a write makes the maps on its way")
    func write() throws {
        var node = Node.absent
        node.set(Node(integer: 1), at: try path("a/b"))
        node.set(Node(string: "x"), at: try path("a/c"))
        #expect(node.text == #"{"a":{"b":1,"c":"x"}}"#)
        node.set(.absent, at: try path("a/b"))
        node.set(.absent, at: try path("a/c"))
        #expect(node.isAbsent)
    }

    @Test("a leaf that is written below becomes a map with the leaf's priority")
    func writeBelowLeaf() throws {
        var node = try Node(json: #"{"a":{".value":1,".priority":2}}"#)
        node.set(.absent, at: try path("a/b"))
        #expect(node.text == #"{"a":{".value":1,".priority":2}}"#)
        node.set(Node(true), at: try path("a/b"))
        #expect(node.text == #"{"a":{"b":true,".priority":2}}"#)
    }

    @Test("a priority stays when a child is written and goes when the node is replaced")
    func priorityOfMap() throws {
        var node = try Node(json: #"{"a":{"b":1,".priority":"p"},".priority":7}"#)
        node.set(Node(integer: 2), at: try path("a/b"))
        #expect(node.text == #"{"a":{"b":2,".priority":"p"},".priority":7}"#)
        node.setPriority(Node(integer: 3), at: try path("a/b"))
        node.setPriority(Node(integer: 3), at: try path("a/none"))
        #expect(
            node.text == #"{"a":{"b":{".value":2,".priority":3},".priority":"p"},".priority":7}"#
        )
        node.set(Node(integer: 5), at: try path("a"))
        node.setPriority(.absent, at: .root)
        #expect(node.text == #"{"a":5}"#)
    }
}
