@testable import JSONTree
import Testing

/// What the tree looks like in memory: what is copied, cut, joined and shared.
@Suite("Shape of the tree")
struct ShapeTests {
    /// Every block of a node, by identity.
    private func blocks(of node: Node) -> [ObjectIdentifier: Block] {
        var found: [ObjectIdentifier: Block] = [:]
        func visit(_ block: Block) {
            found[ObjectIdentifier(block)] = block
            for index in 0..<block.referenceCount { visit(block.reference(index)) }
        }
        if case .packed(let block, _) = node.storage { visit(block) }
        return found
    }

    private func message(_ number: Int) throws -> Node {
        try Node(
            json: #"{"content":"\#(String(repeating: "x", count: 40))","timestamp":\#(number)}"#
        )
    }

    private func chat(_ count: Int) throws -> Node {
        var node = Node.absent
        for number in 0..<count {
            node.set(try message(number), at: try Path("messages/m\(100_000 + number)"))
        }
        return node
    }

    @Test("a write to an unshared tree keeps its branches in place")
    func inPlace() throws {
        var node = try chat(3_000)
        let before = Set(blocks(of: node).filter { $0.value.isBranch }.keys)
        #expect(before.count > 5)
        node.set(try message(-1), at: try Path("messages/m101500"))
        node.set(Node(true), at: try Path("messages/m100007/seen"))
        let after = Set(blocks(of: node).filter { $0.value.isBranch }.keys)
        #expect(after == before)
    }

    @Test("a write to a shared tree copies only the blocks on its way")
    func copyOnWrite() throws {
        var node = try chat(3_000)
        let old = node
        let before = blocks(of: old)
        node.set(try message(-1), at: try Path("messages/m101500"))
        let fresh = blocks(of: node).filter { before[$0.key] == nil }
        let height = fresh.values.map(\.height).max() ?? 0
        // The root's page, one branch a level, one page.
        #expect(fresh.count == 1 + height + 1)
        #expect(height >= 2)
        #expect(old.descendant(at: try Path("messages/m101500/timestamp")).integer == 1500)
        #expect(node.descendant(at: try Path("messages/m101500/timestamp")).integer == -1)
    }

    @Test("a page refers to no more blocks than a branch does, however it came about")
    func references() throws {
        var node = Node.absent
        for number in 0..<6_000 {
            let path = try Path("users/u\(number * 7 % 200)/m\(number)")
            node.set(try message(number), at: path)
        }
        for tree in [node, try Node(json: node.json())] {
            let counts = blocks(of: tree).values.map(\.referenceCount)
            let most = counts.max() ?? 0
            #expect(most > 8)
            #expect(most <= Size.fanOut)
            #expect(tree == node)
        }
    }

    @Test("appended keys leave full pages behind")
    func appended() throws {
        let pages = blocks(of: try chat(3_000)).values.filter { $0.height == 0 && $0.isMap }
        let full = pages.filter { $0.byteCount > Size.page * 9 / 10 }
        #expect(full.count > pages.count * 9 / 10)
    }

    @Test("pages are joined when most children are removed")
    func joined() throws {
        var node = try chat(3_000)
        let before = blocks(of: node).count
        for number in 0..<3_000 where !number.isMultiple(of: 20) {
            node.set(.absent, at: try Path("messages/m\(100_000 + number)"))
        }
        #expect(node.child(try Key("messages")).childCount == 150)
        #expect(blocks(of: node).count < before / 6)
        for number in 0..<3_000 {
            node.set(.absent, at: try Path("messages/m\(100_000 + number)"))
        }
        #expect(node.isAbsent)
    }

    @Test("text is cut into the same kind of tree as single writes make")
    func bulk() throws {
        let node = try chat(3_000)
        let read = try Node(json: node.json(.export))
        #expect(read == node)
        #expect(blocks(of: read).count <= blocks(of: node).count * 11 / 10)
    }

    @Test("a difference skips what is shared")
    func differences() throws {
        let old = try chat(3_000).child(try Key("messages"))
        var new = old
        new.set(.absent, at: try Path("m100000"))
        new.set(try message(7), at: try Path("m101000"))
        new.set(try message(8), at: try Path("m999999"))
        var seen: [String] = []
        Node.visitDifferences(old, new) { key, a, b in
            seen.append("\(key.string) \(a.isAbsent) \(b.isAbsent)")
            return true
        }
        #expect(seen == ["m100000 false true", "m101000 false false", "m999999 true false"])
        seen = []
        Node.visitDifferences(old, new) { key, _, _ in
            seen.append(key.string)
            return false
        }
        #expect(seen == ["m100000"])
    }

    @Test("writing below a long string with a block of its own makes a map of it")
    func writeBelowLongString() throws {
        var node = Node.absent
        node.set(Node(string: String(repeating: "s", count: 3_000)), at: try Path("a/b"))
        node.set(Node(string: String(repeating: "t", count: 3_000)), at: try Path("a/c"))
        let old = node
        node.set(Node(integer: 1), at: try Path("a/b/x"))
        #expect(node.descendant(at: try Path("a/b")).text == #"{"x":1}"#)
        #expect(node.descendant(at: try Path("a/c")).string?.utf8.count == 3_000)
        #expect(old.descendant(at: try Path("a/b")).string?.utf8.count == 3_000)
    }

    @Test("scratch memory that grows keeps what is being copied behind its used part")
    func growingScratch() throws {
        for length in stride(from: 900, to: 1_200, by: 7) {
            let text = String(repeating: "é\\n", count: length / 3)
            let members = (0..<3).map { #""k\#(9 - $0)":"\#(text)""# }.joined(separator: ",")
            let node = try Node(json: "{\(members),\"a\":null}")
            let expected = String(repeating: "é\n", count: length / 3)
            for key in ["k7", "k8", "k9"] { #expect(node.child(try Key(key)).string == expected) }
        }
    }

    @Test("an entry with a long priority and a long value refers to both blocks")
    func twoReferences() throws {
        let (long, longer) = (
            String(repeating: "p", count: 700), String(repeating: "v", count: 900)
        )
        var node = Node.absent
        for number in 0..<12 {
            let value = Node(string: longer + "\(number)").settingPriority(
                Node(string: long + "\(number)")
            )
            node.set(value, at: try Path("k\(number)"))
        }
        node.set(.absent, at: try Path("k3"))
        node.set(Node(true), at: try Path("k5"))
        node.setPriority(.absent, at: try Path("k7"))
        node.setPriority(Node(string: long), at: try Path("k5"))
        for number in [0, 4, 8, 11] {
            let child = node.child(try Key("k\(number)"))
            #expect(child.string == longer + "\(number)")
            #expect(child.priority.string == long + "\(number)")
        }
        #expect(node.child(try Key("k7")).priority.isAbsent)
        #expect(node.child(try Key("k7")).string == longer + "7")
        #expect(node.child(try Key("k5")).priority.string == long)
        #expect(try Node(json: node.text) == node)
        let detached = node.child(try Key("k4")).detached()
        #expect(detached == node.child(try Key("k4")))
    }

    @Test("a detached node keeps no page alive")
    func detached() throws {
        let node = try chat(100)
        let child = node.descendant(at: try Path("messages/m100050"))
        let copy = child.detached()
        #expect(copy == child)
        #expect(blocks(of: copy).values.map(\.byteCount).reduce(0, +) < 120)
        #expect(blocks(of: child).values.map(\.byteCount).reduce(0, +) > 1_000)
        let text = child.child(try Key("content")).detached()
        #expect(blocks(of: text).values.map(\.byteCount) == [42])
    }

    @Test("equal nodes with different histories are equal")
    func equality() throws {
        let forward = try chat(500)
        var backward = Node.absent
        for number in (0..<500).reversed() {
            backward.set(try message(number), at: try Path("messages/m\(100_000 + number)"))
        }
        #expect(forward == backward)
        #expect(!forward.isIdentical(to: backward))
        #expect(forward.hash() == backward.hash())
        backward.set(try message(3), at: try Path("messages/m100004"))
        #expect(forward != backward)
        // The same map once embedded, once still in a block of its own after it shrank.
        var shrunk = Node.absent
        for number in 0..<30 {
            shrunk.set(Node(string: "0123456789abcdef"), at: try Path("m/k\(number)"))
        }
        for number in 14..<30 { shrunk.set(.absent, at: try Path("m/k\(number)")) }
        #expect(try Node(json: shrunk.text) == shrunk)
    }

    @Test("releasing a tree as deep as an encoding may be does not exhaust the stack")
    func deepRelease() throws {
        var node = Node(string: String(repeating: "x", count: 600))
        for _ in 0..<Limits.encodingDepth - 1 {
            var parent = Node.absent
            parent.set(node, at: try Path("k"))
            node = parent
        }
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        node = try bytes.withBytes { try Node(decoding: $0) }
        #expect(node.depth == Limits.encodingDepth - 1)
        node = .absent
        var deeper = try bytes.withBytes { try Node(decoding: $0) }
        for _ in 0..<2 {
            var parent = Node.absent
            parent.set(deeper, at: try Path("k"))
            deeper = parent
        }
        bytes = []
        deeper.appendEncoding(to: &bytes)
        #expect(throws: NodeDecodingError.self) { try bytes.withBytes { try Node(decoding: $0) } }
    }

    @Test("snapshots are read on other threads while the tree is written")
    func threads() async throws {
        var node = try chat(400)
        let results = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                let snapshot = node
                let expected = snapshot.hash()
                group.addTask {
                    var bytes: [UInt8] = []
                    snapshot.appendEncoding(to: &bytes)
                    let read = bytes.withBytes { try? Node(decoding: $0) }
                    return read?.hash() == expected && snapshot.hash() == expected
                }
                for step in 0..<50 {
                    let path = Path([
                        Key(unchecked: Array("messages".utf8)),
                        Key(unchecked: Array("m\(100_000 + number * 50 + step)".utf8)),
                    ])
                    node.set(
                        step.isMultiple(of: 3) ? .absent : Node(integer: Int64(step)),
                        at: path
                    )
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == Array(repeating: true, count: 8))
    }
}
