import JSONTree
import Queries
import Testing

@testable import WireProtocol

private typealias Bound = QuerySpec.Bound

/// `a=1&b=2` as decoded pairs; `&` and `=` do not occur in the values of these tables.
private func parse(_ query: String) throws(RESTQueryError) -> RESTQuery {
    let pairs = query.split(separator: "&").map { pair in
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
    }
    return try RESTQuery.parse(pairs)
}

private func by(_ text: String) -> QuerySpec.Index {
    .child(Path(text.split(separator: "/").map { Key(unchecked: Array($0.utf8)) }))
}

private func at(_ number: Int64, _ key: QuerySpec.BoundKey? = nil, _ isInclusive: Bool = true)
    -> Bound
{
    Bound(value: Node(integer: number), key: key, isInclusive: isInclusive)
}

private func at(_ text: String, _ key: QuerySpec.BoundKey? = nil, _ isInclusive: Bool = true)
    -> Bound
{
    Bound(value: Node(string: text), key: key, isInclusive: isInclusive)
}

private func key(_ text: String) -> QuerySpec.BoundKey { .key(Array(text.utf8)) }

let restCases: [(query: String, spec: QuerySpec?)] = [
    ("", nil),
    ("print=pretty&ns=demo&auth=x&format=export&cache=1", nil),
    (#"orderBy="height""#, QuerySpec(index: by("height"))),
    (#"orderBy="a/b""#, QuerySpec(index: by("a/b"))),
    (#"orderBy="$key""#, QuerySpec(index: .key)),
    (#"orderBy="$value""#, QuerySpec(index: .value)),
    (#"orderBy="$priority""#, QuerySpec(index: .priority)),
    (#"orderBy="\u0068""#, QuerySpec(index: by("h"))),
    (#"orderBy="h"&startAt=3"#, QuerySpec(index: by("h"), start: at(3))),
    (#"orderBy="h"&startAt="3""#, QuerySpec(index: by("h"), start: at("3"))),
    (#"orderBy="h"&startAt=null"#, QuerySpec(index: by("h"), start: Bound(value: .absent))),
    (#"orderBy="h"&endAt=true"#, QuerySpec(index: by("h"), end: Bound(value: Node(true)))),
    (#"orderBy="h"&startAfter=3"#, QuerySpec(index: by("h"), start: at(3, .maximum, false))),
    (#"orderBy="h"&endBefore=3"#, QuerySpec(index: by("h"), end: at(3, .minimum, false))),
    (#"orderBy="h"&startAt=3,"k""#, QuerySpec(index: by("h"), start: at(3, key("k")))),
    (#"orderBy="h"&startAfter=3,"k""#, QuerySpec(index: by("h"), start: at(3, key("k"), false))),
    (#"orderBy="h"&endBefore="v", "k""#, QuerySpec(index: by("h"), end: at("v", key("k"), false))),
    (#"orderBy="h"&equalTo=3"#, QuerySpec(index: by("h"), start: at(3), end: at(3))),
    (
        #"orderBy="h"&equalTo=3,"k""#,
        QuerySpec(index: by("h"), start: at(3, key("k")), end: at(3, key("k")))
    ),
    (
        #"orderBy="$key"&startAt="b"&endBefore="d""#,
        QuerySpec(index: .key, start: at("b"), end: at("d", nil, false))
    ),
    (#"orderBy="$key"&startAfter="b""#, QuerySpec(index: .key, start: at("b", nil, false))),
    (#"orderBy="$key"&equalTo="b""#, QuerySpec(index: .key, start: at("b"), end: at("b"))),
    (#"orderBy="h"&limitToFirst=10"#, QuerySpec(index: by("h"), limit: 10)),
    (#"limitToLast=10&orderBy="h""#, QuerySpec(index: by("h"), limit: 10, side: .last)),
]

@Test("query parameters select what they say", arguments: restCases)
func restMeaning(query: String, spec: QuerySpec?) throws {
    #expect(try parse(query) == RESTQuery(spec: spec, isShallow: false))
}

let shallowCases: [(query: String, spec: QuerySpec?)] = [
    ("shallow=true", nil),
    ("shallow=true&limitToFirst=5", QuerySpec(index: .key, limit: 5)),
    ("shallow=true&limitToLast=5", QuerySpec(index: .key, limit: 5, side: .last)),
    (
        "shallow=true&limitToFirst=5&startAfter=abc",
        QuerySpec(index: .key, start: at("abc", nil, false), limit: 5)
    ),
    (
        #"shallow=true&limitToFirst=5&startAfter="abc""#,
        QuerySpec(index: .key, start: at("abc", nil, false), limit: 5)
    ),
    ("shallow=true&startAfter=12", QuerySpec(index: .key, start: at("12", nil, false))),
    (#"shallow=true&startAfter="a"#, QuerySpec(index: .key, start: at(#""a"#, nil, false))),
]

@Test("a shallow read pages through keys without an order", arguments: shallowCases)
func shallowMeaning(query: String, spec: QuerySpec?) throws {
    #expect(try parse(query) == RESTQuery(spec: spec, isShallow: true))
    #expect(try parse("shallow=false").isShallow == false)
}

private let noOrder = "orderBy must be defined when other query parameters are defined"
private let badOrder = "orderBy must be a valid JSON encoded path"
private let badBound = "Constraint index field must be a JSON primitive"
private let badKey = "Provided key index type is invalid, must be string"
private let mixed = "Mixing 'shallow' and querying parameters is not supported"

let refusedRestCases: [(query: String, error: String)] = [
    ("startAt=3", noOrder), ("limitToFirst=3", noOrder), ("equalTo=null", noOrder),
    ("limitToLast=3&endBefore=1", noOrder), ("shallow=false&limitToFirst=3", noOrder),
    ("orderBy=", badOrder), ("orderBy=height", badOrder), ("orderBy=5", badOrder),
    (#"orderBy="""#, badOrder), (#"orderBy="/""#, badOrder), (#"orderBy="a.b""#, badOrder),
    (#"orderBy="$foo""#, badOrder), (#"orderBy=["a"]"#, badOrder), (#"orderBy="a","b""#, badOrder),
    (#"orderBy="a"#, badOrder), (#"orderBy=null"#, badOrder),
    (#"orderBy="h"&startAt="#, badBound), (#"orderBy="h"&startAt=abc"#, badBound),
    (#"orderBy="h"&startAt={"a":1}"#, badBound), (#"orderBy="h"&endAt=[1]"#, badBound),
    (#"orderBy="h"&equalTo=1,2"#, badBound), (#"orderBy="h"&equalTo=1,"a","b""#, badBound),
    (#"orderBy="h"&startAt=1],[2"#, badBound), (#"orderBy="h"&startAt=1 2"#, badBound),
    (#"orderBy="$key"&startAt=3"#, badKey), (#"orderBy="$key"&endAt=null"#, badKey),
    (#"orderBy="$key"&equalTo=true"#, badKey), (#"orderBy="$key"&endBefore=3"#, badKey),
    (#"shallow=true&orderBy="h""#, mixed), ("shallow=true&startAt=3", mixed),
    ("shallow=true&equalTo=3", mixed), ("shallow=true&limitToFirst=2&endAt=3", mixed),
    (#"orderBy="h"&limitToFirst=0"#, "limitToFirst must be a positive integer"),
    (#"orderBy="h"&limitToFirst=-1"#, "limitToFirst must be a positive integer"),
    (#"orderBy="h"&limitToFirst=+1"#, "limitToFirst must be a positive integer"),
    (#"orderBy="h"&limitToLast=1.5"#, "limitToLast must be a positive integer"),
    (#"orderBy="h"&limitToLast="3""#, "limitToLast must be a positive integer"),
    (#"orderBy="h"&limitToLast="#, "limitToLast must be a positive integer"),
    (#"orderBy="h"&limitToLast=99999999999999999999"#, "limitToLast must be a positive integer"),
    (
        #"orderBy="h"&limitToFirst=1&limitToLast=1"#,
        "limitToFirst cannot be combined with limitToLast"
    ),
    (#"orderBy="h"&startAt=1&startAfter=1"#, "startAt cannot be combined with startAfter"),
    (#"orderBy="h"&endAt=1&endBefore=1"#, "endAt cannot be combined with endBefore"),
    (#"orderBy="h"&equalTo=1&startAt=1"#, "equalTo cannot be combined with startAt"),
    (#"orderBy="h"&orderBy="g""#, "orderBy is given more than once"),
]

@Test(
    "query parameters that mean nothing are refused in Firebase's words",
    arguments: refusedRestCases
)
func restRefusal(query: String, error: String) {
    do throws(RESTQueryError) {
        let result = try parse(query)
        Issue.record("\(query) was read as \(result)")
    } catch let refusal {
        #expect(refusal.description == error)
    }
}

@Test("a missing index is named with the path of the query")
func missingIndex() throws {
    let dinosaurs = try path("/dinosaurs")
    #expect(
        QuerySpec(index: by("height")).missingIndexText(at: dinosaurs)
            == #"Index not defined, add ".indexOn": "height", for path "/dinosaurs", to the rules"#
    )
    #expect(
        QuerySpec(index: .value).missingIndexText(at: .root)
            == #"Index not defined, add ".indexOn": ".value", for path "/", to the rules"#
    )
    #expect(
        QuerySpec(index: by("a/b")).missingIndexText(at: .root)
            == #"Index not defined, add ".indexOn": "a/b", for path "/", to the rules"#
    )
    #expect(QuerySpec(index: .key).missingIndexText(at: .root) == nil)
    #expect(QuerySpec(index: .priority).missingIndexText(at: .root) == nil)
}
