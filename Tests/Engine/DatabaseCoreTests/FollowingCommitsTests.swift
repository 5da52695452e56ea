import JSONTree
import Queries
import SecurityRules
import Testing
import WireProtocol

@testable import DatabaseCore

/// What a commit of the owner does to the listens of a node that follows.
@Suite("Following: commits of the owner")
struct FollowingCommitsTests {
    // MARK: - Data

    /// A change, and what a listen to `/` and one to `/a` are sent of it.
    struct Shape: Sendable, CustomTestStringConvertible {
        var update: Bool
        let path: String
        let json: String
        let root: String
        let below: String?

        var testDescription: String { "\(update ? "update" : "put") \(path) \(json)" }

        static func put(_ path: String, _ json: String, _ root: String, _ below: String?) -> Shape {
            Shape(update: false, path: path, json: json, root: root, below: below)
        }

        static func update(
            _ path: String,
            _ json: String,
            _ root: String,
            _ below: String?
        ) -> Shape {
            Shape(update: true, path: path, json: json, root: root, below: below)
        }
    }

    @Test(
        "listens are sent a commit in the form of its change",
        arguments: [
            .put(
                "/a/x",
                "1",
                #""a":"d","b":{"p":"a/x","d":1}"#,
                #""a":"d","b":{"p":"a/x","d":1}"#
            ),
            .put(
                "/b",
                #"{"y":2}"#,
                #""a":"d","b":{"p":"b","d":{"y":2}}"#,
                nil
            ),
            .put(
                "/",
                #"{"a":3,"b":4}"#,
                #""a":"d","b":{"p":"","d":{"a":3,"b":4}}"#,
                #""a":"d","b":{"p":"a","d":3}"#
            ),
            .put(
                "/a/.priority",
                "5",
                #""a":"d","b":{"p":"a/.priority","d":5}"#,
                #""a":"d","b":{"p":"a/.priority","d":5}"#
            ),
            .update(
                "/a",
                #"{"x":1,"y/z":2}"#,
                #""a":"m","b":{"p":"a","d":{"x":1,"y/z":2}}"#,
                #""a":"m","b":{"p":"a","d":{"x":1,"y/z":2}}"#
            ),
            // Its base is the deepest one that it may have had.
            .update(
                "/",
                #"{"a/x/1":1,"a/x/2":2}"#,
                #""a":"m","b":{"p":"a/x","d":{"1":1,"2":2}}"#,
                #""a":"m","b":{"p":"a/x","d":{"1":1,"2":2}}"#
            ),
            .update(
                "/",
                #"{"a/x":1,"b":2}"#,
                #""a":"m","b":{"p":"","d":{"a/x":1,"b":2}}"#,
                #""a":"m","b":{"p":"a","d":{"x":1}}"#
            ),
            // Without a difference beside it, an update is a put.
            .update(
                "/",
                #"{"a/x":1,"a/k":0}"#,
                #""a":"d","b":{"p":"a/x","d":1}"#,
                #""a":"d","b":{"p":"a/x","d":1}"#
            ),
            .update(
                "/",
                #"{"a/.priority":5,"a/x":1}"#,
                #""a":"m","b":{"p":"a","d":{"x":1,".priority":5}}"#,
                #""a":"m","b":{"p":"a","d":{"x":1,".priority":5}}"#
            ),
            .update(
                "/a",
                #"{"x":1,".priority":5}"#,
                #""a":"m","b":{"p":"a","d":{"x":1,".priority":5}}"#,
                #""a":"m","b":{"p":"a","d":{"x":1,".priority":5}}"#
            ),
        ] as [Shape]
    )
    func shapes(shape: Shape) throws {
        let driver = FollowingDriver()
        try driver.put("/", #"{"a":{"k":0},"b":0}"#)
        _ = try driver.enter()
        driver.connect(1)
        driver.connect(2)
        _ = driver.send(1, #"{"r":1,"a":"q","b":{"p":"/","h":""}}"#)
        _ = driver.send(2, #"{"r":1,"a":"q","b":{"p":"/a","h":""}}"#)
        if shape.update {
            try driver.update(shape.path, shape.json)
        } else {
            try driver.put(shape.path, shape.json)
        }
        let expected = ["1 < {\(shape.root)}"] + (shape.below.map { ["2 < {\($0)}"] } ?? [])
        #expect(try driver.enter().sorted() == expected)
        #expect(driver.root == driver.owner.engine.root(of: driver.owner.database))
    }

    @Test("a value and its priority in one commit are an update of the node above")
    func valueAndPriority() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        _ = driver.send(1, #"{"r":1,"a":"q","b":{"p":"/","h":""}}"#)
        let operations: [CommitOperation] = [
            .write(try WriteTarget("/a/k"), Node(integer: 1)),
            .write(try WriteTarget("/a/k/.priority"), Node(integer: 5)),
        ]
        let payload = CommitEncoder.encode(operations)
        #expect(
            try driver.enter(payload) == [
                #"1 < {"a":"m","b":{"p":"a","d":{"k":1,"k/.priority":5}}}"#
            ]
        )
    }

    @Test("a commit that is entered twice changes nothing, and one behind a gap neither")
    func twiceAndGaps() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        _ = driver.send(1, #"{"r":1,"a":"q","b":{"p":"/","h":""}}"#)
        for value in 1...3 { try driver.put("/a", "\(value)") }
        let commits = driver.commits
        let engine = driver.follower.engine
        var effects: [Effect] = []
        try engine.enter(commits[0], effects: &effects)
        try engine.enter(commits[1], effects: &effects)
        #expect(effects.words.count == 2)
        effects = []
        try engine.enter(commits[0], effects: &effects)
        try engine.enter(commits[1], effects: &effects)
        #expect(effects.isEmpty)
        try driver.put("/a", "4")
        let next = driver.commits[3]
        let gap = CommitDecodingError.gap(expected: commits[2].number, found: next.number)
        #expect(throws: gap) { try engine.enter(next, effects: &effects) }
        #expect(effects.isEmpty)
        #expect(driver.root == Node.absent.with("a", Node(integer: 2)))
        #expect(try driver.enter() == [3, 4].map { #"1 < {"a":"d","b":{"p":"a","d":\#($0)}}"# })
    }

    @Test("what is sent behind a commit without an operation does not wait for the next one")
    func emptyCommit() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        #expect(try driver.enter([1]) == [])
        let get = #"{"r":1,"a":"g","b":{"p":"/"}}"#
        #expect(driver.send(1, get) == [#"1 < {"r":1,"b":{"s":"ok","d":null}}"#])
    }

    @Test("an event stream shows the commits of the owner")
    func stream() throws {
        let driver = FollowingDriver()
        let operation = Request.Operation.stream(
            ConnectionID(7),
            try Path("/a"),
            .everything,
            isExport: false
        )
        let request = Request(
            database: driver.owner.database,
            credential: .none,
            operation: operation
        )
        let effects = driver.follower.step(.requested(request, id: RequestID(7))).words
        #expect(effects == [#"7 < event: put {"path":"/","data":null}"#])
        try driver.put("/a/x", "1")
        try driver.update("/a", #"{"x":2,"y":3}"#)
        #expect(
            try driver.enter() == [
                #"7 < event: put {"path":"/x","data":1}"#,
                #"7 < event: patch {"path":"/","data":{"x":2,"y":3}}"#,
            ]
        )
    }

    // MARK: - Rules

    private static let gate = #"{"rules":{".read":"root.child('open').val() == true"}}"#

    /// A follower with a listen that may read `/a` while `/open` is true.
    private func gated() throws -> FollowingDriver {
        let driver = FollowingDriver(rules: try Ruleset.load(Self.gate))
        try driver.put("/open", "true")
        _ = try driver.enter()
        driver.connect(1)
        #expect(driver.send(1, #"{"r":1,"a":"q","b":{"p":"/a","h":""}}"#).count == 1)
        return driver
    }

    @Test(
        "rules that a commit puts in force end what they forbid, before the data of the next one",
        arguments: [#"{"rules":{".read":false}}"#, nil]
    )
    func rules(text: String?) throws {
        let driver = try gated()
        if text == nil {
            // Rules of its own that allow all, which are then taken away from a closed gate.
            let open = try Ruleset.load(#"{"rules":{".read":true}}"#)
            driver.administer(.putRules(open, RulesChange(author: "ann")))
            try driver.put("/open", "false")
            #expect(try driver.enter() == ["other rules"])
        }
        let rules = try text.map { try Ruleset.load($0) }
        driver.administer(.putRules(rules, RulesChange(author: "ann")))
        try driver.put("/a", "1")
        #expect(try driver.enter() == [#"1 < {"a":"c","b":{"p":"a"}}"#, "other rules"])
        let get = #"{"r":2,"a":"g","b":{"p":"/a"}}"#
        let denied = #"1 < {"r":2,"b":{"s":"permission_denied","d":"Permission denied"}}"#
        #expect(driver.send(1, get) == [denied])
    }

    @Test("rules that a label puts in force end what they forbid")
    func label() throws {
        let driver = try gated()
        let rules = try Ruleset.load(#"{"rules":{".read":false}}"#)
        driver.administer(.storeRuleset(id: "shut", rules))
        driver.administer(.labelRulesets(RulesetLabels(stable: "shut", canary: nil), author: "ann"))
        #expect(try driver.enter() == [#"1 < {"a":"c","b":{"p":"a"}}"#, "other rules"])
    }

    @Test(
        "settings beside the rules end nothing, and are there when the follower becomes the owner"
    )
    func settings() throws {
        let driver = try gated()
        driver.administer(.putSetting(.defaultWriteSizeLimit(.tiny)))
        #expect(try driver.enter() == [])
        let snapshots = driver.follower.engine.snapshots()
        #expect(snapshots.map(\.settings.defaultWriteSizeLimit) == [.tiny])
    }

    @Test("rules that a label puts beside those in force are tried here too")
    func canary() throws {
        let driver = try gated()
        driver.administer(.storeRuleset(id: "new", .open))
        driver.administer(.labelRulesets(RulesetLabels(stable: nil, canary: "new"), author: "ann"))
        #expect(try driver.enter() == [])
        let credential = RequestCredential.admin(override: nil)
        let request = Request(
            database: driver.owner.database,
            credential: credential,
            operation: .shadow(resets: false)
        )
        var candidates: [String?] = []
        for case .respond(_, .shadow(let report)) in driver.follower.step(
            .requested(request, id: RequestID(1))
        ) {
            candidates.append(report.candidate)
        }
        #expect(candidates == ["new"])
    }

    @Test("a listen is authorized again at the time of the commit")
    func time() throws {
        let rules = #"{"rules":{".read":"root.child('x').val() != 7 && now >= 1000"}}"#
        let driver = FollowingDriver(rules: try Ruleset.load(rules))
        driver.connect(1)
        #expect(driver.send(1, #"{"r":1,"a":"q","b":{"p":"/a","h":""}}"#).count == 1)
        let payload = CommitEncoder.encode([.write(try WriteTarget("/x"), Node(true))])
        #expect(try driver.enter(payload) == [#"1 < {"a":"c","b":{"p":"a"}}"#])
    }

    @Test("a listen whose rule looked at what a commit changes ends before it is sent the commit")
    func dependent() throws {
        let driver = try gated()
        try driver.update("/", #"{"open":1,"a":"secret"}"#)
        #expect(try driver.enter() == [#"1 < {"a":"c","b":{"p":"a"}}"#])
    }

    // MARK: - Listens that await a decision

    /// Listens of session 1 to `/a` and `/b`, and of session 2 to so much that one commit cannot decide all.
    private func crowd() throws -> FollowingDriver {
        let driver = try gated()
        _ = driver.send(1, #"{"r":2,"a":"q","b":{"p":"/b","h":""}}"#)
        driver.connect(2)
        for number in 1..<Limits.decisionsAtOnce {
            let body = #"{"p":"/a","q":{"l":\#(number)},"t":\#(number),"h":""}"#
            _ = driver.send(2, #"{"r":\#(number),"a":"q","b":\#(body)}"#)
        }
        #expect(driver.follower.engine.listenCount == Limits.decisionsAtOnce + 1)
        let put = #"{"r":3,"a":"p","b":{"p":"/a","d":3}}"#
        #expect(driver.send(1, put) == ["1 > \(put)"])
        return driver
    }

    private static let done = #"{"r":3,"b":{"s":"ok","d":""}}"#

    @Test(
        "of many listens that await a decision, those of a session are decided before it is sent an answer"
    )
    func crowded() throws {
        let driver = try crowd()
        try driver.update("/", #"{"open":null,"a":3}"#)
        try driver.update("/", #"{"open":true,"b":4}"#)
        #expect(try driver.enter() == [])
        #expect(driver.follower.engine.hasWork)
        #expect(
            driver.answer(1, Self.done) == [
                #"1 < {"a":"d","b":{"p":"a","d":3}}"#, #"1 < {"a":"d","b":{"p":"b","d":4}}"#,
                "1 < \(Self.done)",
            ]
        )
        // They take part again, and nothing is left of their wait.
        try driver.put("/b", "5")
        #expect(try driver.enter() == [#"1 < {"a":"d","b":{"p":"b","d":5}}"#])
        var rest: [String] = []
        while driver.follower.engine.hasWork {
            rest += driver.follower.step(.longWork(steps: 2_000)).words
        }
        #expect(rest.allSatisfy { $0.hasPrefix("2 <") })
    }

    @Test(
        "of many listens that await a decision, those of a session end before it is sent an answer"
    )
    func crowdedOut() throws {
        let driver = try crowd()
        try driver.update("/", #"{"open":null,"a":3}"#)
        #expect(try driver.enter() == [])
        #expect(
            driver.answer(1, Self.done) == [
                #"1 < {"a":"c","b":{"p":"a"}}"#, #"1 < {"a":"c","b":{"p":"b"}}"#,
                "1 < \(Self.done)",
            ]
        )
    }
}
