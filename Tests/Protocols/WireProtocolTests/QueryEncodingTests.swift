import JSONTree
import Queries
import TestSupport
import Testing

@testable import WireProtocol

private func read(_ query: [UInt8]) throws -> ListenTarget {
    let json =
        Array(#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/a","q":"#.utf8) + query + Array("}}}".utf8)
    guard case .request(let request) = try ClientMessage.parse(json),
        case .get(let target) = request.action
    else { throw MessageError.wrongType(member: "q") }
    return target
}

private func randomBound(_ random: inout SeededGenerator, _ index: QuerySpec.Index) -> QuerySpec
    .Bound?
{
    if random.index(3) == 0 { return nil }
    let texts = ["", "k", "a\"b\\", "é😀", "10"]
    let text = Node(string: texts[random.index(texts.count)])
    let isInclusive = random.index(2) == 0
    if index == .key { return QuerySpec.Bound(value: text, isInclusive: isInclusive) }
    let values = [
        .absent, Node(false), Node(true), Node(integer: 5), Node(double: -0.0), Node(double: 1e21),
        Node(double: 0.1), Node(integer: .max), text,
    ]
    let keys: [QuerySpec.BoundKey?] = [nil, .minimum, .maximum, .key(Array("k.x".utf8)), .key([])]
    return QuerySpec.Bound(
        value: values[random.index(values.count)],
        key: keys[random.index(keys.count)],
        isInclusive: isInclusive
    )
}

@Test(
    "a query that is encoded reads back as an equal query with the same text",
    arguments: TestSeed.seeds(20)
)
func queriesReadBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
        let indexes: [QuerySpec.Index] = [
            .key, .value, .priority, .child(try Path("n")), .child(try Path("a b/c\"d/é")),
        ]
        let index = indexes[random.index(indexes.count)]
        let spec = QuerySpec(
            index: index,
            start: randomBound(&random, index),
            end: randomBound(&random, index),
            limit: random.index(2) == 0 ? nil : 1 + random.index(1_000),
            side: random.index(2) == 0 ? .first : .last
        )
        let target = ListenTarget(exactly: spec, at: try Path("a"))
        guard let text = spec.wireText else {
            #expect(spec == .everything, "seed \(seed)")
            continue
        }
        let words = String(decoding: text, as: UTF8.self)
        let back = try read(text)
        #expect(back.query == spec, "seed \(seed): \(words)")
        #expect(back == target, "seed \(seed): \(words)")
    }
}

private let five = Node(integer: 5)

private let textCases: [(spec: QuerySpec, text: String)] = [
    (QuerySpec(index: .key), #"{"i":".key"}"#),
    (QuerySpec(limit: 3), #"{"l":3,"vf":"l"}"#),
    (QuerySpec(start: QuerySpec.Bound(value: .absent)), #"{"sp":null}"#),
    (
        QuerySpec(start: QuerySpec.Bound(value: five, key: .maximum, isInclusive: false)),
        #"{"sin":false,"sn":"[MAX_NAME]","sp":5}"#
    ),
    (
        QuerySpec(
            index: .child(Path([Key(unchecked: [0x61]), Key(unchecked: [0x62])])),
            end: QuerySpec.Bound(value: five, key: .minimum, isInclusive: false),
            limit: 2,
            side: .last
        ),
        #"{"ein":false,"en":"[MIN_NAME]","ep":5,"i":"a/b","l":2,"vf":"r"}"#
    ),
]

@Test("query objects have the texts that official servers take", arguments: textCases)
func queryTexts(spec: QuerySpec, text: String) throws {
    #expect(String(decoding: try #require(spec.wireText), as: UTF8.self) == text)
}

@Test("an order without bounds or a limit is a plain listen")
func plainListens() throws {
    let byKey = QuerySpec(index: .key)
    let path = try Path("a")
    #expect(ListenTarget(byKey, at: path) == ListenTarget(path: path))
    #expect(ListenTarget(byKey, at: path).query == .everything)
    #expect(ListenTarget(exactly: byKey, at: path) != ListenTarget(path: path))
    #expect(ListenTarget(exactly: .everything, at: path) == ListenTarget(path: path))
}
