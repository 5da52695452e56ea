import JSONTree
import SecurityRules
import Testing

@testable import DatabaseCore

@Suite("updates of many paths")
struct LargeWriteTests {
    private static let count = 90_000

    /// The work that an update of many paths below `base` is, decided.
    private func decide(
        _ rules: String,
        inspection: InspectionLevel = .off,
        key: (Int) -> String = { "k\($0)" }
    ) throws -> (DecidedWrite, effects: [Effect]) {
        let driver = EngineDriver(rules: try Ruleset.load(rules), inspection: inspection)
        driver.connect(1, user: "ann")
        let members = (0..<Self.count).map { number in #""\#(key(number))":{"n":\#(number)}"# }
        let asked = driver.send(1, "m", #""p":"/","d":{\#(members.joined(separator: ","))}"#)
        guard asked.count == 1, case .work(let inquiry, .decide(let write)) = asked[0] else {
            throw LargeWriteFault(effectCount: asked.count)
        }
        let decided = try #require(write.decide())
        return (decided, driver.step(.worked(inquiry, .decided(decided))))
    }

    struct LargeWriteFault: Error {
        let effectCount: Int
    }

    @Test("one whose first path is refused costs that path, and nothing of the rest is made")
    func first() throws {
        for rules in [
            #"{"rules":{}}"#, #"{"rules":{".write":false}}"#,
            #"{"rules":{"$k":{".write":"auth.uid == 'bob' || data.exists()","n":{".write":false}}}}"#,
        ] {
            let (decided, effects) = try decide(rules)
            #expect(!decided.isAllowed)
            #expect(decided.decidedCount == 1)
            #expect(decided.made == nil)
            #expect(effects.texts(to: 1).map { $0.contains("permission_denied") } == [true])
        }
    }

    @Test("one is asked about as far as the first path that is refused")
    func later() throws {
        let rules = #"{"rules":{"mine":{".write":"auth.uid == 'ann'"}}}"#
        let (decided, _) = try decide(rules) { $0 < 1_000 ? "mine/k\($0)" : "k\($0)" }
        #expect(!decided.isAllowed)
        #expect(decided.decidedCount == 1_001)
        #expect(decided.made == nil)
    }

    @Test("one that the rules decide by its data is made first, away from the loop")
    func newData() throws {
        let rules = #"{"rules":{"$k":{".write":"newData.child('n').val() > 0"}}}"#
        let (decided, effects) = try decide(rules)
        #expect(!decided.isAllowed)
        #expect(decided.made?.changes.count == Self.count)
        #expect(effects.texts(to: 1).map { $0.contains("permission_denied") } == [true])
    }

    @Test("one that is allowed is done as it was decided")
    func allowed() throws {
        let (decided, effects) = try decide(#"{"rules":{".write":"auth != null"}}"#)
        #expect(decided.isAllowed)
        let commits = effects.filter { effect in if case .append = effect { true } else { false } }
        #expect(commits.count == 1)
        #expect(effects.texts(to: 1).map { $0.contains(#""s":"ok""#) } == [true])
    }

    @Test("where refusals are inspected, its values are those of the whole update")
    func inspected() throws {
        let rules = #"{"rules":{"$k":{".write":"newData.child('n').val() > 0 && false"}}}"#
        let (decided, effects) = try decide(rules, inspection: .refused)
        #expect(decided.made?.changes.count == Self.count)
        let records = effects.compactMap { effect -> DecisionRecord? in
            if case .decided(_, let record) = effect { record } else { nil }
        }
        #expect(records.map(\.targetCount) == [Self.count])
    }

    @Test("one whose client has left is given up")
    func given() throws {
        let driver = EngineDriver(rules: try Ruleset.load(#"{"rules":{".write":true}}"#))
        driver.connect(1)
        let members = (0..<1_000).map { number in #""k\#(number)":\#(number)"# }
        let asked = driver.send(1, "m", #""p":"/","d":{\#(members.joined(separator: ","))}"#)
        guard case .work(let inquiry, let work)? = asked.first else {
            Issue.record("it is decided elsewhere")
            return
        }
        let left = driver.step(.disconnected(ConnectionID(1)))
        guard case .endWork(inquiry)? = left.first else {
            Issue.record("no request waits for it: \(left)")
            return
        }
        guard case .refused = work.perform(isCancelled: { true }) else {
            Issue.record("it is given up")
            return
        }
        #expect(driver.step(.worked(inquiry, work.perform())).isEmpty)
        #expect(driver.engine.root(of: driver.database).isAbsent)
    }

    @Test(
        "values of a cancelled write are not computed",
        arguments: [true, false]
    )
    func resolving(isUpdate: Bool) throws {
        let driver = EngineDriver(rules: try Ruleset.load(#"{"rules":{".write":true}}"#))
        driver.connect(1)
        let time = #"{".sv":"timestamp"}"#
        let members = (0..<5_000).map { number in #""k\#(number)":\#(isUpdate ? "1" : time)"# }
        let body = #""p":"/list","d":{\#(members.joined(separator: ","))}"#
        let asked = driver.send(1, isUpdate ? "m" : "p", body)
        guard case .work(_, let work)? = asked.first else {
            Issue.record("it is decided elsewhere")
            return
        }
        // Before it, behind the first look at the rules, and then on the way.
        for limit in [3, 4, 5] {
            var askedCount = 0
            let result = work.perform {
                askedCount += 1
                return askedCount == limit
            }
            guard case .refused = result else {
                Issue.record("it is given up")
                continue
            }
            #expect(askedCount == limit)
        }
    }

    @Test("a cancelled hash stops on the way")
    func hash() throws {
        let node = Node.absent.with("list", try list(20_000))
        var askedCount = 0
        let hash = node.hash(like: nil) {
            askedCount += 1
            return askedCount == 2
        }
        #expect(hash == nil)
        #expect(askedCount == 2)
        #expect(node.hash(like: nil, isCancelled: { false }) == node.hash())
    }

    private func list(_ count: Int) throws -> Node {
        try Node(json: Array("[\((0..<count).map(String.init).joined(separator: ","))]".utf8))
    }

    @Test("on-disconnect writes that depend on each other are decided in rounds that have an end")
    func rounds() throws {
        // Each is refused once the one before it is gone.
        let rules =
            #"{"rules":{".read":true,"$k":{"$n":{".write":"newData.parent().parent().child(data.parent().parent().child('before/' + $n).val()).exists() || data.parent().parent().child('lead').val() == true"}}}}"#
        let driver = EngineDriver(rules: try Ruleset.load(rules))
        var before = Node.absent
        for index in 1..<100 { before = before.with("n\(index)", Node(string: "k/n\(index - 1)")) }
        try driver.put("/before", before.with("n0", Node(string: "none")))
        try driver.put("/lead", Node(true))
        driver.connect(1)
        let members = (0..<100).map { number in #""n\#(number)":1"# }.joined(separator: ",")
        let stored = driver.send(1, "om", #""p":"/k","d":{\#(members)}"#).texts(to: 1)
        #expect(stored.map { $0.contains(#""s":"ok""#) } == [true])
        try driver.put("/lead", Node(false))
        let effects = driver.step(.disconnected(ConnectionID(1)))
        let notes = effects.filter { effect in if case .note = effect { true } else { false } }
        #expect(notes.count == 100)
        #expect(driver.engine.root(of: driver.database).child(try Key("k")).isAbsent)
    }
}
