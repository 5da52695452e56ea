import DatabaseCore
import JSONTree
import Logging
import Queries
import RulesTools
import SecurityRules
import Testing
import WireProtocol

@testable import DatabaseServer

/// Records of decisions as an engine makes them.
private struct Decisions {
    private let engine: DatabaseEngine
    private let database = DatabaseID("demo")

    init() throws {
        let rules = try Ruleset.load(
            #"{"rules":{"a":{".read":"auth.uid === 'ann'"},"b":{".read":true}}}"#
        )
        engine = DatabaseEngine(
            EnginePolicy(
                databases: [database],
                createsDatabases: false,
                defaultRules: rules,
                inspection: .all
            )
        )
    }

    /// The record of a read by a user who has so many bytes of claims.
    func read(_ path: String, by uid: String = "ann", claimByteCount: Int = 0) throws
        -> DecisionRecord
    {
        let claim = String(repeating: "x", count: claimByteCount)
        var name: [UInt8] = []
        appendJSONString(uid, to: &name)
        let uid = String(decoding: name, as: UTF8.self)
        let auth = try Node(json: #"{"uid":\#(uid),"claim":"\#(claim)"}"#)
        let request = Request(
            database: database,
            credential: .admin(override: .value(auth)),
            operation: .get(try WriteTarget(path), .everything)
        )
        var effects: [Effect] = []
        engine.step(
            .requested(request, id: RequestID(1)),
            now: Timestamp(milliseconds: 1),
            effects: &effects
        )
        for case .decided(_, let record) in effects { return record }
        throw NoRecord()
    }

    private struct NoRecord: Error {}
}

@Suite("The ring of decisions")
struct DecisionRingTests {
    private let decisions: Decisions

    init() throws {
        decisions = try Decisions()
    }

    private func numbers(_ ring: DecisionRing) -> [UInt64] {
        ring.records(RequestFilter()).map(\.number)
    }

    @Test("keeps so many, the newest")
    func count() throws {
        var ring = DecisionRing(countLimit: 3)
        for _ in 1...5 { ring.add(try decisions.read("/a")) }
        #expect(ring.count == 3)
        #expect(numbers(ring) == [5, 4, 3])
    }

    @Test("keeps so many bytes, whatever comes")
    func bytes() throws {
        var ring = DecisionRing(countLimit: 1_000, byteLimit: 100_000)
        for size in [10, 30_000, 10, 60_000, 50_000, 10, 99_000, 200_000, 10, 20] {
            ring.add(try decisions.read("/a", claimByteCount: size))
            #expect(ring.byteCount <= 100_000)
        }
        // What is larger than all the room is not kept, and takes all before it with it.
        #expect(numbers(ring) == [10, 9])
        #expect(ring.byteCount > 1_000)
    }

    @Test("counts the rules for the first record under them")
    func rules() throws {
        var ring = DecisionRing()
        ring.add(try decisions.read("/a"))
        let first = ring.byteCount
        ring.add(try decisions.read("/a"))
        let second = ring.byteCount - first
        #expect(second < first)
        ring.add(try Decisions().read("/a"))
        #expect(ring.byteCount - first - second == first)
    }

    @Test("counts on when it is emptied, and nothing is left")
    func emptied() throws {
        var ring = DecisionRing()
        ring.add(try decisions.read("/a"))
        ring.removeAll()
        #expect(ring.count == 0)
        #expect(ring.byteCount == 0)
        ring.dropOldest()
        ring.add(try decisions.read("/a"))
        #expect(numbers(ring) == [2])
    }

    @Test("of all databases that together have too much the fullest loses its oldest")
    func databases() throws {
        var rings = DecisionRings(byteLimit: 100_000)
        let (one, other) = (DatabaseID("one"), DatabaseID("other"))
        rings.add(try decisions.read("/a", claimByteCount: 20_000), of: other)
        for _ in 1...10 {
            rings.add(try decisions.read("/a", claimByteCount: 15_000), of: one)
            #expect(rings.byteCount <= 100_000)
            #expect(rings.byteCount == rings[one].byteCount + rings[other].byteCount)
        }
        #expect(numbers(rings[other]) == [1])
        #expect(numbers(rings[one]).first == 10)
        rings.removeAll(of: one)
        #expect(rings.byteCount == rings[other].byteCount)
    }

    @Test(
        "a filter takes what all of its parts take",
        arguments: [
            ("", [4, 3, 2, 1]), ("refused=true", [3]), ("path=/a", [3, 2, 1]),
            ("path=/a/b", [2]), ("path=a&uid=ann", [2, 1]), ("uid=none", []),
            ("limit=2", [4, 3]), ("after=2", [4, 3]), ("after=9", []),
            ("refused=false", [4, 3, 2, 1]), ("operation=read", [4, 3, 2, 1]),
            ("operation=set", []), ("id=2", [2]), ("id=9", []), ("connection=5", []),
        ]
    )
    func filters(_ query: String, _ found: [UInt64]) throws {
        var ring = DecisionRing()
        ring.add(try decisions.read("/a"))
        ring.add(try decisions.read("/a/b"))
        ring.add(try decisions.read("/a/c", by: "bob"))
        ring.add(try decisions.read("/b", by: "cid"))
        let pairs = query.split(separator: "&").map { part in
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            return (name: String(sides[0]), value: String(sides[1]))
        }
        #expect(ring.records(try RequestFilter(pairs)).map(\.number) == found)
    }
}

@Suite("Lines of the log for refusals")
struct RefusalLogTests {
    @Test("are so many a second, and the others are counted")
    func limit() {
        var log = RefusalLog()
        var lineCount = 0
        for _ in 1...25 where log.admits(at: 5_100) { lineCount += 1 }
        #expect(lineCount == RefusalLog.linesPerSecond)
        let count = log.takeSuppressed()
        #expect(count == 15)
        let again = log.takeSuppressed()
        #expect(again == 0)
        let isAdmitted = log.admits(at: 6_000)
        #expect(isAdmitted)
    }

    @Test("say who, where and which rule, and no value")
    func words() throws {
        let record = try Decisions().read("/a", by: "bob\n\u{1b}[1m", claimByteCount: 10)
        let metadata = RefusalLog.metadata(record, of: DatabaseID("demo"))
        let line = LogLine(.text).text(
            time: 0,
            level: .info,
            message: "refused read",
            metadata: metadata
        )
        #expect(line.contains("path=/a protocol=rest"))
        #expect(line.contains("last /a .read, line 1"))
        #expect(line.contains(#"uid=bob\n\u{1b}[1m"#))
        #expect(!line.contains("xxxx"))
    }
}

@Suite("A list of decisions")
struct DecisionListTests {
    /// A refused update of so many places under long rules, with every value noted down.
    private func refusal(of count: Int, terms: Int) throws -> DecisionRecord {
        let long = Array(repeating: "newData.val() != 'a'", count: terms).joined(separator: " && ")
        let text =
            #"{"rules":{".write":true,"$k":{".validate":"\#(long)"},"z":{".validate":false}}}"#
        let rules = try Ruleset.load(text)
        let database = DatabaseID("demo")
        let engine = DatabaseEngine(
            EnginePolicy(
                databases: [database],
                createsDatabases: false,
                defaultRules: rules,
                inspection: .refused
            )
        )
        let entries = try ((0..<count).map { "k\($0)" } + ["z"]).map { key in
            MergeEntry(target: try WriteTarget(key), draft: Draft(Node(true)))
        }
        let request = Request(
            database: database,
            credential: .none,
            operation: .merge(.root, entries)
        )
        var effects: [Effect] = []
        let now = Timestamp(milliseconds: 1)
        engine.step(.requested(request, id: RequestID(1)), now: now, effects: &effects)
        for case .decided(_, let record) in effects { return record }
        throw NoRecord()
    }

    private struct NoRecord: Error {}

    private func list(of record: DecisionRecord, _ count: Int) -> DecisionList {
        DecisionList(
            level: .refused,
            records: (0..<count).map { (UInt64(count - $0), record) }
        )
    }

    @Test("is cut to what an answer has room for, and says so")
    func bounds() throws {
        let list = list(of: try refusal(of: 60, terms: 30), 300)
        let limit = InspectionLimits.answerByteCount + 4 * InspectionLimits.traceByteCount
        let json = String(decoding: list.json(), as: UTF8.self)
        let text = String(decoding: list.text(), as: UTF8.self)
        for answer in [json, text] { #expect(answer.utf8.count < limit) }
        #expect(json.contains("\"leftOut\":"))
        #expect(text.contains("#300 "))
        #expect(json.contains("\"traceIsCut\":true") && !json.contains("\"traceIsCut\":false"))
    }

    @Test("is whole where it fits, and shows the rule that decided")
    func whole() throws {
        let list = list(of: try refusal(of: 3, terms: 2), 5)
        let json = String(decoding: list.json(), as: UTF8.self)
        #expect(!json.contains("leftOut"))
        #expect(json.contains("\"traceIsCut\":false"))
        #expect(json.contains("\"path\":\"/z\""))
    }
}
