import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("pages of a listing")
struct ListingTests {
    @Test(
        "a page is the last one when less came than was asked for, faults counted too",
        arguments: [
            (3, 0, false), (2, 1, false), (1, 4, false), (2, 0, true), (1, 1, true), (0, 0, true),
            // A list that goes on behind nothing but faults was followed already.
            (0, 3, true),
        ]
    )
    func lastPage(records: Int, faults: Int, isLast: Bool) {
        let fault = RecordFault(path: "a", reason: "b")
        let page = Listing(
            records: Array(repeating: 1, count: records),
            faults: Array(repeating: fault, count: faults)
        )
        #expect(page.isLastPage(ofSize: 3) == isLast)
    }
}

/// A record with each kind of field.
private struct Note: Record, Equatable {
    let key: String
    let text: String
    let rank: Int
    let sender: String
    let isRead: Bool?
    let marks: [String: Int]?

    struct Stored: Decodable {
        struct Sender: Decodable { let uid: String }
        let text: String
        let rank: Int
        let sender: Sender
        let isRead: Bool?
        let marks: [String: Int]?
    }

    init(key: String, stored: Stored) throws {
        guard !stored.text.isEmpty else { throw Nonsense("text: it is empty") }
        self.key = key
        text = stored.text
        rank = stored.rank
        sender = stored.sender.uid
        isRead = stored.isRead
        marks = stored.marks
    }
}

/// What a client without a connection holds: records need no server.
private struct Tree {
    let person: Person

    init() throws {
        person = try Person("http://127.0.0.1:9")
        person.database.goOffline()
    }

    func snapshot(_ query: DatabaseQuery) async -> DataSnapshot {
        await withCheckedContinuation { continuation in
            query.observeSingleEvent(of: .value) { continuation.resume(returning: $0) }
        }
    }

    /// What a list at a path holds, after this was written there.
    func listing(
        _ value: [String: Any],
        at path: String = "notes/c1",
        _ order: (DatabaseReference) -> DatabaseQuery = { $0 },
    ) async -> Listing<Note> {
        let place = person.place(path)
        place.setValue(value) { _, _ in }
        return await snapshot(order(place)).records(as: Note.self)
    }
}

@Suite("records")
struct RecordTests {
    private static var whole: [String: Any] {
        ["text": "hello", "rank": 1, "sender": ["uid": "ann"]]
    }

    private static func with(_ field: String, _ value: Any?) -> [String: Any] {
        var note = whole
        note[field] = value
        return note
    }

    @Test("records that are half valid are left out, with their place and what is wrong")
    func skipped() async throws {
        let listing = try await Tree().listing([
            "a": Self.whole,
            "b": Self.with("text", nil),
            "c": Self.with("sender", ["name": "Ann"]),
            "d": "a text",
            "e": Self.with("text", ""),
            "f": Self.with("rank", 2),
        ])
        #expect(listing.records.map(\.key) == ["a", "f"])
        #expect(
            listing.faults.map(\.path) == ["b", "c", "d", "e"].map { "notes/c1/\($0)" }
        )
        #expect(listing.faults[0].reason == "text: nothing is there")
        #expect(listing.faults[1].reason == "sender.uid: nothing is there")
        #expect(listing.faults[3].reason == "text: it is empty")
        #expect(listing.faults[3].description == "notes/c1/e: text: it is empty")
        #expect(listing.faults.allSatisfy { !$0.reason.isEmpty })
    }

    @Test(
        "a field of another kind makes no record",
        arguments: [
            ("rank", "true"), ("rank", "\"1\""), ("rank", "1.5"), ("rank", "1e300"),
            ("text", "1"), ("text", "true"), ("text", "{\"a\":1}"), ("text", "[\"a\"]"),
            ("isRead", "0"), ("isRead", "1"), ("isRead", "\"true\""),
            ("sender", "\"ann\""), ("sender", "true"), ("marks", "\"x\""),
            ("marks", "{\"a\":true}"),
        ]
    )
    func kinds(field: String, json: String) async throws {
        let value = try JSONSerialization.jsonObject(with: Data("[\(json)]".utf8)) as? [Any]
        let listing = try await Tree().listing(["a": Self.with(field, value?.first)])
        #expect(listing.records.isEmpty)
        let fault = try #require(listing.faults.first)
        #expect(fault.path == "notes/c1/a")
        #expect(fault.reason.hasPrefix(field), "\(fault.reason)")
    }

    @Test("records come in the order of the query, whatever their keys")
    func order() async throws {
        let notes = ["a": 3, "b": 1, "c": 2].mapValues { Self.with("rank", $0) }
        let tree = try Tree()
        let byRank = await tree.listing(notes) { $0.queryOrdered(byChild: "rank") }
        #expect(byRank.records.map(\.rank) == [1, 2, 3])
        #expect(await tree.listing(notes).records.map(\.key) == ["a", "b", "c"])
        let newest = await tree.listing(notes) {
            $0.queryOrdered(byChild: "rank").queryLimited(toLast: 2)
        }
        #expect(newest.records.map(\.rank) == [2, 3])
    }

    @Test("keys that look like those of an array are keys like others")
    func arrays() async throws {
        let note = Self.with("marks", ["0": 5, "1": 6])
        let listing = try await Tree().listing(["0": note, "1": note, "2": Self.whole])
        #expect(listing.records.map(\.key) == ["0", "1", "2"])
        #expect(listing.records[0].marks == ["0": 5, "1": 6])
        #expect(listing.faults.isEmpty)
    }

    @Test("a fault names the whole path, however deep and whatever its keys")
    func deep() async throws {
        let keys = (1...30).map { "k\($0)" } + ["an ünusual, key"]
        let path = keys.joined(separator: "/")
        let listing = try await Tree().listing(["x": 1], at: path)
        #expect(listing.faults.map(\.path) == [path + "/x"])
        #expect(try Tree().person.database.reference().pathText.isEmpty)
    }

    @Test("nothing is no record, and an empty list has neither records nor faults")
    func nothing() async throws {
        let tree = try Tree()
        let place = tree.person.place("notes/c1/a")
        // Without a connection only what was written here is known.
        place.removeValue { _, _ in }
        let snapshot = await tree.snapshot(place)
        #expect {
            try snapshot.record(as: Note.self)
        } throws: { error in
            (error as? RecordFault)?.path == "notes/c1/a"
        }
        #expect(snapshot.records(as: Note.self) == Listing())
        #expect(snapshot.keys.isEmpty)
    }

    @Test("a list in the place of records is reported record by record")
    func texts() async throws {
        let listing = try await Tree().listing(["0": "a", "1": "b"])
        #expect(listing.records.isEmpty)
        #expect(listing.faults.map(\.path) == ["notes/c1/0", "notes/c1/1"])
    }
}
