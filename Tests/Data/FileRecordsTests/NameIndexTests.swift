@testable import FileRecords
import TestSupport
import Testing

/// Names of many shapes, from few pieces, so that some meet.
func randomName(_ random: inout SeededGenerator) -> [UInt8] {
    let pieces = [
        "a", "b", "ab", "é", "e\u{301}", "😀", "", ".", "..", "t", "dir", "a.png", " ", "%2F",
    ]
    var name = ""
    repeat {
        name = (0...random.index(4)).map { _ in pieces[random.index(pieces.count)] }
            .joined(separator: random.index(5) == 0 ? "//" : "/")
        switch random.index(12) {
        case 0: name += String(repeating: "x", count: random.index(900))
        case 1: name += "/"
        case 2: name = "/" + name
        default: name += "\(random.index(40))"
        }
    } while (try? ObjectName(name)) == nil
    return Array(name.utf8)
}

@Suite("the index of names")
struct NameIndexTests {
    private static func all(_ index: NameIndex) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var position = index.position(atOrAfter: [])
        while let found = position {
            names.append(index.name(at: found))
            position = index.position(after: found)
        }
        return names
    }

    /// What must hold of its levels.
    private static func check(_ index: NameIndex) {
        #expect(index.groups.allSatisfy { (1...65).contains($0.pages.count) })
        for page in index.groups.flatMap(\.pages) {
            #expect(page.count > 0)
            #expect(page.count == 1 || page.bytes.count <= NamePage.byteLimit + 1024)
        }
    }

    @Test("is a sorted set after random insertions and removals", arguments: TestSeed.seeds(6))
    func twin(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var index = NameIndex()
        var twin: Set<[UInt8]> = []
        var (most, emptied) = (0, 0)
        for round in 0..<6 {
            // Grows, then shrinks, down to nothing now and then.
            for step in 0..<3_000 {
                let name =
                    step < 1_800 || twin.isEmpty
                    ? randomName(&random) : twin.randomElement(using: &random) ?? []
                let object = try ObjectName(utf8: name)
                if step < 1_800 || random.index(4) == 0 {
                    #expect(index.insert(object) == twin.insert(name).inserted)
                } else {
                    #expect(index.remove(object) == (twin.remove(name) != nil))
                }
                most = max(most, index.groups.first?.pages.count ?? 0)
            }
            Self.check(index)
            let sorted = twin.sorted { $0.lexicographicallyPrecedes($1) }
            #expect(Self.all(index) == sorted, "seed \(seed), round \(round)")
            #expect(index.count == twin.count)
            for _ in 0..<200 {
                let name = randomName(&random)
                let found = index.position(atOrAfter: name).map { index.name(at: $0) }
                #expect(found == sorted.first { !$0.lexicographicallyPrecedes(name) })
                #expect(index.contains(try ObjectName(utf8: name)) == twin.contains(name))
            }
            if round % 2 == 1 {
                for name in twin.shuffled(using: &random) {
                    #expect(index.remove(try ObjectName(utf8: name)))
                }
                twin = []
                emptied += 1
                #expect(
                    index.count == 0 && index.groups.isEmpty && index.position(atOrAfter: []) == nil
                )
            }
        }
        #expect(most > 10 && emptied == 3)
    }

    @Test(
        "takes names in any order, cuts and joins its levels",
        arguments: ["up", "down", "random"]
    )
    func orders(order: String) throws {
        var random = TestSeed.generator(81)
        let names = try (0..<30_000).map {
            try ObjectName("photos/2026/\($0 / 100)/\(String(repeating: "n", count: $0 % 60))\($0)")
        }
        let sorted = names.sorted()
        let given =
            switch order {
            case "up": sorted
            case "down": Array(sorted.reversed())
            default: names.shuffled(using: &random)
            }
        var index = NameIndex()
        for name in given { index.insert(name) }
        #expect(Self.all(index) == sorted.map(\.utf8))
        #expect(index.groups.count > 5)
        Self.check(index)
        let byteCount = sorted.reduce(0) { $0 + $1.utf8.count }
        // Beside the bytes of the names.
        let overhead = Double(index.memoryByteCount - byteCount) / Double(sorted.count)
        #expect(overhead < (order == "up" ? 12 : 45), "\(order): \(overhead)")
        let copy = index
        for name in sorted.dropFirst(100).dropLast(100) { index.remove(name) }
        #expect(Self.all(index) == (sorted.prefix(100) + sorted.suffix(100)).map(\.utf8))
        #expect(index.groups.count <= 2 && index.memoryByteCount < copy.memoryByteCount / 20)
        #expect(
            copy.count == 30_000 && Self.all(copy) == sorted.map(\.utf8),
            "a copy stays as it was"
        )
    }
}

@Suite("lists of names")
struct NameListTests {
    private static func index(_ names: some Sequence<[UInt8]>) throws -> NameIndex {
        var index = NameIndex()
        for name in names { index.insert(try ObjectName(utf8: name)) }
        return index
    }

    private static func query(_ random: inout SeededGenerator, _ names: [[UInt8]]) -> NameQuery {
        var query = NameQuery(random.index(2) == 0 ? .client : .server)
        func part() -> [UInt8] {
            let name = names[random.index(names.count)]
            return Array(name.prefix(random.index(name.count + 1)))
        }
        switch random.index(4) {
        case 0: break
        case 1: query.prefix = part()
        default:
            let name = names[random.index(names.count)]
            query.prefix = Array(name[...(name.lastIndex(of: 0x2F) ?? 0)])
        }
        query.delimiter = Array(["", "/", "/", "/", "t", "dir", "//", "é"][random.index(8)].utf8)
        query.limit = [1, 1, 2, 3, 7, 50, 1000][random.index(7)]
        if query.style == .server {
            if random.index(4) == 0 { query.start = part() }
            if random.index(4) == 0 { query.end = part() }
            query.includesTrailingDelimiter = random.index(2) == 0
        }
        return query
    }

    @Test("page by page show what looking at every name shows", arguments: TestSeed.seeds(1))
    func twin(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (pageCount, prefixCount, pendingCount, emptyCount) = (0, 0, 0, 0)
        for _ in 0..<40 {
            let names = Set((0..<(1 + random.index(300))).map { _ in randomName(&random) })
            let sorted = names.sorted { $0.lexicographicallyPrecedes($1) }
            let index = try Self.index(names)
            for _ in 0..<25 {
                var query = Self.query(&random, sorted)
                let wanted = NaiveNameList.entries(names, query)
                var shown: [NaiveNameList.Entry] = []
                repeat {
                    let page = index.list(query)
                    shown += page.entries
                    pageCount += 1
                    prefixCount += page.prefixes.count
                    if page.next?.kind == .prefixBeforeItem { pendingCount += 1 }
                    #expect(page.entries.count <= query.limit)
                    if page.next != nil { #expect(page.entries.count == query.limit) }
                    let text = page.next?.text
                    query.after = text.flatMap { PageToken($0) }
                    #expect((text == nil) == (query.after == nil))
                } while query.after != nil && shown.count <= wanted.count
                #expect(shown == wanted, "seed \(seed): \(query)")
                if wanted.isEmpty { emptyCount += 1 }
            }
        }
        #expect(pageCount > 4_000 && prefixCount > 1_000 && pendingCount > 10 && emptyCount > 10)
    }

    @Test("go on at their tokens while names come and go", arguments: TestSeed.seeds(1))
    func changes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var behindCount = 0
        for _ in 0..<60 {
            var names = Set((0..<150).map { _ in randomName(&random) })
            var index = try Self.index(names)
            var query = Self.query(&random, names.sorted { $0.lexicographicallyPrecedes($1) })
            query.limit = 1 + random.index(4)
            while let token = index.list(query).next {
                for _ in 0..<5 {
                    let name = randomName(&random)
                    if names.insert(name).inserted { index.insert(try ObjectName(utf8: name)) }
                    if let old = names.randomElement(using: &random), random.index(2) == 0 {
                        names.remove(old)
                        index.remove(try ObjectName(utf8: old))
                    }
                }
                query.after = token
                let wanted = NaiveNameList.entries(names, query, behind: token)
                #expect(
                    index.list(query).entries == Array(wanted.prefix(query.limit)),
                    "seed \(seed): \(query)"
                )
                behindCount += 1
                if behindCount % 40 == 0 { break }
            }
        }
        #expect(behindCount > 200)
    }

    @Test("pass over what lies below a prefix in one step")
    func steps() throws {
        var names: [[UInt8]] = []
        for folder in ["a/", "b/", "b//", "c/d/"] {
            names += (0..<5_000).map { Array("\(folder)\($0)".utf8) }
        }
        names.append(Array("z".utf8))
        let index = try Self.index(names)
        var query = NameQuery(.client)
        query.delimiter = Array("/".utf8)
        let root = index.list(query)
        #expect(root.prefixes == ["a/", "b/", "c/"] && root.items.map(\.text) == ["z"])
        #expect(root.stepCount == 4 && root.next == nil)
        query.prefix = Array("c/".utf8)
        #expect(index.list(query).stepCount == 1)
        // What no client can address is passed over in one step too.
        query = NameQuery(.client)
        query.prefix = Array("b/".utf8)
        query.limit = 10
        let page = index.list(query)
        #expect(page.items.first?.text == "b/0" && page.stepCount == 12)
    }

    @Test("end a page early where they leave out very many names, and go on")
    func longWay() throws {
        let count = FileLimits.listStepCount + 500
        let folders = (0..<count).map { Array("\($0)/".utf8) }
        let index = try Self.index(folders + [Array("~".utf8)])
        var query = NameQuery(.client)
        let first = index.list(query)
        #expect(first.items.isEmpty && first.stepCount == FileLimits.listStepCount)
        query.after = first.next
        let second = index.list(query)
        #expect(second.items.map(\.text) == ["~"] && second.next == nil)
    }

    @Test("take no token that no page has had")
    func tokens() {
        let token = PageToken(.prefix, Array("a/é".utf8))
        #expect(PageToken(token.text) == token)
        for text in [
            "", "x", "AQ", "AQA", "AgBh", "AQNh", "AQBh=", "AQBh+",
            String(repeating: "AQBh", count: 400),
        ] {
            #expect(PageToken(text) == nil, "\(text)")
        }
    }
}
