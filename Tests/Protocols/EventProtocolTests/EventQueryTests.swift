import EventProtocol
import JSONTree
import Queries
import Testing

@Suite("queries of the plain event protocol")
struct EventQueryTests {
    private static let ann = QuerySpec.BoundKey.key(Array("ann".utf8))

    static let meanings: [(text: String, spec: QuerySpec)] = [
        ("{}", .everything),
        (#"{"orderByKey":true,"limitToLast":50}"#, QuerySpec(index: .key, limit: 50, side: .last)),
        (#"{"orderByValue":true,"limitToFirst":1}"#, QuerySpec(index: .value, limit: 1)),
        (
            #"{"orderByPriority":true,"startAt":2}"#,
            QuerySpec(start: .init(value: Node(integer: 2)))
        ),
        (
            #"{"orderByKey":true,"startAfter":"a","endBefore":"c"}"#,
            QuerySpec(
                index: .key,
                start: .init(value: Node(string: "a"), isInclusive: false),
                end: .init(value: Node(string: "c"), isInclusive: false),
            )
        ),
        (
            #"{"orderByValue":true,"equalTo":{"value":null,"key":"ann"}}"#,
            QuerySpec(
                index: .value,
                start: .init(value: .absent, key: ann),
                end: .init(value: .absent, key: ann),
            )
        ),
    ]

    @Test("mean what they say", arguments: meanings)
    func meaning(text: String, spec: QuerySpec) throws {
        #expect(try QuerySpec(eventQuery: Array(text.utf8)) == spec)
    }

    @Test("order by a path below the child")
    func childPath() throws {
        let spec = try QuerySpec(eventQuery: Array(#"{"orderByChild":"a/b"}"#.utf8))
        #expect(spec.index == .child(try Path("a/b")))
    }

    @Test(
        "are refused when they contradict themselves or say nothing known",
        arguments: [
            "", "[]", "5", "{} x", #"{"orderBy":"x"}"#, #"{"orderByKey":false}"#,
            #"{"orderByKey":true,"orderByValue":true}"#, #"{"orderByChild":""}"#,
            #"{"orderByChild":"a.b"}"#, #"{"orderByChild":5}"#, #"{"limitToFirst":0}"#,
            #"{"limitToLast":-1}"#, #"{"limitToLast":1.5}"#, #"{"limitToLast":"1"}"#,
            #"{"limitToFirst":1,"limitToLast":1}"#, #"{"startAt":1,"startAfter":1}"#,
            #"{"endAt":1,"endBefore":1}"#, #"{"equalTo":1,"startAt":1}"#,
            #"{"startAt":1,"startAt":2}"#,
            #"{"startAt":[1]}"#, #"{"startAt":{"value":1}}"#,
            #"{"startAt":{"value":1,"key":"k","x":1}}"#,
        ]
    )
    func refusal(text: String) {
        let error = #expect(throws: EventQueryError.self) {
            try QuerySpec(eventQuery: Array(text.utf8))
        }
        #expect(error?.description.isEmpty == false)
    }
}
