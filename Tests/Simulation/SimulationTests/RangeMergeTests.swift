import JSONTree
import SimulatedStorage
import Simulation
import TestSupport
import Testing
import WireProtocol

/// Data of a client and of the server, alike but for some edits.
private struct RandomData {
    var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(state: seed) }

    static let keys = [
        "!a", "-a", "-b", "-z", "1", "2", "10", "01", "-5", "a", "b", "c", "é", "z", "~\"", "\\",
    ]

    mutating func number(below bound: Int) -> Int { Int(random.next(below: bound)) }

    mutating func key() -> String { Self.keys[number(below: Self.keys.count)] }

    mutating func leaf() -> NaiveNode.Leaf {
        switch number(below: 6) {
        case 0: .boolean(number(below: 2) == 0)
        case 1: .number(Double(number(below: 9)) - 2.5)
        case 2: .string(String(repeating: "long \"text\" ", count: number(below: 40)))
        default: .string(["", "a", "b\\", "é😀"][number(below: 4)])
        }
    }

    mutating func priority() -> NaiveNode.Leaf? {
        switch number(below: 8) {
        case 0: .number(Double(number(below: 3)))
        case 1: .string("p")
        default: nil
        }
    }

    mutating func node(depth: Int) -> NaiveNode {
        var node = NaiveNode()
        if depth == 0 || number(below: 4) == 0 {
            node.leaf = leaf()
        } else {
            for _ in 0...number(below: 6) { node.children[key()] = self.node(depth: depth - 1) }
        }
        node.priority = priority()
        return node
    }

    /// Somewhere in `node`, mostly where something is.
    private mutating func path(in node: NaiveNode) -> NaivePath {
        var path: NaivePath = []
        var node = node
        while path.count < 4, number(below: 5) != 0 {
            let keys = node.children.keys.sorted()
            let key =
                keys.isEmpty || number(below: 5) == 0 ? key() : keys[number(below: keys.count)]
            path.append(key)
            node = node.children[key] ?? .absent
        }
        return path
    }

    mutating func edited(_ node: NaiveNode) -> NaiveNode {
        var node = node
        for _ in 0...number(below: 4) {
            let path = path(in: node)
            switch number(below: 6) {
            case 0: node.set(.absent, at: path)
            case 1, 2: node.setPriority(priority(), at: path)
            case 3: node.set(self.node(depth: 2), at: path)
            default: node.set(NaiveNode(leaf(), priority: priority()), at: path)
            }
        }
        return node
    }
}

extension NaiveNode {
    /// This node and `right` without the priorities that a client with `cache` cannot have hashed.
    fileprivate func isSame(as right: NaiveNode, for cache: NaiveNode) -> Bool {
        var (left, right) = (self, right)
        let isUnseen = cache.children.keys.allSatisfy { Self.isBeforePriority($0) }
        if cache.priority != nil, cache.leaf == nil, isUnseen {
            left.priority = nil
            right.priority = nil
        }
        guard left.leaf == right.leaf, left.priority == right.priority,
            Set(left.children.keys) == Set(right.children.keys)
        else { return false }
        return left.children.allSatisfy { key, child in
            child.isSame(as: right.children[key] ?? .absent, for: cache.children[key] ?? .absent)
        }
    }

    private static func isBeforePriority(_ key: String) -> Bool {
        Int32(key) != nil || key.utf16.lexicographicallyPrecedes(".priority".utf16)
    }
}

/// What the comparisons of one history came to.
private struct Outcomes {
    var same = 0, different = 0, ranges = 0, rangesOfSeveral = 0, exact = 0
}

@Suite("Compound hashes and range merges")
struct RangeMergeTests {
    @Test(
        "a client with any data has the server's after the ranges that differ",
        arguments: Soak.halfOfSeeds
    )
    func differences(seed: UInt64) throws {
        var data = RandomData(seed: seed)
        var outcomes = Outcomes()
        for round in 0..<60 {
            let cache = data.node(depth: 4)
            var server = data.edited(cache)
            if data.number(below: 20) == 0 { server = data.node(depth: 3) }
            let length = [0, 20, 60, 200][data.number(below: 4)]
            let compound =
                data.number(below: 4) == 0
                ? NaiveCompoundHash(of: cache)
                : NaiveCompoundHash(of: cache, splitLength: length)
            let place = "seed \(seed), round \(round)"
            try compare(cache, compound, server, &data, &outcomes, place)
        }
        #expect(outcomes.ranges > 15, "seed \(seed)")
        #expect(outcomes.rangesOfSeveral > 3, "seed \(seed)")
        #expect(outcomes.exact > outcomes.ranges * 3 / 4, "seed \(seed)")
    }

    /// Data of a client, data of the server, and the ranges that make one of the other.
    @Test(
        "parts that differ are sent with all that clients need to apply them",
        arguments: [
            (
                #"{"a":1,"b":2,"c":3,"d":4}"#, #"{"a":1,"b":5,"c":3}"#,
                #"[{"s":"a","e":"b","m":{"b":5}},{"s":"c","e":"d","m":null}]"#
            ),
            // Neighbours make one range.
            (
                #"{"a":1,"b":2,"c":3,"d":4}"#, #"{"a":1,"b":5,"c":6,"d":4}"#,
                #"[{"s":"a","e":"c","m":{"b":5,"c":6}}]"#
            ),
            (#"{"a":1,"b":2}"#, #"{"a":1,"b":2,"c":3}"#, #"[{"s":"b","m":{"c":3}}]"#),
            (#"{"a":1,"b":2}"#, #"{"0":1,"a":1,"b":2}"#, #"[{"e":"a","m":{"0":1,"a":1}}]"#),
            (
                #"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":1,"bb":5,"c":2},"d":3}"#,
                #"[{"s":"a/b","e":"a/c","m":{"a":{"bb":5,"c":2}}}]"#
            ),
            (
                #"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":1},"d":3}"#,
                #"[{"s":"a/b","e":"a/c","m":null}]"#
            ),
            (
                #"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":"leaf","d":3}"#,
                #"[{"e":"a/c","m":{"a":"leaf"}}]"#
            ),
            (
                #"{"a":"leaf","d":3,"e":4}"#, #"{"a":{"b":1,"c":2},"d":3,"e":4}"#,
                #"[{"e":"d","m":{"a":{"b":1,"c":2},"d":3}}]"#
            ),
            // Clients take the priority of the leaf at the start for a child, so it goes along.
            (
                #"{"a":{".value":1,".priority":2},"b":3}"#,
                #"{"a":{".value":1,".priority":2},"b":4}"#,
                #"[{"s":"a","e":"b","m":{"a":{".priority":2,".value":1},"b":4}}]"#
            ),
            // The priority of a map goes with one of its children.
            (
                #"{"a":1,"p":{"-x":1,".priority":2,"y":1},"q":1}"#,
                #"{"a":1,"p":{"-x":1,".priority":3,"y":1},"q":1}"#,
                #"[{"s":"p/-x","e":"p/y","m":{"p":{".priority":3,"y":1}}}]"#
            ),
            (
                #"{"a":1,"p":{"-x":1},"q":1}"#, #"{"a":1,"p":{"-x":1,".priority":3},"q":1}"#,
                #"[{"s":"a","e":"q","m":{"p":{"-x":1,".priority":3},"q":1}}]"#
            ),
        ]
    )
    func ranges(cache: String, server: String, ranges: String) throws {
        let cache = NaiveNode(try JSONText(Array(cache.utf8)))
        let server = NaiveNode(try JSONText(Array(server.utf8)))
        let compound = NaiveCompoundHash(of: cache, splitLength: 0)
        let node = try Node(json: server.json.text)
        guard case .ranges(let merges) = try hash(of: cache, compound).compare(with: node) else {
            Issue.record("no ranges were found")
            return
        }
        let text = ServerMessage.rangeMerge(.root, merges, tag: nil).encoded()
        let found = try JSONText(text)["d"]?["b"]?["d"]
        #expect(found == (try JSONText(Array(ranges.utf8))), "\(found?.text ?? "")")
        var result = cache
        var random = SplitMix64(state: TestSeed.first)
        if case .array(let items)? = found {
            for item in items { result = NaiveRangeMerge(item).applied(to: result, &random) }
        }
        #expect(result == server)
    }

    private func compare(
        _ cache: NaiveNode,
        _ compound: NaiveCompoundHash,
        _ server: NaiveNode,
        _ data: inout RandomData,
        _ outcomes: inout Outcomes,
        _ place: String
    ) throws {
        let node = try Node(json: server.json.text)
        switch try hash(of: cache, compound).compare(with: node) {
        case .same:
            outcomes.same += 1
            #expect(cache == server, "\(place)")
        case .different:
            outcomes.different += 1
        case .ranges(let merges):
            outcomes.ranges += 1
            if merges.count > 1 { outcomes.rangesOfSeveral += 1 }
            let text = ServerMessage.rangeMerge(.root, merges, tag: nil).encoded()
            guard case .array(let ranges)? = try JSONText(text)["d"]?["b"]?["d"] else {
                Issue.record("\(place): \(String(decoding: text, as: UTF8.self))")
                return
            }
            var result = cache
            for range in ranges {
                result = NaiveRangeMerge(range).applied(to: result, &data.random)
            }
            if result == server { outcomes.exact += 1 }
            #expect(
                result.isSame(as: server, for: cache),
                """
                \(place): \(result.difference(from: server) ?? "")
                \(cache.json.text)
                \(server.json.text)
                \(compound.ends)
                \(String(decoding: text, as: UTF8.self))
                """
            )
        }
    }

    /// As the server's reader has it.
    private func hash(of cache: NaiveNode, _ compound: NaiveCompoundHash) throws -> ListenHash {
        let hash = try Node(json: cache.json.text).hash()
        let body = #"{"p":"/","h":"\#(hash)","ch":\#(compound.json.text)}"#
        let text = #"{"t":"d","d":{"r":1,"a":"q","b":\#(body)}}"#
        guard
            case .request(let request) = try ClientMessage.parse(Array(text.utf8)),
            case .listen(_, _, let hash?) = request.action
        else {
            throw SimulationFault("the server cannot read \(text)")
        }
        return hash
    }
}
