import TestSupport
import JSONTree
import Queries
import SecurityRules
import Testing
import WireProtocol

@testable import DatabaseCore

@Suite("Shadow rules")
struct ShadowTests {
    private static let live = #"""
        {"rules": {
          "room": {".read": "auth != null", ".write": "root.child('open').val() === true || auth.uid === 'u1'",
            "$k": {".validate": "newData.val() != 3"}},
          "open": {".read": true, ".write": "auth != null"},
          "own": {"$u": {".read": "auth.uid === $u", ".write": "auth.uid === $u"}}}}
        """#

    private static let candidate = #"""
        {"rules": {
          "room": {".read": "root.child('open').val() === true", ".write": "auth.uid === 'u2'",
            "$k": {".validate": "newData.isNumber()"}},
          "own": {".read": "auth != null", "$u": {".write": "auth.uid.length / 0 == 1 || true"}}}}
        """#

    /// A server's worth of state under the live rules, with the candidate beside them if it `isTried`.
    private static func driver(_ isTried: Bool) throws -> EngineDriver {
        let driver = EngineDriver(rules: try Ruleset.load(live))
        ask(.storeRuleset(id: "new", try Ruleset.load(candidate)), driver)
        // A commit in either case, so that the numbers are the same.
        let labels = RulesetLabels(canary: isTried ? "new" : nil)
        ask(.labelRulesets(labels, author: "ann"), driver)
        return driver
    }

    @discardableResult
    private static func ask(
        _ operation: Request.Operation,
        _ driver: EngineDriver,
        as user: String? = nil,
        isAdmin: Bool = true
    ) -> [Effect] {
        var override: AuthOverride?
        if !isAdmin {
            override = user.map { .value(Node.absent.with("uid", Node(string: $0))) } ?? .nobody
        }
        let request = Request(
            database: driver.database,
            credential: .admin(override: override),
            operation: operation
        )
        return driver.step(.requested(request, id: RequestID(9)))
    }

    private static func report(_ driver: EngineDriver) throws -> ShadowReport {
        for case .respond(_, .shadow(let report)) in ask(.shadow(resets: false), driver) {
            return report
        }
        throw TranscriptError.notUnderstood("no report")
    }

    /// An effect with all its bytes.
    private static func line(_ effect: Effect) -> String {
        switch effect {
        case .append(let record):
            "append \(record.number) \(record.time.milliseconds) \(record.payload)"
        case .send(.text(let text), let receivers): "send \(text) \(receivers)"
        case .respond(_, .value(let node, _)): "value \(node.json)"
        case .respond(_, .written(let node, _)): "written \(node.json)"
        default: "\(effect)"
        }
    }

    @Test("change no effect of any input", arguments: TestSeed.seeds(6))
    func withoutEffect(seed: UInt64) throws {
        let drivers = [try Self.driver(false), try Self.driver(true)]
        var random = SeededGenerator(seed: seed)
        var refusalCount = 0
        for step in 0..<600 {
            let seedOfStep = UInt64.random(in: 0...UInt64.max, using: &random)
            let lines = try drivers.map { driver in
                var random = SeededGenerator(seed: seedOfStep)
                return try Self.act(driver, step, &random).map(Self.line)
            }
            #expect(lines[0] == lines[1], "seed \(seed), step \(step)")
            refusalCount += lines[0].count { $0.contains("ermission") }
        }
        #expect(refusalCount > 0)
        let quiet = try Self.report(drivers[0])
        #expect(quiet.candidate == nil && quiet.totals == ShadowTotals())
        let report = try Self.report(drivers[1])
        let totals = report.totals
        #expect(totals.decidedCount > 300, "seed \(seed)")
        #expect(totals.newlyAllowedCount > 0 && totals.newlyRefusedCount > 0, "seed \(seed)")
        let counts = report.differences.map(\.count).reduce(0, +)
        #expect(counts == totals.newlyAllowedCount + totals.newlyRefusedCount)
        #expect(totals.agreedCount > 0 && report.unlistedCount == 0)
    }

    /// One random input of some user or connection.
    private static func act(
        _ driver: EngineDriver,
        _ step: Int,
        _ random: inout SeededGenerator
    ) throws -> [Effect] {
        let connection = UInt64.random(in: 1...4, using: &random)
        let user = ["u1", "u2", nil].randomElement(using: &random) ?? nil
        let place =
            ["room/a", "room/b", "room", "open", "own/u1", "own/u2"]
            .randomElement(using: &random) ?? "room"
        let value = ["1", "3", "true", "\"x\"", "null"].randomElement(using: &random) ?? "1"
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return driver.connect(connection * 1_000 + UInt64(step), user: user)
        case 1:
            let old = ConnectionID(connection * 1_000 + UInt64(max(0, step - 20)))
            return driver.step(.disconnected(old))
        case 2, 3:
            return driver.connect(100_000 + UInt64(step), user: user)
                + driver.send(100_000 + UInt64(step), "q", "\"p\":\"/\(place)\",\"h\":\"\"")
        case 4:
            let number = 200_000 + UInt64(step)
            return driver.connect(number, user: user)
                + driver.send(number, "o", "\"p\":\"/\(place)\",\"d\":\(value)")
                + driver.send(number, "g", "\"p\":\"/\(place)\",\"q\":{}")
                + driver.step(.disconnected(ConnectionID(number)))
        case 5:
            let number = 300_000 + UInt64(step)
            let members = "\"p\":\"/\",\"d\":{\"\(place)\":\(value),\"open\":\(value)}"
            return driver.connect(number, user: user)
                + (place == "open" ? [] : driver.send(number, "m", members))
        case 6:
            return ask(
                .get(try WriteTarget("/" + place), .everything),
                driver,
                as: user,
                isAdmin: false
            )
        case 7: return try driver.put("/open", Node(json: Array(value.utf8)))
        default:
            let draft = try Draft(json: Array(value.utf8))
            let operation = Request.Operation.put(try WriteTarget("/" + place), draft)
            return ask(operation, driver, as: user, isAdmin: false)
        }
    }

    @Test("leave undecided what takes them many steps, and do not take many")
    func undecided() throws {
        let driver = EngineDriver(rules: .open)
        let text =
            #"{"rules":{".read":"root.child('t').val().toLowerCase() == ''","a":{".read":true}}}"#
        Self.ask(.storeRuleset(id: "new", try Ruleset.load(text)), driver)
        Self.ask(.labelRulesets(RulesetLabels(canary: "new"), author: "ann"), driver)
        try driver.put("/t", Node(string: String(repeating: "t", count: 400_000)))
        Self.ask(.get(try WriteTarget("/a"), .everything), driver, as: "u1", isAdmin: false)
        let totals = try Self.report(driver).totals
        #expect(totals.decidedCount == 1 && totals.undecidedCount == 1)
        #expect(totals.agreedCount == 0 && totals.newlyRefusedCount == 0)
    }

    @Test("say who differs, where and by which rules; the newest examples stay")
    func examples() throws {
        let driver = try Self.driver(true)
        for number in 0..<25 {
            let operation = Request.Operation.get(try WriteTarget("/own/n\(number)"), .everything)
            Self.ask(operation, driver, as: "u1", isAdmin: false)
        }
        let report = try Self.report(driver)
        #expect(report.totals.newlyAllowedCount == 25 && report.totals.decidedCount == 25)
        let difference = try #require(report.differences.first)
        #expect(difference.count == 25 && difference.isNewlyAllowed && difference.live == nil)
        #expect(difference.operation == "read" && difference.shadow?.path == "/own")
        #expect(difference.examples.map(\.path) == (5..<25).map { "/own/n\($0)" })
        #expect(difference.examples.allSatisfy { $0.uid == "u1" })
    }

    @Test("name the entry of an update that is refused")
    func entries() throws {
        let driver = try Self.driver(true)
        let body = Array(#"{"b":1,"a":"x"}"#.utf8)
        let entries = try MergeEntry.parse(body, base: try Path("/room"))
        try driver.put("/open", Node(json: Array("true".utf8)))
        Self.ask(.merge(try Path("/room"), entries), driver, as: "u2", isAdmin: false)
        let difference = try #require(try Self.report(driver).differences.first)
        #expect(difference.operation == "update" && !difference.isNewlyAllowed)
        #expect(difference.shadow?.kind == "validate" && difference.shadow?.path == "/room/$k")
        #expect(difference.examples.map(\.path) == ["/room/a"])
    }

    @Test("keep of a long text what ends with a whole character")
    func cutTexts() {
        // 254 bytes, then a character of two, three or four of them.
        for character in ["é", "☃", "😀", "x"] {
            let text = String(repeating: "n", count: 254) + String(repeating: character, count: 9)
            let example = ShadowDifference.Example(
                path: "/" + text,
                uid: text,
                time: Timestamp(milliseconds: 1)
            )
            for kept in [example.path, example.uid ?? ""] {
                #expect(kept.hasSuffix("...") && kept.utf8.count <= 259)
                #expect(
                    ("/" + text).hasPrefix(kept.dropLast(3)) || text.hasPrefix(kept.dropLast(3))
                )
            }
        }
    }

    @Test("that this server does not load keep none of it from starting")
    func unloadable() throws {
        let encoded = CommitEncoder.encode([
            .setting(name: "ruleset/5/old", text: "{\"rules\":{\".read\":\"x\"}}"),
            .setting(name: "label/canary", text: "old"),
        ])
        let driver = EngineDriver()
        try driver.engine.apply(
            CommitRecord(
                database: driver.database,
                number: CommitNumber(1),
                time: Timestamp(milliseconds: 5),
                payload: encoded
            )
        )
        var effects: [Effect] = []
        driver.engine.recovered(now: Timestamp(milliseconds: 6), effects: &effects)
        #expect(try Self.report(driver).candidate == nil)
        Self.ask(.get(try WriteTarget("/a"), .everything), driver, isAdmin: false)
        #expect(try Self.report(driver).totals.decidedCount == 0)
    }
}

extension Node {
    fileprivate var json: String {
        var text: [UInt8] = []
        appendJSON(to: &text, .export)
        return String(decoding: text, as: UTF8.self)
    }
}
