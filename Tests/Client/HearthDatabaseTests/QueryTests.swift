import Foundation
import JSONTree
import Testing
import WireProtocol

@testable import HearthDatabase

/// A query as apps build it, and the query object that requests carry.
struct BuiltQuery: CustomTestStringConvertible, Sendable {
    let expected: String
    let make: @Sendable (DatabaseReference) -> DatabaseQuery
    var testDescription: String { expected }

    init(_ expected: String, _ make: @escaping @Sendable (DatabaseReference) -> DatabaseQuery) {
        self.expected = expected
        self.make = make
    }
}

@Suite("a query")
struct QueryTests {
    static let good: [BuiltQuery] = [
        BuiltQuery("{}") { $0 },
        BuiltQuery("{}") { $0.queryOrderedByPriority() },
        BuiltQuery(#"{"i":".key"}"#) { $0.queryOrderedByKey() },
        BuiltQuery(#"{"i":".value"}"#) { $0.queryOrderedByValue() },
        BuiltQuery(#"{"i":"age"}"#) { $0.queryOrdered(byChild: "age") },
        BuiltQuery(#"{"i":"a/b"}"#) { $0.queryOrdered(byChild: "/a//b/") },
        BuiltQuery(#"{"l":3,"vf":"l"}"#) { $0.queryLimited(toFirst: 3) },
        BuiltQuery(#"{"l":1,"vf":"r"}"#) { $0.queryLimited(toLast: 1) },
        BuiltQuery(#"{"i":"x","sp":5}"#) {
            $0.queryOrdered(byChild: "x").queryStarting(atValue: 5)
        },
        BuiltQuery(#"{"i":"x","sp":5}"#) {
            $0.queryStarting(atValue: 5).queryOrdered(byChild: "x")
        },
        BuiltQuery(#"{"sp":null}"#) { $0.queryStarting(atValue: nil) },
        BuiltQuery(#"{"sp":null}"#) { $0.queryStarting(atValue: NSNull()) },
        BuiltQuery(#"{"i":"x","sp":true}"#) {
            $0.queryOrdered(byChild: "x").queryStarting(atValue: NSNumber(value: true))
        },
        BuiltQuery(#"{"i":".value","sn":"k","sp":"a"}"#) {
            $0.queryOrderedByValue().queryStarting(atValue: "a", childKey: "k")
        },
        BuiltQuery(#"{"i":".value","sin":false,"sn":"[MAX_NAME]","sp":1.5}"#) {
            $0.queryOrderedByValue().queryStarting(afterValue: 1.5)
        },
        BuiltQuery(#"{"i":".value","sin":false,"sn":"k","sp":1}"#) {
            $0.queryOrderedByValue().queryStarting(afterValue: 1, childKey: "k")
        },
        BuiltQuery(#"{"i":".key","sin":false,"sp":"k"}"#) {
            $0.queryOrderedByKey().queryStarting(afterValue: "k")
        },
        BuiltQuery(#"{"ep":9,"i":".value"}"#) {
            $0.queryOrderedByValue().queryEnding(atValue: 9)
        },
        BuiltQuery(#"{"en":"k","ep":9,"i":".value"}"#) {
            $0.queryOrderedByValue().queryEnding(atValue: 9, childKey: "k")
        },
        BuiltQuery(#"{"ein":false,"en":"[MIN_NAME]","ep":9,"i":".value"}"#) {
            $0.queryOrderedByValue().queryEnding(beforeValue: 9)
        },
        BuiltQuery(#"{"ein":false,"en":"k","ep":9,"i":".value"}"#) {
            $0.queryOrderedByValue().queryEnding(beforeValue: 9, childKey: "k")
        },
        BuiltQuery(#"{"ein":false,"ep":"k","i":".key","l":20,"vf":"r"}"#) {
            $0.queryOrderedByKey().queryEnding(beforeValue: "k").queryLimited(toLast: 20)
        },
        BuiltQuery(#"{"ep":"h","i":"memberHash","sp":"h"}"#) {
            $0.queryOrdered(byChild: "memberHash").queryEqual(toValue: "h")
        },
        BuiltQuery(#"{"en":"k","ep":1,"i":"x","sn":"k","sp":1}"#) {
            $0.queryOrdered(byChild: "x").queryEqual(toValue: 1, childKey: "k")
        },
        BuiltQuery(#"{"ep":"k","i":".key","sp":"k"}"#) {
            $0.queryOrderedByKey().queryEqual(toValue: "k")
        },
        BuiltQuery(#"{"ep":"a\uf8ff","i":"title","l":5,"sp":"a","vf":"l"}"#) {
            $0.queryOrdered(byChild: "title").queryStarting(atValue: "a")
                .queryEnding(atValue: "a\u{f8ff}").queryLimited(toFirst: 5)
        },
    ]

    @Test("says what it selects", arguments: good)
    func built(_ query: BuiltQuery) throws {
        let place = try query.make(try FakeWorld().root.child("list")).location.get()
        let text = place.plan.spec.wireText.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        let expected = query.expected.replacing(#"\uf8ff"#, with: "\u{f8ff}")
        #expect(text == expected)
        #expect(place.path.description == "/list")
    }

    static let bad: [BuiltQuery] = [
        BuiltQuery("ordered twice") { $0.queryOrderedByKey().queryOrderedByValue() },
        BuiltQuery("ordered by priority twice") {
            $0.queryOrderedByPriority().queryOrderedByPriority()
        },
        BuiltQuery("limited twice") { $0.queryLimited(toFirst: 1).queryLimited(toLast: 1) },
        BuiltQuery("limit of 0") { $0.queryLimited(toFirst: 0) },
        BuiltQuery("limit of 2^31") { $0.queryLimited(toLast: 1 << 31) },
        BuiltQuery("two starts") {
            $0.queryOrderedByValue().queryStarting(atValue: 1).queryStarting(afterValue: 2)
        },
        BuiltQuery("two ends") {
            $0.queryOrderedByValue().queryEnding(atValue: 1).queryEnding(beforeValue: 2)
        },
        BuiltQuery("equal after a start") {
            $0.queryOrderedByValue().queryStarting(atValue: 1).queryEqual(toValue: 2)
        },
        BuiltQuery("an end after equal") {
            $0.queryOrderedByValue().queryEqual(toValue: 1).queryEnding(atValue: 2)
        },
        BuiltQuery("by key from a number") {
            $0.queryOrderedByKey().queryStarting(atValue: 1)
        },
        BuiltQuery("by key from nothing") {
            $0.queryOrderedByKey().queryStarting(atValue: nil)
        },
        BuiltQuery("from a number, by key") {
            $0.queryStarting(atValue: 1).queryOrderedByKey()
        },
        BuiltQuery("by key with a child key") {
            $0.queryOrderedByKey().queryStarting(atValue: "a", childKey: "b")
        },
        BuiltQuery("with a child key, by key") {
            $0.queryEnding(atValue: "a", childKey: "b").queryOrderedByKey()
        },
        BuiltQuery("by priority from a boolean") { $0.queryStarting(atValue: true) },
        BuiltQuery("from a map") { $0.queryOrderedByValue().queryStarting(atValue: ["a": 1]) },
        BuiltQuery("from a server value") {
            $0.queryOrderedByValue().queryStarting(atValue: ServerValue.timestamp())
        },
        BuiltQuery("from NaN") { $0.queryOrderedByValue().queryEnding(atValue: Double.nan) },
        BuiltQuery("from a date") { $0.queryOrderedByValue().queryEqual(toValue: Date()) },
        BuiltQuery("a child key that cannot be") {
            $0.queryOrderedByValue().queryEqual(toValue: 1, childKey: "a/b")
        },
        BuiltQuery("by a child that cannot be") { $0.queryOrdered(byChild: "a.b") },
        BuiltQuery("by no child") { $0.queryOrdered(byChild: "") },
        BuiltQuery("by $key as a child") { $0.queryOrdered(byChild: "$key") },
        BuiltQuery("by .priority as a child") { $0.queryOrdered(byChild: ".priority") },
        BuiltQuery("by .value as a child") { $0.queryOrdered(byChild: ".value") },
    ]

    @Test("that makes no sense says so to all who use it, and nothing is sent", arguments: bad)
    func misuse(_ query: BuiltQuery) async throws {
        let world = try FakeWorld()
        let made = query.make(world.root.child("list"))
        let error = try #require(#expect(throws: DatabaseError.self) { try made.location.get() })
        for later in [made, made.queryLimited(toFirst: 1), made.queryOrderedByKey(), made.ref] {
            #expect(later.location == .failure(error))
        }
        await #expect(throws: error) { try await made.getData() }
        await #expect(throws: error) { try await made.observeSingleEvent(of: .value) }
        await #expect(throws: error) { for try await _ in made.snapshots() {} }
        await #expect(throws: error) { for try await _ in made.childEvents() {} }
        let cancelled: DatabaseError? = await withCheckedContinuation { continuation in
            made.observe(.value) { _ in
            } withCancel: {
                continuation.resume(returning: $0 as? DatabaseError)
            }
        }
        #expect(cancelled == error)
        made.keepSynced(true)
        made.removeAllObservers()
        world.database.sync.drain()
        #expect(world.transport.openings.isEmpty)
    }
}
