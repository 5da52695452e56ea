import JSONTree
import Queries
import Testing

/// One node, one query, and the keys it selects in key order.
struct MembershipCase: CustomTestStringConvertible, Sendable {
    let name: String
    let json: String
    let spec: QuerySpec
    let keys: String

    init(_ name: String, _ json: String, _ spec: QuerySpec, _ keys: String) {
        self.name = name
        self.json = json
        self.spec = spec
        self.keys = keys
    }

    var testDescription: String { name }
}

private typealias Bound = QuerySpec.Bound

private func at(_ text: String, _ key: QuerySpec.BoundKey? = nil) -> Bound {
    Bound(value: Node(string: text), key: key)
}

private func at(_ number: Int64, _ key: QuerySpec.BoundKey? = nil) -> Bound {
    Bound(value: Node(integer: number), key: key)
}

private func beyond(_ text: String, _ key: QuerySpec.BoundKey? = nil) -> Bound {
    Bound(value: Node(string: text), key: key, isInclusive: false)
}

private func beyond(_ number: Int64, _ key: QuerySpec.BoundKey? = nil) -> Bound {
    Bound(value: Node(integer: number), key: key, isInclusive: false)
}

private let null = Bound(value: .absent)

private func key(_ text: String) -> QuerySpec.BoundKey { .key(Array(text.utf8)) }

private func by(_ path: String) -> QuerySpec.Index {
    .child(Path(path.split(separator: "/").map { Key(unchecked: Array($0.utf8)) }))
}

private let keys = #"{"1":1,"2":1,"10":1,"a":1,"b":1,"c":1}"#
private let values = #"{"a":false,"b":true,"c":-2,"d":3,"e":"10","f":"9","g":{"x":1},"h":{"a":1}}"#
private let ages = #"{"p":{"n":1},"q":{"n":2},"r":{"n":2},"s":{"n":3},"t":{"o":1},"u":"leaf"}"#
private let deep = #"{"a":{"x":{"y":2}},"b":{"x":{"y":1}},"c":{"x":5}}"#
private let priorities =
    #"{"a":{".value":1,".priority":"x"},"b":{".value":1,".priority":5},"c":1,"#
    + #""d":{".value":1,".priority":"10"},"e":{".value":1,".priority":-1},"9":1,"10":1}"#

private let padded = "b" + String(repeating: "\u{FFFF}", count: 785)

let membershipCases: [MembershipCase] = [
    MembershipCase("everything", keys, .everything, "1 2 10 a b c"),
    MembershipCase("a leaf has no children", "5", QuerySpec(index: .key, limit: 3), ""),
    MembershipCase("an absent node has no children", "null", QuerySpec(index: .value), ""),

    MembershipCase("key: from", keys, QuerySpec(index: .key, start: at("10")), "10 a b c"),
    MembershipCase("key: after", keys, QuerySpec(index: .key, start: beyond("10")), "a b c"),
    MembershipCase("key: to", keys, QuerySpec(index: .key, end: at("2")), "1 2"),
    MembershipCase("key: before", keys, QuerySpec(index: .key, end: beyond("2")), "1"),
    MembershipCase("key: exactly", keys, QuerySpec(index: .key, start: at("b"), end: at("b")), "b"),
    MembershipCase(
        "key: the bound need not exist",
        keys,
        QuerySpec(index: .key, start: at("3")),
        "10 a b c"
    ),
    MembershipCase("key: first 2", keys, QuerySpec(index: .key, limit: 2), "1 2"),
    MembershipCase("key: last 2", keys, QuerySpec(index: .key, limit: 2, side: .last), "b c"),
    MembershipCase(
        "key: first 2 after 2",
        keys,
        QuerySpec(index: .key, start: beyond("2"), limit: 2),
        "10 a"
    ),
    MembershipCase(
        "key: last 2 before b",
        keys,
        QuerySpec(index: .key, end: beyond("b"), limit: 2, side: .last),
        "10 a"
    ),
    MembershipCase(
        "key: an iOS successor, a key and a space",
        keys,
        QuerySpec(index: .key, start: at("a ")),
        "b c"
    ),
    MembershipCase(
        "key: an iOS predecessor, padded to 786 characters",
        keys,
        QuerySpec(index: .key, end: at(padded)),
        "1 2 10 a b"
    ),
    MembershipCase(
        "key: a predecessor padded with z",
        keys,
        QuerySpec(index: .key, end: at("b" + String(repeating: "z", count: 785))),
        "1 2 10 a b"
    ),
    MembershipCase(
        "key: after the sentinel of the last key",
        keys,
        QuerySpec(index: .key, start: at("[MAX_NAME]")),
        ""
    ),
    MembershipCase(
        "key: up to the sentinel of the last key",
        keys,
        QuerySpec(index: .key, end: at("[MAX_NAME]"), limit: 2, side: .last),
        "b c"
    ),
    MembershipCase(
        "key: from the sentinel of the first key",
        keys,
        QuerySpec(index: .key, start: at("[MIN_NAME]"), limit: 1),
        "1"
    ),
    MembershipCase(
        "key: up to the sentinel of the first key",
        keys,
        QuerySpec(index: .key, end: at("[MIN_NAME]")),
        ""
    ),
    MembershipCase(
        "key: an empty range",
        keys,
        QuerySpec(index: .key, start: at("c"), end: at("a")),
        ""
    ),
    MembershipCase(
        "key: an empty range with a limit",
        keys,
        QuerySpec(index: .key, start: at("c"), end: at("a"), limit: 3),
        ""
    ),

    MembershipCase(
        "value: from null",
        values,
        QuerySpec(index: .value, start: null),
        "a b c d e f g h"
    ),
    MembershipCase("value: to null", values, QuerySpec(index: .value, end: null), ""),
    MembershipCase(
        "value: from false",
        values,
        QuerySpec(index: .value, start: Bound(value: Node(false)), limit: 2),
        "a b"
    ),
    MembershipCase(
        "value: to true",
        values,
        QuerySpec(index: .value, end: Bound(value: Node(true))),
        "a b"
    ),
    MembershipCase(
        "value: numbers",
        values,
        QuerySpec(index: .value, start: at(-2), end: at(3)),
        "c d"
    ),
    MembershipCase(
        "value: after a number",
        values,
        QuerySpec(index: .value, start: beyond(3)),
        "d e f g h"
    ),
    MembershipCase(
        "value: after a number with the last key",
        values,
        QuerySpec(index: .value, start: beyond(3, .maximum)),
        "e f g h"
    ),
    MembershipCase(
        "value: strings compare by code unit",
        values,
        QuerySpec(index: .value, start: at("10"), end: at("9")),
        "e f"
    ),
    MembershipCase(
        "value: maps come last and tie",
        values,
        QuerySpec(index: .value, limit: 2, side: .last),
        "g h"
    ),
    MembershipCase(
        "value: a string cannot bound maps from above",
        values,
        QuerySpec(index: .value, end: at("\u{FFFF}")),
        "a b c d e f"
    ),

    MembershipCase("child: no bounds keep all", ages, QuerySpec(index: by("n")), "p q r s t u"),
    MembershipCase(
        "child: equal",
        ages,
        QuerySpec(index: by("n"), start: at(2), end: at(2)),
        "q r"
    ),
    MembershipCase(
        "child: equal with key",
        ages,
        QuerySpec(index: by("n"), start: at(2, key("r")), end: at(2, key("r"))),
        "r"
    ),
    MembershipCase(
        "child: equal null",
        ages,
        QuerySpec(index: by("n"), start: null, end: null),
        "t u"
    ),
    MembershipCase(
        "child: after a value and key",
        ages,
        QuerySpec(index: by("n"), start: beyond(2, key("q"))),
        "r s"
    ),
    MembershipCase(
        "child: before a value and key",
        ages,
        QuerySpec(index: by("n"), start: at(1), end: beyond(2, key("r"))),
        "p q"
    ),
    MembershipCase(
        "child: after a value, as JS sends it",
        ages,
        QuerySpec(index: by("n"), start: beyond(2, .maximum)),
        "s"
    ),
    MembershipCase(
        "child: before a value, as JS sends it",
        ages,
        QuerySpec(index: by("n"), end: beyond(2, .minimum)),
        "p t u"
    ),
    MembershipCase(
        "child: inclusive with the last key excludes the value",
        ages,
        QuerySpec(index: by("n"), start: at(2, .maximum)),
        "s"
    ),
    MembershipCase(
        "child: inclusive with the first key excludes the value",
        ages,
        QuerySpec(index: by("n"), end: at(1, .minimum)),
        "t u"
    ),
    MembershipCase("child: first 3", ages, QuerySpec(index: by("n"), limit: 3), "p t u"),
    MembershipCase("child: last 2", ages, QuerySpec(index: by("n"), limit: 2, side: .last), "r s"),
    MembershipCase(
        "child: a limit above the count",
        ages,
        QuerySpec(index: by("n"), limit: 99),
        "p q r s t u"
    ),
    MembershipCase("child: deep", deep, QuerySpec(index: by("x/y"), start: at(1)), "a b"),
    MembershipCase(
        "child: deep under a leaf is null",
        deep,
        QuerySpec(index: by("x/y"), limit: 1),
        "c"
    ),
    MembershipCase(
        "child: the map above the deep path",
        deep,
        QuerySpec(index: by("x"), start: at(6)),
        "a b"
    ),

    MembershipCase("priority: first 3", priorities, QuerySpec(limit: 3), "9 10 c"),
    MembershipCase("priority: last 2", priorities, QuerySpec(limit: 2, side: .last), "a d"),
    MembershipCase("priority: from a number", priorities, QuerySpec(start: at(-1)), "a b d e"),
    MembershipCase("priority: numbers", priorities, QuerySpec(start: at(-1), end: at(5)), "b e"),
    MembershipCase("priority: equal null", priorities, QuerySpec(start: null, end: null), "9 10 c"),
    MembershipCase("priority: from a string", priorities, QuerySpec(start: at("10")), "a d"),
    MembershipCase(
        "priority: null with a key",
        priorities,
        QuerySpec(start: Bound(value: .absent, key: key("10")), end: null),
        "10 c"
    ),
]

@Test("a query selects the children its bounds and limit name", arguments: membershipCases)
func membership(_ row: MembershipCase) throws {
    let node = try Node(json: Array(row.json.utf8))
    let children = OrderedChildren(node, of: row.spec)
    let filtered = QueryView(row.spec, children).result(in: children)
    var expected = Node.absent
    var keys: [String] = []
    for key in row.keys.split(separator: " ") {
        let child = node.child(Key(unchecked: Array(key.utf8)))
        #expect(!child.isAbsent)
        expected.set(child, at: NaiveChildren.path(String(key)))
        keys.append(String(key))
    }
    var filteredKeys: [String] = []
    filtered.visitChildren { key, _ in
        filteredKeys.append(key.string)
        return true
    }
    #expect(Set(filteredKeys) == Set(keys))
    #expect(filtered == expected)
}

@Test("a result carries the children's priorities and not the node's own")
func ownPriority() throws {
    let node = try Node(json: Array(#"{"a":{".value":1,".priority":2},"b":3,".priority":4}"#.utf8))
    for spec in [QuerySpec(limit: 9), QuerySpec(index: .key, start: at("a"))] {
        let children = OrderedChildren(node, of: spec)
        let result = QueryView(spec, children).result(in: children)
        #expect(result.priority.isAbsent)
        #expect(result.child(Key(unchecked: Array("a".utf8))).priority == Node(integer: 2))
        #expect(result.childCount == 2)
    }
}

@Test(
    "an order alone leaves the node as it is, with its priority, and a leaf a leaf",
    arguments: [QuerySpec.Index.priority, .key, .value, .child(NaiveChildren.path("a"))]
)
func orderAlone(index: QuerySpec.Index) throws {
    for json in [#"{"a":1,".priority":4}"#, #"{".value":5,".priority":"p"}"#, "null"] {
        let node = try Node(json: Array(json.utf8))
        let children = OrderedChildren(node, index: nil)
        #expect(QueryView(QuerySpec(index: index), children).result(in: children) == node)
    }
}

@Test("queries that mean the same are equal and hash alike")
func specEquality() {
    let one = QuerySpec(index: .value, start: at("a", key("k")), limit: 3, side: .last)
    let same = QuerySpec(index: .value, start: at("a", key("k")), limit: 3, side: .last)
    #expect(one == same)
    #expect(one.hashValue == same.hashValue)
    #expect(one != QuerySpec(index: .value, start: at("a"), limit: 3, side: .last))
    #expect(one != QuerySpec(index: .value, start: beyond("a", key("k")), limit: 3, side: .last))
    #expect(one != QuerySpec(index: .value, start: at("a", key("k")), limit: 3, side: .first))
    #expect(QuerySpec(side: .last) == .everything)
    #expect(QuerySpec(index: .key).loadsEverything)
    #expect(!QuerySpec(start: null).loadsEverything)
    #expect(!QuerySpec(limit: 1).loadsEverything)
}

@Test("an index is used for bounds and limits in any order but that of keys")
func indexUse() {
    #expect(QuerySpec(limit: 1).usesIndex)
    #expect(QuerySpec(index: .value, start: null).usesIndex)
    #expect(!QuerySpec(index: .key, limit: 1).usesIndex)
    #expect(!QuerySpec(index: by("n")).usesIndex)
    #expect(!QuerySpec.everything.usesIndex)
}

extension OrderedChildren {
    /// The children of a node in the order of a query.
    init(_ node: Node, of spec: QuerySpec) {
        self.init(node, index: spec.index == .key ? nil : ChildIndex(spec.index, of: node))
    }
}
