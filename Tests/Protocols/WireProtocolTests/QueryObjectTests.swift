import JSONTree
import Queries
import Testing

@testable import WireProtocol

private typealias Bound = QuerySpec.Bound

private func target(_ query: String) throws -> ListenTarget {
    let json = #"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/a","q":\#(query)}}}"#
    guard case .request(let request) = try ClientMessage.parse(Array(json.utf8)),
        case .get(let target) = request.action
    else {
        Issue.record("refused: \(words(json))")
        return ListenTarget(path: .root)
    }
    return target
}

private func by(_ text: String) -> QuerySpec.Index {
    .child(Path(text.split(separator: "/").map { Key(unchecked: Array($0.utf8)) }))
}

private func key(_ text: String) -> QuerySpec.BoundKey { .key(Array(text.utf8)) }

private let five = Node(integer: 5)

let queryCases: [(query: String, spec: QuerySpec)] = [
    ("{}", .everything),
    ("null", .everything),
    (#"{"i":".priority"}"#, .everything),
    (#"{"i":".key"}"#, QuerySpec(index: .key)),
    (#"{"i":".value"}"#, QuerySpec(index: .value)),
    (#"{"i":"n"}"#, QuerySpec(index: by("n"))),
    (#"{"i":"a/b"}"#, QuerySpec(index: by("a/b"))),
    (#"{"l":3,"vf":"l"}"#, QuerySpec(limit: 3)),
    (#"{"l":3,"vf":"r"}"#, QuerySpec(limit: 3, side: .last)),
    // Without `vf` the limit keeps the start if there is one, else the end.
    (#"{"l":3}"#, QuerySpec(limit: 3, side: .last)),
    (#"{"l":3,"ep":5}"#, QuerySpec(end: Bound(value: five), limit: 3, side: .last)),
    (#"{"l":3,"sp":5}"#, QuerySpec(start: Bound(value: five), limit: 3)),
    (#"{"vf":"r"}"#, .everything),
    (#"{"l":9223372036854775807}"#, QuerySpec(limit: .max, side: .last)),
    (#"{"l":3.0}"#, QuerySpec(limit: 3, side: .last)),
    // Null is a bound, a missing member is not.
    (#"{"sp":null}"#, QuerySpec(start: Bound(value: .absent))),
    (#"{"ep":null}"#, QuerySpec(end: Bound(value: .absent))),
    (#"{"sn":"k"}"#, .everything),
    (
        #"{"sp":true,"ep":"x"}"#,
        QuerySpec(start: Bound(value: Node(true)), end: Bound(value: Node(string: "x")))
    ),
    (
        #"{"sp":5,"sn":"k","ep":5,"en":"k","i":"n"}"#,
        QuerySpec(
            index: by("n"),
            start: Bound(value: five, key: key("k")),
            end: Bound(value: five, key: key("k"))
        )
    ),
    (#"{"sp":5,"sn":null,"sin":null}"#, QuerySpec(start: Bound(value: five))),
    // What JS sends for startAfter and endBefore.
    (
        #"{"sp":5,"sn":"[MAX_NAME]","sin":false}"#,
        QuerySpec(start: Bound(value: five, key: .maximum, isInclusive: false))
    ),
    (
        #"{"ep":5,"en":"[MIN_NAME]","ein":false}"#,
        QuerySpec(end: Bound(value: five, key: .minimum, isInclusive: false))
    ),
    (
        #"{"sp":5,"sn":"[MIN_NAME]","ep":5,"en":"[MAX_NAME]"}"#,
        QuerySpec(
            start: Bound(value: five, key: .minimum),
            end: Bound(value: five, key: .maximum)
        )
    ),
    // A bound by key has no second key, and need not be a legal key.
    (
        #"{"i":".key","sp":"a.b ","sn":"x"}"#,
        QuerySpec(index: .key, start: Bound(value: Node(string: "a.b ")))
    ),
    (
        #"{"ep":"[MAX_NAME]","i":".key","ein":true}"#,
        QuerySpec(index: .key, end: Bound(value: Node(string: "[MAX_NAME]")))
    ),
    (#"{"new":1,"l":2,"vf":"l"}"#, QuerySpec(limit: 2)),
]

@Test("a query object means what its members say", arguments: queryCases)
func queryMeaning(query: String, spec: QuerySpec) throws {
    #expect(try target(query).query == spec)
}

let canonicalCases: [(query: String, text: String?)] = [
    ("{}", nil),
    ("null", nil),
    (#"{"vf":"r","l":3,"i":"n"}"#, #"{"i":"n","l":3,"vf":"r"}"#),
    (#"{ "sp" : 1.50 , "i" : "n" }"#, #"{"i":"n","sp":1.50}"#),
    (#"{"sp":3.0}"#, #"{"sp":3.0}"#),
    (#"{"sp":-0}"#, #"{"sp":-0}"#),
    (#"{"sp":1e3}"#, #"{"sp":1e3}"#),
    (#"{"sp":12345678901234567890}"#, #"{"sp":12345678901234567890}"#),
    (#"{"sp":null,"sin":false}"#, #"{"sin":false,"sp":null}"#),
    (#"{"sp":"\u0041\n\"é"}"#, #"{"sp":"A\n\"é"}"#),
    (
        #"{"sp":1,"sin":true,"sn":"k","i":"x","ep":2,"ein":false,"en":"m","l":9,"vf":"l"}"#,
        #"{"ein":false,"en":"m","ep":2,"i":"x","l":9,"sin":true,"sn":"k","sp":1,"vf":"l"}"#
    ),
]

@Test("a query is echoed with sorted keys and numbers as received", arguments: canonicalCases)
func canonical(query: String, expected: String?) throws {
    #expect(try target(query).queryText.map(text) == expected)
}

@Test("targets are equal when path and query text are")
func targetEquality() throws {
    #expect(try target(#"{"l":3,"i":"n"}"#) == target(#"{"i":"n","l":3}"#))
    #expect(try target(#"{"l":3,"i":"n"}"#).hashValue == target(#"{"i":"n","l":3}"#).hashValue)
    #expect(try target(#"{"l":3}"#) != target(#"{"l":4}"#))
    #expect(try target(#"{"l":3}"#) != target("{}"))
    #expect(ListenTarget(path: .root) != ListenTarget(path: try path("a")))
}
