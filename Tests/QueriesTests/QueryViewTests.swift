import JSONTree
import Queries
import Testing

private func node(_ json: String) throws -> Node { try Node(json: Array(json.utf8)) }

private func by(_ key: String) -> QuerySpec.Index { .child(NaiveChildren.path(key)) }

/// A change in words: `unchanged`, `replaced {...}` or `{"a":null,...}`.
private func words(_ change: QueryChange) -> String {
    switch change {
    case .unchanged: return "unchanged"
    case .replaced(let node): return "replaced \(json(node))"
    case .children(let children):
        return children.map { "\($0.key)=\(json($0.node))" }.joined(separator: " ")
    }
}

private func json(_ node: Node) -> String {
    var out: [UInt8] = []
    node.appendJSON(to: &out, .export)
    return String(decoding: out, as: UTF8.self)
}

struct ViewCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let spec: QuerySpec
    let old: String
    let new: String
    let change: String

    init(_ name: String, _ spec: QuerySpec, _ old: String, _ new: String, _ change: String) {
        testDescription = name
        self.spec = spec
        self.old = old
        self.new = new
        self.change = change
    }
}

private let newest3 = QuerySpec(index: by("n"), limit: 3, side: .last)
private let from5 = QuerySpec(index: .value, start: QuerySpec.Bound(value: Node(integer: 5)))
private let abc = #"{"a":{"n":1},"b":{"n":2},"c":{"n":3}}"#
private let abcd = #"{"a":{"n":1},"b":{"n":2},"c":{"n":3},"d":{"n":4}}"#

let viewCases: [ViewCase] = [
    ViewCase(
        "a new child displaces the oldest",
        newest3,
        abc,
        abcd,
        #"a=null d={"n":4}"#
    ),
    ViewCase(
        "a removed child is replaced by one from outside",
        newest3,
        abcd,
        #"{"a":{"n":1},"b":{"n":2},"d":{"n":4}}"#,
        #"a={"n":1} c=null"#
    ),
    ViewCase(
        "a child changed in place",
        newest3,
        abcd,
        #"{"a":{"n":1},"b":{"n":2,"x":1},"c":{"n":3},"d":{"n":4}}"#,
        #"b={"n":2,"x":1}"#
    ),
    ViewCase(
        "a child that sinks below the window leaves it",
        newest3,
        abcd,
        #"{"a":{"n":1},"b":{"n":2},"c":{"n":3},"d":{"n":0}}"#,
        #"a={"n":1} d=null"#
    ),
    ViewCase(
        "a child outside that changes is nobody's business",
        newest3,
        abcd,
        #"{"a":{"n":1,"x":1},"b":{"n":2},"c":{"n":3},"d":{"n":4}}"#,
        "unchanged"
    ),
    ViewCase(
        "a child that arrives below a full window is nobody's business",
        newest3,
        abcd,
        #"{"a":{"n":1},"b":{"n":2},"c":{"n":3},"d":{"n":4},"e":{"n":0}}"#,
        "unchanged"
    ),
    ViewCase("the node becomes absent", newest3, abc, "null", "replaced null"),
    ViewCase("the node becomes a leaf", newest3, abc, "7", "replaced null"),
    ViewCase("the node appears", newest3, "null", #"{"a":{"n":1}}"#, #"replaced {"a":{"n":1}}"#),
    ViewCase("a leaf becomes a map", newest3, "7", #"{"a":1}"#, #"replaced {"a":1}"#),
    ViewCase("a leaf changes", newest3, "7", "8", "unchanged"),
    ViewCase(
        "only the node's own priority changes",
        newest3,
        abc,
        #"{"a":{"n":1},"b":{"n":2},"c":{"n":3},".priority":1}"#,
        "unchanged"
    ),
    ViewCase("nothing changes", newest3, abc, abc, "unchanged"),
    ViewCase(
        "a priority moves a child in",
        QuerySpec(limit: 1, side: .last),
        #"{"a":1,"b":1}"#,
        #"{"a":{".value":1,".priority":1},"b":1}"#,
        #"a={".value":1,".priority":1} b=null"#
    ),
    ViewCase("a value enters the bounds", from5, #"{"a":1,"b":6}"#, #"{"a":5,"b":6}"#, "a=5"),
    ViewCase("a value leaves the bounds", from5, #"{"a":1,"b":6}"#, #"{"a":1,"b":2}"#, "b=null"),
    ViewCase(
        "a value outside the bounds changes",
        from5,
        #"{"a":1,"b":6}"#,
        #"{"a":2,"b":6}"#,
        "unchanged"
    ),
    ViewCase("the node with nothing in the bounds goes", from5, #"{"a":1}"#, "null", "unchanged"),
    ViewCase(
        "the node with something in the bounds goes",
        from5,
        #"{"a":5}"#,
        "null",
        "replaced null"
    ),
    ViewCase(
        "without bounds every change counts",
        QuerySpec(index: .key),
        #"{"a":1,"b":2}"#,
        #"{"b":3,"c":4}"#,
        "a=null b=3 c=4"
    ),
]

@Test("a view reports what a commit changes for it", arguments: viewCases)
func viewChange(_ row: ViewCase) throws {
    let old = try node(row.old)
    let new = try node(row.new)
    var view = QueryView(row.spec, node: old)
    #expect(words(view.update(old: old, new: new)) == row.change)
    #expect(view.result(in: new) == new.filtered(by: row.spec))
}

@Test("a window survives more changes in one commit than are followed one by one")
func bulkChange() throws {
    var old = Node.absent
    var new = Node.absent
    for number in 0..<500 {
        let path = NaiveChildren.path("k\(number)")
        old.set(Node(integer: Int64(number)), at: path)
        new.set(Node(integer: Int64(number + 1) * (number.isMultiple(of: 2) ? 1 : -1)), at: path)
    }
    for index in [QuerySpec.Index.value, .key, .priority] {
        for side in [QuerySpec.Side.first, .last] {
            let spec = QuerySpec(index: index, limit: 40, side: side)
            var view = QueryView(spec, node: old)
            let change = view.update(old: old, new: new)
            var client = old.filtered(by: spec)
            apply(change, to: &client)
            #expect(client == new.filtered(by: spec))
            #expect(view.result(in: new) == client)
        }
    }
}

@Test("a limit as large as integers go is no limit", arguments: [QuerySpec.Side.first, .last])
func endlessLimit(side: QuerySpec.Side) throws {
    let old = try node(abc)
    let new = try node(abcd)
    for index in [QuerySpec.Index.key, .value, .priority, by("n")] {
        let spec = QuerySpec(index: index, limit: .max, side: side)
        #expect(old.filtered(by: spec) == old)
        var view = QueryView(spec, node: old)
        #expect(words(view.update(old: old, new: new)) == #"d={"n":4}"#)
        #expect(view.result(in: new) == new)
    }
}

/// What a client does with a change.
func apply(_ change: QueryChange, to client: inout Node) {
    switch change {
    case .unchanged: break
    case .replaced(let node): client = node
    case .children(let children):
        for child in children { client.set(child.node, at: Path([child.key])) }
    }
}
