import JSONTree
import Queries
import Testing

/// One step of a node's history and the events it makes for observers of a query.
struct EventCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let spec: QuerySpec
    let old: String
    let new: String
    let events: [String]

    init(_ name: String, _ spec: QuerySpec, _ old: String, _ new: String, _ events: [String]) {
        testDescription = name
        self.spec = spec
        self.old = old
        self.new = new
        self.events = events
    }
}

private func by(_ key: String) -> QuerySpec.Index { .child(NaiveChildren.path(key)) }

private let abc = #"{"a":{"n":1},"b":{"n":2},"c":{"n":3}}"#

let eventCases: [EventCase] = [
    EventCase(
        "a child enters between two",
        QuerySpec(index: by("n")),
        abc,
        #"{"a":{"n":1},"b":{"n":2},"c":{"n":3},"z":{"n":1}}"#,
        ["added z after a"]
    ),
    EventCase(
        "a child leaves",
        QuerySpec(index: by("n")),
        abc,
        #"{"a":{"n":1},"c":{"n":3}}"#,
        ["removed b first"]
    ),
    EventCase(
        "a child moves to the front and has changed",
        QuerySpec(index: by("n")),
        abc,
        #"{"a":{"n":1},"b":{"n":2},"c":{"n":0}}"#,
        ["moved c first", "changed c first"]
    ),
    EventCase(
        "an index value that changes without passing another child still moves",
        QuerySpec(index: by("n")),
        abc,
        #"{"a":{"n":1},"b":{"n":2},"c":{"n":9}}"#,
        ["moved c after b", "changed c after b"]
    ),
    EventCase(
        "a change beside the index value does not move",
        QuerySpec(index: by("n")),
        abc,
        #"{"a":{"n":1},"b":{"n":2,"x":1},"c":{"n":3}}"#,
        ["changed b after a"]
    ),
    EventCase(
        "in key order nothing moves, a new priority is a change",
        QuerySpec(index: .key),
        #"{"a":1,"b":1}"#,
        #"{"a":{".value":1,".priority":1},"b":1}"#,
        ["changed a first"]
    ),
    EventCase(
        "in priority order a new priority moves",
        .everything,
        #"{"a":1,"b":1}"#,
        #"{"a":{".value":1,".priority":1},"b":1}"#,
        ["moved a after b", "changed a after b"]
    ),
    EventCase(
        "removed come first, then added, moved and changed, each in index order",
        QuerySpec(index: .value),
        #"{"a":1,"b":2,"c":3,"d":4}"#,
        #"{"c":9,"d":1,"e":5,"f":0}"#,
        [
            "removed a first", "removed b first", "added f first", "added e after d",
            "moved d after f", "moved c after e", "changed d after f", "changed c after e",
        ]
    ),
    EventCase(
        "a child that a limit displaces is removed",
        QuerySpec(index: by("n"), limit: 2, side: .last),
        abc,
        #"{"a":{"n":1},"b":{"n":2},"c":{"n":3},"d":{"n":4}}"#,
        ["removed b first", "added d after c"]
    ),
    EventCase(
        "a replacement is added, and the first in sight comes after none",
        QuerySpec(index: by("n"), limit: 2, side: .last),
        abc,
        #"{"a":{"n":1},"b":{"n":2}}"#,
        ["removed c first", "added a first"]
    ),
    EventCase(
        "a leaf has no children",
        QuerySpec(index: .value),
        #"{"a":1,"b":2}"#,
        "7",
        ["removed a first", "removed b first"]
    ),
    EventCase(
        "numbers that compare alike do not move",
        QuerySpec(index: .value),
        #"{"a":9007199254740993}"#,
        #"{"a":9007199254740992}"#,
        ["changed a first"]
    ),
]

@Test(
    "observers are notified of a step in the order and with the keys before",
    arguments: eventCases
)
func childEvents(_ row: EventCase) throws {
    let old = try Node(json: Array(row.old.utf8))
    let new = try Node(json: Array(row.new.utf8))
    var index = row.spec.index == .key ? nil : ChildIndex(row.spec.index, of: old)
    var view = QueryView(row.spec, OrderedChildren(old, index: index))
    let differences = try #require(ChildDifference.all(from: old, to: new, limit: .max))
    index?.apply(differences)
    let children = OrderedChildren(new, index: index)
    let changes = view.update(differences, in: children)
    let events = view.events(of: changes, in: children).map { event in
        "\(event.kind) \(event.key) \(event.previousKey.map { "after \($0)" } ?? "first")"
    }
    #expect(events == row.events)
}
