import JSONTree
import TestSupport
import Testing

struct HashCase: Decodable, Sendable {
    let json: String
    let hash: String
}

/// A number, its IEEE bits, those that the JavaScript SDK's own function gives under Node.js, and the hash of a leaf
/// with these.
struct JavaScriptNumber: Decodable, Sendable {
    let number: Double
    let bits: String
    let sdk: String
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

    @Test("where every child has a priority the variant hashes in key order")
    func keyOrderVariant() throws {
        let all = try Node(
            json: #"{"a":{".value":1,".priority":2},"b":{".value":1,".priority":1}}"#
        )
        let same = try Node(
            json: #"{"a":{".value":1,".priority":2},"b":{".value":1,".priority":1},"c":1}"#
        )
        #expect(all.hash(.iOS) != all.hash())
        #expect(same.hash(.iOS) == same.hash())
    }

    @Test(
        "numbers have the bits that the JavaScript SDK computes, right and wrong",
        arguments: spec("javascript-numbers", of: JavaScriptNumber.self)
    )
    func javaScriptNumbers(row: JavaScriptNumber) throws {
        let bits = try #require(UInt64(row.bits, radix: 16))
        #expect(row.number.bitPattern == bits)
        #expect(row.number.bitsOfJavaScriptSDK == UInt64(row.sdk, radix: 16))
        #expect(row.number.isWrongByLogarithm || row.bits == row.sdk)
        let node = Node(double: row.number)
        #expect(node.hash(.javaScript) == row.hash)
        #expect(node.hash(like: row.hash) == row.hash)
        #expect(node.hash(like: node.hash()) == node.hash())
        #expect(node.hash(like: "another") == node.hash())
        // What a listener has must be this very data: two numbers share a hash of the SDK's.
        #expect(node.matches(hash: row.hash) == (row.bits == row.sdk))
    }

    @Test("a number within a map, and a priority, count as the JavaScript SDK hashes them")
    func javaScriptNodes() throws {
        let map = try Node(json: #"{"n":9007199254740991}"#)
        #expect(map.hash(like: "lRjMGsWOvYo/8kmWu76uoYIY3UE=") == "lRjMGsWOvYo/8kmWu76uoYIY3UE=")
        let leaf = try Node(json: #"{".value":9007199254740991,".priority":7.999999999999999}"#)
        #expect(leaf.hash(.javaScript) == "Gw0M5rw1nkfxE2xXlraerVBPTzw=")
        #expect(leaf.hash() != leaf.hash(.javaScript))
    }
}
