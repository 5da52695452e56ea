import TestSupport
import JSONTree
import SecurityRules
import Testing

@testable import DatabaseCore

@Suite("The history of a database's rules")
struct RulesHistoryTests {
    private static let now = Timestamp(milliseconds: 5_000)

    private static func engine() -> DatabaseEngine { DatabaseEngine(Transcript.policy()) }

    private static func text(_ number: Int) -> String { "{\"rules\":{\"a\(number)\":{}}}" }

    /// Asks as an admin; the commits that come of it go to `records`.
    private static func ask(
        _ operation: Request.Operation,
        _ engine: DatabaseEngine,
        _ records: inout [CommitRecord]
    ) -> Response? {
        let request = Request(
            database: Transcript.database,
            credential: .admin(override: nil),
            operation: operation
        )
        var effects: [Effect] = []
        engine.step(.requested(request, id: RequestID(1)), now: now, effects: &effects)
        for case .append(let record) in effects {
            records.append(record)
            let flushed = Input.flushed(record.database, through: record.number)
            engine.step(flushed, now: now, effects: &effects)
        }
        for case .respond(_, let response) in effects { return response }
        return nil
    }

    private static func history(_ engine: DatabaseEngine) -> [RulesVersion] {
        var records: [CommitRecord] = []
        guard case .rulesHistory(let versions) = ask(.getRulesHistory, engine, &records) else {
            return []
        }
        return versions
    }

    private static func put(
        _ text: String?,
        _ engine: DatabaseEngine,
        expecting version: Int? = nil
    ) throws -> Response? {
        var change = RulesChange(author: "ann")
        change.expectedVersion = version
        var records: [CommitRecord] = []
        let rules = try text.map { try Ruleset.load($0) }
        return ask(.putRules(rules, change), engine, &records)
    }

    @Test("rules that are older than the history are its first version, without an author")
    func olderRules() throws {
        let engine = Self.engine()
        let record = CommitRecord(
            database: Transcript.database,
            number: CommitNumber(1),
            time: Timestamp(milliseconds: 10),
            payload: CommitEncoder.encode([.setRules(Self.text(0))])
        )
        try engine.apply(record)
        var effects: [Effect] = []
        engine.recovered(now: Self.now, effects: &effects)
        let first = RulesVersion(number: 1, time: nil, author: nil, text: Self.text(0))
        #expect(Self.history(engine) == [first])
        guard case .rulesMismatch(first) = try Self.put(Self.text(1), engine, expecting: 0) else {
            Issue.record("version 1 was in force, and 0 was expected")
            return
        }
        guard case .rulesPut(1) = try Self.put(Self.text(0), engine) else {
            Issue.record("the same text is the same version")
            return
        }
        guard case .rulesPut(2) = try Self.put(nil, engine, expecting: 1) else {
            Issue.record("a replacement is version 2")
            return
        }
        let second = RulesVersion(number: 2, time: Self.now, author: "ann", text: nil)
        #expect(Self.history(engine) == [first, second])
        #expect(try Self.restored(engine.snapshots()) == [first, second])
    }

    @Test(
        "an entry reads back",
        arguments: [
            (1, 0, "ann"), (7, 1_700_000_000_000, "a/b/c"), (8, 5, "-"), (9, 5, "/"),
            (10, -5, "é😀 x"), (11, nil, nil),
        ] as [(Int, Int64?, String?)]
    )
    func entries(number: Int, milliseconds: Int64?, author: String?) {
        let time = milliseconds.map { Timestamp(milliseconds: $0) }
        for text in ["{\"rules\":{}}", nil] {
            let version = RulesVersion(
                number: number,
                time: time,
                author: author,
                text: text
            )
            var settings = DatabaseSettings()
            let isTaken = settings.take(version.entry)
            #expect(isTaken && settings.versions == [version])
            let isTakenBack = settings.take(version.withdrawal)
            #expect(isTakenBack && settings == DatabaseSettings())
        }
    }

    @Test(
        "an entry that means nothing is refused",
        arguments: [
            "rulesVersion/", "rulesVersion/x", "rulesVersion/1", "rulesVersion/0/1/rules/ann",
            "rulesVersion/1/x/rules/ann", "rulesVersion/1/1/other/ann", "rulesVersion/1/1/rules",
        ]
    )
    func badEntries(name: String) {
        var settings = DatabaseSettings()
        let isTaken = settings.take((name, "text"))
        #expect(!isTaken && settings == DatabaseSettings())
    }

    @Test(
        "the oldest versions make room, the newest stays",
        arguments: [
            // Versions there are, bytes of each, bytes of the new one, versions kept.
            (0, 10, 10, 1), (99, 10, 10, 100), (100, 10, 10, 100), (0, 0, 9 << 20, 1),
            (8, 1 << 20, 0, 9), (8, 1 << 20, 1, 8), (7, 1 << 20, 1 << 20, 8),
            (7, 1 << 20, 8 << 20, 1), (3, 1 << 20, 9 << 20, 1),
        ] as [(Int, Int, Int, Int)]
    )
    func bounds(count: Int, byteCount: Int, newByteCount: Int, keptCount: Int) {
        func version(_ number: Int, _ byteCount: Int) -> RulesVersion {
            // An entry without a text would take the version back.
            let text = String(repeating: "x", count: byteCount)
            return RulesVersion(
                number: number,
                time: Self.now,
                author: "ann",
                text: byteCount == 0 ? nil : text
            )
        }
        var settings = DatabaseSettings()
        for number in 0..<count { settings.versions.append(version(number + 1, byteCount)) }
        let added = version(count + 1, newByteCount)
        for entry in settings.entries(adding: [added]) {
            let isTaken = settings.take(entry)
            #expect(isTaken)
        }
        let first = count + 2 - keptCount
        #expect(settings.versions.map(\.number) == Array(first...(count + 1)))
        #expect(settings.versions.last == added)
    }

    @Test("long rulesets that are labelled are loaded elsewhere, while others go on")
    func loadedElsewhere() throws {
        let engine = Self.engine()
        var records: [CommitRecord] = []
        let space = String(repeating: " ", count: Limits.rulesLoadedAtOnceByteCount)
        for id in ["a", "b"] {
            let rules = try Ruleset.load("{\"rules\":{\"\(id)\":{}}}" + space)
            _ = Self.ask(.storeRuleset(id: id, rules), engine, &records)
        }
        let labels = RulesetLabels(stable: "a", canary: "b")
        let request = Request(
            database: Transcript.database,
            credential: .admin(override: nil),
            operation: .labelRulesets(labels, author: "bob")
        )
        for outcome in ["loaded", "refused", "unusable"] {
            var effects: [Effect] = []
            engine.step(.requested(request, id: RequestID(2)), now: Self.now, effects: &effects)
            effects.removeAll { if case .note(.administered) = $0 { true } else { false } }
            guard case .work(let inquiry, let work) = try #require(effects.first) else {
                if outcome == "loaded" { Issue.record("nothing is loaded elsewhere") }
                continue
            }
            #expect(effects.count == 1)
            // Another author is faster.
            let text = Self.text(Self.history(engine).count)
            #expect(try Self.put(text, engine) != nil)
            let result: LongResult =
                switch outcome {
                case "loaded": work.perform()
                case "refused": .refused
                default: .loaded(nil)
                }
            effects = []
            engine.step(.worked(inquiry, result), now: Self.now, effects: &effects)
            for case .append(let record) in effects {
                let flushed = Input.flushed(record.database, through: record.number)
                engine.step(flushed, now: Self.now, effects: &effects)
            }
            var responses: [String] = []
            for case .respond(_, let response) in effects { responses.append("\(response)") }
            let last = try #require(Self.history(engine).last)
            if outcome == "loaded" {
                #expect(responses == ["done"] && last.author == "bob")
                #expect(last.text?.hasPrefix("{\"rules\":{\"a\"") == true)
            } else {
                #expect(responses.count == 1 && responses[0].hasPrefix("refused"))
                #expect(last.text == text)
            }
        }
    }

    @Test(
        "a random history equals a list, recovered from log and checkpoint",
        arguments: TestSeed.seeds(6)
    )
    func twin(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let engine = Self.engine()
        var records: [CommitRecord] = []
        var checkpoint: [DatabaseSnapshot] = []
        var twin: [String?] = []
        for step in 1...150 {
            let last = twin.last ?? nil
            switch UInt64.random(in: 0..<10, using: &random) {
            case 0, 1:
                _ = Self.ask(.putRules(nil, RulesChange(author: "\(step)")), engine, &records)
                if last != nil { twin.append(nil) }
            case 2:
                checkpoint = engine.snapshots()
                // The log up to here may be gone.
                if Bool.random(using: &random) { records = [] }
            case 3:
                let id = "r\(step)"
                let rules = try Ruleset.load(Self.text(step % 7))
                _ = Self.ask(.storeRuleset(id: id, rules), engine, &records)
                let labels = RulesetLabels(stable: id)
                _ = Self.ask(.labelRulesets(labels, author: "\(step)"), engine, &records)
                if last != rules.text { twin.append(rules.text) }
            default:
                let rules = try Ruleset.load(Self.text(Int.random(in: 0..<7, using: &random)))
                let change = RulesChange(author: "\(step)")
                _ = Self.ask(.putRules(rules, change), engine, &records)
                if last != rules.text { twin.append(rules.text) }
            }
            let versions = Self.history(engine)
            let kept = twin.enumerated().suffix(Limits.rulesVersions)
            #expect(versions.map(\.text) == kept.map(\.element), "seed \(seed), step \(step)")
            #expect(versions.map(\.number) == kept.map { $0.offset + 1 }, "seed \(seed)")
        }
        let versions = Self.history(engine)
        #expect(try Self.restored(checkpoint, records) == versions, "seed \(seed)")
        #expect(try Self.restored(engine.snapshots()) == versions, "seed \(seed)")
    }

    /// The history of a new engine that begins with a checkpoint and a log, which may overlap.
    private static func restored(
        _ snapshots: [DatabaseSnapshot],
        _ records: [CommitRecord] = []
    ) throws -> [RulesVersion] {
        var encoder = CheckpointEncoder(snapshots)
        var bytes: [UInt8] = []
        while encoder.next(into: &bytes, atLeast: 1_000) {}
        let engine = Self.engine()
        var decoder = CheckpointDecoder()
        try decoder.feed(bytes) { snapshot throws(CommitDecodingError) in
            try engine.restore(snapshot)
        }
        try decoder.finish()
        for record in records { try engine.apply(record) }
        var effects: [Effect] = []
        engine.recovered(now: now, effects: &effects)
        return history(engine)
    }
}
