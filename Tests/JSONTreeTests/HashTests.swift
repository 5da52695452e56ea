import JSONTree
import Testing

struct HashCase: Decodable, Sendable {
    let json: String
    let hash: String
}

@Suite("Node hash")
struct HashTests {
    @Test(
        "a node hashes to what the official data model computes",
        arguments: spec("hashes", of: HashCase.self)
    )
    func vectors(testCase: HashCase) throws {
        #expect(try Node(json: testCase.json).hash() == testCase.hash)
    }

    @Test(
        "a value read from text is written as the same text",
        arguments: spec("hashes", of: HashCase.self)
    )
    func roundTrip(testCase: HashCase) throws {
        let node = try Node(json: testCase.json)
        #expect(try Node(json: node.text) == node)
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        #expect(try bytes.withBytes { try Node(decoding: $0) } == node)
    }

    @Test("a hash that needs more nodes than allowed is not computed")
    func stepLimit() throws {
        let node = try Node(json: #"{"a":1,"b":{"c":"x"}}"#)
        #expect(node.hash(stepLimit: 3) == nil)
        #expect(node.hash(stepLimit: 4) == "ysk3YQgEFZBh3N6ot97Ywoub98Q=")
    }

    @Test("where every child has a priority the variant hashes in key order")
    func keyOrderVariant() throws {
        let all = try Node(
            json: #"{"a":{".value":1,".priority":2},"b":{".value":1,".priority":1}}"#
        )
        let same = try Node(
            json: #"{"a":{".value":1,".priority":2},"b":{".value":1,".priority":1},"c":1}"#
        )
        #expect(all.hash(.key) != all.hash())
        #expect(same.hash(.key) == same.hash())
    }
}
