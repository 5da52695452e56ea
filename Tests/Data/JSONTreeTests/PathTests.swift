import JSONTree
import TestSupport
import Testing

@Suite("Paths")
struct PathTests {
    @Test(
        "empty pieces of a path are dropped",
        arguments: [
            ("", "/"), ("/", "/"), ("//", "/"), ("a", "/a"), ("/a/b", "/a/b"), ("a//b/", "/a/b"),
            ("/é/😀", "/é/😀"), (" /a", "/ /a"),
        ]
    )
    func pieces(text: String, description: String) throws {
        #expect(try Path(text).description == description)
        #expect(try Path(text) == Path(try Path(text).wireText))
    }

    @Test("a path of 33 keys is refused, one of 32 taken")
    func depth() throws {
        #expect(try Path(String(repeating: "/a", count: 32)).keyCount == 32)
        let error = #expect(throws: PathError.self) { try Path(String(repeating: "/a", count: 33)) }
        #expect(error == .tooDeep(keyCount: 33))
    }

    @Test(
        "a character that no key may hold is refused where it is",
        arguments: [".", "#", "$", "[", "]", "\u{0}", "\u{1F}", "\u{7F}"]
    )
    func forbidden(character: String) {
        let error = #expect(throws: PathError.self) { try Path("/ab/c\(character)") }
        #expect(error == .forbiddenCharacter(Array(character.utf8)[0], offset: 5))
        #expect(throws: PathError.self) { try Key("a\(character)") }
    }

    @Test("bytes that are not UTF-8 are no path")
    func encoding() {
        let error = #expect(throws: PathError.self) { try Path(utf8: [0x61, 0x2F, 0xFF]) }
        #expect(error == .invalidUTF8)
        #expect(throws: PathError.self) { try Key(utf8: []) }
        #expect(throws: PathError.self) { try Key("a/b") }
    }

    @Test("paths are taken apart and put together")
    func parts() throws {
        let path = try Path("a/bb/ccc/dddd")
        #expect(path.prefix(2).description == "/a/bb")
        #expect(path.dropFirst(2).description == "/ccc/dddd")
        #expect(path.prefix(2).appending(path.dropFirst(2)) == path)
        #expect(path.parent == path.prefix(3))
        #expect(path.lastKey?.string == "dddd")
        #expect(path.prefix(1).appending(try Key("bb")) == path.prefix(2))
        #expect(Path.root.parent == nil)
        #expect(Path.root.appending(path) == path)
        #expect(Path((0..<4).map { path.key(at: $0) }) == path)
        #expect(path.dropFirst(4) == .root)
    }

    @Test("a path is a prefix of itself and of what lies below it, not of its neighbours")
    func prefixes() throws {
        let path = try Path("a/b")
        #expect(path.isPrefix(of: path))
        #expect(path.isPrefix(of: try Path("a/b/c")))
        #expect(Path.root.isPrefix(of: path))
        #expect(!path.isPrefix(of: try Path("a")))
        #expect(!path.isPrefix(of: try Path("a/bc")))
        #expect(!path.isPrefix(of: try Path("ab")))
        #expect(try Path("ab/c") != Path("a/bc"))
    }

    @Test("paths sort key by key, a prefix first")
    func order() throws {
        let texts = ["", "2", "10", "10/z", "a", "a/1", "a/b", "a/b/c", "a-", "b"]
        let paths = try texts.map { try Path($0) }
        var random = TestSeed.generator(1)
        #expect(paths.shuffled(using: &random).sorted() == paths)
    }

    @Test("the priority of a node is named last in a path and nowhere else")
    func targets() throws {
        let target = try WriteTarget("/a/b/.priority")
        #expect(target.isPriority)
        #expect(target.path == (try Path("a/b")))
        #expect(target.description == "/a/b/.priority")
        #expect(try WriteTarget(".priority").path.isRoot)
        #expect(throws: PathError.self) { try WriteTarget("/a/.priority/b") }
        #expect(throws: PathError.self) { try WriteTarget("/a/.value") }
        #expect(throws: PathError.self) { try Path("/a/.priority") }
    }

    @Test("a node's write covers its priority and all below, a priority only itself")
    func covering() throws {
        let node = try WriteTarget("a")
        let priority = try WriteTarget("a/.priority")
        let child = try WriteTarget("a/b")
        #expect(node.isAncestorOrEqual(of: priority))
        #expect(node.isAncestorOrEqual(of: child))
        #expect(priority.isAncestorOrEqual(of: priority))
        #expect(!priority.isAncestorOrEqual(of: child))
        #expect(!priority.isAncestorOrEqual(of: node))
        #expect([child, priority, node].sorted() == [node, priority, child])
    }
}

@Suite("Push ids")
struct PushIDTests {
    @Test("keys rise with time, within a millisecond and when the clock steps back")
    func rising() {
        var generator = PushIDGenerator(seed: 7)
        var times: [Int64] = Array(repeating: 1_700_000_000_000, count: 200)
        times += [1_700_000_000_001, 1_600_000_000_000, 1_700_000_000_001, 1_700_000_000_002]
        let keys = times.map { generator.next(now: Timestamp(milliseconds: $0)) }
        #expect(keys == keys.sorted())
        #expect(Set(keys).count == keys.count)
        #expect(keys.allSatisfy { $0.utf8.count == 20 })
    }

    @Test("the first eight characters are the time")
    func time() {
        var generator = PushIDGenerator(seed: 1)
        let zero = generator.next(now: Timestamp(milliseconds: 0))
        #expect(zero.string.hasPrefix("--------"))
        // 64 + 1 milliseconds: digits 1 and 1.
        #expect(generator.next(now: Timestamp(milliseconds: 65)).string.hasPrefix("------00"))
    }

    @Test("equal seeds give equal keys, others do not")
    func seeds() {
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        let keys = ([1, 1, 2] as [UInt64]).map { seed in
            var generator = PushIDGenerator(seed: seed)
            return generator.next(now: now)
        }
        #expect(keys[0] == keys[1])
        #expect(keys[0] != keys[2])
    }
}
