import JSONTree
import TestSupport
import Testing

struct IntervalHashCase: Decodable, Sendable {
    let json: String
    let ends: [String]
    /// What is hashed, for people: each is the SHA-1 of such a text.
    let texts: [String]
    let hashes: [String]
    let joined: [Bool]
}

struct RestrictedCase: Decodable, Sendable {
    let json: String
    let start: String?
    let end: String?
    let part: String
}

@Suite("Intervals of leaves")
struct IntervalHashTests {
    @Test(
        "each interval hashes to what clients hash of the same leaves",
        arguments: spec("interval-hashes", of: IntervalHashCase.self)
    )
    func vectors(testCase: IntervalHashCase) throws {
        let ends = try testCase.ends.map { try WriteTarget($0) }
        let found = try Node(json: testCase.json).intervalHashes(endingAt: ends)
        #expect(found.hashes == testCase.hashes)
        #expect(found.isJoined == testCase.joined)
        #expect(!found.hasForeignOrder)
    }

    @Test(
        "a part holds the leaves of its interval alone",
        arguments: spec("restricted", of: RestrictedCase.self)
    )
    func restricted(testCase: RestrictedCase) throws {
        let interval = LeafInterval(
            after: try testCase.start.map { try WriteTarget($0) },
            through: try testCase.end.map { try WriteTarget($0) }
        )
        #expect(try Node(json: testCase.json).restricted(to: interval).text == testCase.part)
    }

    @Test("a text longer than what is kept of it has the same hash in one part as in pieces")
    func longTexts() throws {
        var node = Node.absent
        let quotes = String(repeating: "\"\\", count: 30_000)
        for index in 0..<2_000 {
            node.set(Node(integer: Int64(index)), at: try Path("numbers/n\(index)"))
        }
        node.set(Node(string: quotes), at: try Path("quotes"))
        node.set(Node(string: String(repeating: "x", count: 100_000)), at: try Path("text"))
        let ends = try ["numbers/n1", "numbers/n700", "quotes"].map { try WriteTarget($0) }
        let hashes = node.intervalHashes(endingAt: ends).hashes
        let bounds = [nil] + ends + [nil]
        for (index, hash) in hashes.enumerated() {
            let interval = LeafInterval(after: bounds[index], through: bounds[index + 1])
            let part = node.restricted(to: interval)
            #expect(part.intervalHashes(endingAt: []).hashes == [hash])
        }
        // SHA-1 of the text, computed elsewhere.
        #expect(hashes[2] == "vMX2W05Zf9QcAR5MoFy9Zr4fpEk=")
    }

    @Test("a key that clients take for text although it is a number is noticed")
    func foreignOrder() throws {
        for (key, isForeign) in [
            ("-2147483648", false), ("00000000001", false), ("000000000001", true),
            ("-00000000001", true), ("000000000001x", false), ("99999999999999", false),
        ] {
            let hashes = try Node(json: #"{"a":{"\#(key)":1}}"#).intervalHashes(endingAt: [])
            #expect(hashes.hasForeignOrder == isForeign, "\(key)")
        }
    }

    @Test("a map's priority behind all of its keys, which clients leave out, is noticed")
    func unseenPriority() throws {
        for (json, isUnseen) in [
            (#"{"1":1,".priority":5}"#, true), (#"{"a":{"-k":1,".priority":5},"b":2}"#, true),
            (#"{"-k":1,"a":2,".priority":5}"#, false), (#"{".value":1,".priority":5}"#, false),
        ] {
            let hashes = try Node(json: json).intervalHashes(endingAt: [])
            #expect(hashes.hasUnseenPriority == isUnseen, "\(json)")
        }
    }

    @Test("leaves come in key order, `.priority` among the keys, a place before those below it")
    func leafOrder() throws {
        let order = [
            "", "2", "10", "!a", "-k", "-k/.priority", "-k/a", ".priority", "a", "a/-b",
            "a/.priority", "a/b", "a/b/c", "b",
        ]
        for (index, first) in order.enumerated() {
            for (other, second) in order.enumerated() {
                let isBefore = try WriteTarget(first).precedesAsLeaf(try WriteTarget(second))
                #expect(isBefore == (index < other), "\(first) and \(second)")
            }
        }
    }
}
