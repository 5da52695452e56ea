import JSONTree
import Queries
import Testing

private func node(_ json: String) throws -> Node { try Node(json: Array(json.utf8)) }

private func by(_ key: String) -> QuerySpec.Index { .child(NaiveChildren.path(key)) }

/// Changes in words: `a=null b={...}`.
private func words(_ changes: [ViewChange]) -> String {
    changes.map { "\($0.key)=\(json($0.new))" }.joined(separator: " ")
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
        "a child outside that changes makes no change",
        newest3,
        abcd,
        #"{"a":{"n":1,"x":1},"b":{"n":2},"c":{"n":3},"d":{"n":4}}"#,
        ""
    ),
    ViewCase(
        "a child that arrives below a full window makes no change",
        newest3,
        abcd,
        #"{"a":{"n":1},"b":{"n":2},"c":{"n":3},"d":{"n":4},"e":{"n":0}}"#,
        ""
    ),
    ViewCase("the node becomes absent", newest3, abc, "null", "a=null b=null c=null"),
    ViewCase("the node becomes a leaf", newest3, abc, "7", "a=null b=null c=null"),
    ViewCase("the node appears", newest3, "null", #"{"a":{"n":1}}"#, #"a={"n":1}"#),
    ViewCase("a leaf becomes a map", newest3, "7", #"{"a":1}"#, "a=1"),
    ViewCase("a leaf changes", newest3, "7", "8", ""),
    ViewCase(
        "only the node's own priority changes",
        newest3,
        abc,
        #"{"a":{"n":1},"b":{"n":2},"c":{"n":3},".priority":1}"#,
        ""
    ),
    ViewCase("nothing changes", newest3, abc, abc, ""),
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
        ""
    ),
    ViewCase("the node with nothing in the bounds goes", from5, #"{"a":1}"#, "null", ""),
    ViewCase(
        "the node with something in the bounds goes",
        from5,
        #"{"a":5}"#,
        "null",
        "a=null"
    ),
    ViewCase(
        "without bounds every change counts",
        QuerySpec(index: .key),
        #"{"a":1,"b":2}"#,
        #"{"b":3,"c":4}"#,
        "a=null b=3 c=4"
    ),
]

/// A node whose history a view follows, with its index.
private struct Followed {
    var children: OrderedChildren
    private var index: ChildIndex?
    private(set) var view: QueryView

    init(_ spec: QuerySpec, _ node: Node) {
        index = spec.index == .key ? nil : ChildIndex(spec.index, of: node)
        children = OrderedChildren(node, index: index)
        view = QueryView(spec, children)
    }

    mutating func move(to node: Node) -> [ViewChange] {
        let differences = ChildDifference.all(from: children.node, to: node, limit: .max) ?? []
        index?.apply(differences)
        children = OrderedChildren(node, index: index)
        return view.update(differences, in: children)
    }

    var result: Node { view.result(in: children) }
}

private func filtered(_ node: Node, _ spec: QuerySpec) -> Node {
    let children = OrderedChildren(node, of: spec)
    return QueryView(spec, children).result(in: children)
}

@Test("a view reports what a commit changes for it", arguments: viewCases)
func viewChange(_ row: ViewCase) throws {
    let new = try node(row.new)
    var followed = Followed(row.spec, try node(row.old))
    #expect(words(followed.move(to: new)) == row.change)
    #expect(followed.result == filtered(new, row.spec))
}

@Test("a window survives a commit that changes all children")
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
            var followed = Followed(spec, old)
            var client = followed.result
            for change in followed.move(to: new) {
                client.set(change.new, at: Path([change.key]))
            }
            #expect(client == filtered(new, spec))
            #expect(followed.result == client)
        }
    }
}

@Test("a limit as large as integers go is no limit", arguments: [QuerySpec.Side.first, .last])
func endlessLimit(side: QuerySpec.Side) throws {
    let old = try node(abc)
    let new = try node(abcd)
    for index in [QuerySpec.Index.key, .value, .priority, by("n")] {
        let spec = QuerySpec(index: index, limit: .max, side: side)
        var followed = Followed(spec, old)
        #expect(followed.result == old)
        #expect(words(followed.move(to: new)) == #"d={"n":4}"#)
        #expect(followed.result == new)
    }
}

@Test("a view of everything takes children in key order, whatever its own order")
func everythingByKey() throws {
    let old = try node(#"{"a":{".value":1,".priority":5},"b":1}"#)
    let new = try node(#"{"a":{".value":2,".priority":6},"b":1,"c":3}"#)
    for index in [QuerySpec.Index.priority, .value, by("n")] {
        var view = QueryView(QuerySpec(index: index), OrderedChildren(old, index: nil))
        let children = OrderedChildren(new, index: nil)
        let differences = try #require(ChildDifference.all(from: old, to: new, limit: 2))
        let changes = view.update(differences, in: children)
        #expect(words(changes) == #"a={".value":2,".priority":6} c=3"#)
        #expect(view.result(in: children) == new)
        var walk = view.walk(in: children)
        var keys: [String] = []
        while let next = walk.next() { keys.append(next.key.string) }
        #expect(keys == ["a", "b", "c"])
        #expect(view.events(of: changes, in: children).first?.previousKey?.string == "b")
    }
}

@Test("a walk of many children names each once, in order, and outlives commits")
func longWalk() {
    var list = Node.absent
    for number in 0..<1_000 {
        list.set(Node(integer: Int64(number * 7 % 1_000)), at: NaiveChildren.path("\(number)"))
    }
    var followed = Followed(QuerySpec(index: .value, limit: 900, side: .last), list)
    var walk = followed.view.walk(in: followed.children)
    var values: [Int64?] = []
    var previous: Key?
    while let next = walk.next() {
        #expect(next.previousKey == previous)
        previous = next.key
        values.append(next.node.integer)
        if values.count == 70 { _ = followed.move(to: .absent) }
    }
    #expect(values == (100..<1_000).map { Int64($0) })
}
