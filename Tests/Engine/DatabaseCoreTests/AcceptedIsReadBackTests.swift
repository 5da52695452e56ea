import JSONTree
import SecurityRules
import Simulation
import TestSupport
import Testing
import WireProtocol
import WriteAheadLog

@testable import DatabaseCore

/// Whatever the engine takes is decoded by the reader of log and checkpoint: one test for each kind of
/// value that is encoded, with everything that may be in it. The table stands in docs/internals/LOG_FORMAT.md.
@Suite("What is accepted is read back")
struct AcceptedIsReadBackTests {
    /// An engine whose commits are kept, so that others can be made of them.
    private final class Kept {
        private let driver = EngineDriver(rules: .open)
        private var records: [CommitRecord] = []
        private var requests: UInt64 = 0

        func keep(_ effects: [Effect]) -> [Effect] {
            for case .append(let record) in effects { records.append(record) }
            return effects
        }

        /// Asks as an admin; what makes no commit is a fault of the test, unless the value may be there already.
        func ask(_ operation: Request.Operation, mayBeThere: Bool = false) {
            requests += 1
            let request = Request(
                database: driver.database,
                credential: .admin(override: nil),
                operation: operation,
            )
            let before = records.count
            let effects = keep(driver.step(.requested(request, id: RequestID(requests))))
            if records.count > before || mayBeThere { return }
            Issue.record("no commit came of \("\(operation)".prefix(200)): \(effects)")
        }

        func put(_ json: String, at path: String, mayBeThere: Bool = false) throws {
            let draft = try Draft(json: Array(json.utf8))
            ask(.put(try WriteTarget(path), draft), mayBeThere: mayBeThere)
        }

        func connect(_ number: UInt64, claims: Node?) {
            _ = keep(driver.connect(number))
            guard let claims else { return }
            let effects = keep(driver.send(number, "auth", #""cred":"t""#))
            for case .verify(let inquiry, _) in effects {
                _ = keep(driver.step(.verified(inquiry, .user(AuthVariable(claims)))))
            }
        }

        func send(_ number: UInt64, _ action: String, _ members: String) {
            let before = records.count
            let effects = keep(driver.send(number, action, members))
            if records.count > before { return }
            Issue.record("no commit came of \(action) \(members.prefix(200)): \(effects)")
        }

        /// Makes an engine of the log, one of a checkpoint and one of a checkpoint of that.
        func expectReadBack(_ comment: Comment) throws {
            let live = driver.engine.snapshots()
            let replayed = DatabaseEngine(Transcript.policy())
            for record in records {
                let read = CommitRecord(
                    database: record.database,
                    number: record.number,
                    time: record.time,
                    payload: record.payload,
                )
                #expect(record.payloadByteCount == record.payload.count, comment)
                try replayed.apply(read)
            }
            expectSame(live, replayed.snapshots(), comment)
            let once = try restored(live)
            expectSame(live, once, comment)
            expectSame(live, try restored(once), comment)
        }

        private func restored(_ snapshots: [DatabaseSnapshot]) throws -> [DatabaseSnapshot] {
            var encoder = CheckpointEncoder(snapshots)
            var decoder = CheckpointDecoder()
            let engine = DatabaseEngine(Transcript.policy())
            var piece: [UInt8] = []
            while encoder.next(into: &piece, atLeast: 1_000) {
                try decoder.feed(piece) { snapshot throws(CommitDecodingError) in
                    try engine.restore(snapshot)
                }
                piece = []
            }
            try decoder.finish()
            return engine.snapshots()
        }

        private func expectSame(
            _ live: [DatabaseSnapshot],
            _ found: [DatabaseSnapshot],
            _ comment: Comment
        ) {
            #expect(live.map(\.database) == found.map(\.database), comment)
            for (a, b) in zip(live, found) {
                let isSameTree = a.root == b.root && a.root.json(.export) == b.root.json(.export)
                #expect(isSameTree, comment)
                #expect(a.number == b.number && a.time == b.time, comment)
                #expect(a.rules == b.rules && a.settings == b.settings, comment)
                #expect(a.disconnects.map(\.session) == b.disconnects.map(\.session), comment)
                for (x, y) in zip(a.disconnects, b.disconnects) {
                    #expect(x.state.identity == y.state.identity, comment)
                    let areSame = x.state.writes.writes.elementsEqual(y.state.writes.writes) {
                        // The depth is counted anew, as an upper bound it may be less.
                        $0.target == $1.target && $0.draft.node == $1.draft.node
                            && $0.draft.serverValues == $1.draft.serverValues
                            && $0.draft.priorities == $1.draft.priorities
                    }
                    #expect(areSame, comment)
                }
            }
        }
    }

    /// JSON of a map of many members, whose values are of every size.
    private static func members(
        _ order: KeyOrder,
        _ random: inout SeededGenerator,
        with more: (Int) -> String? = { _ in nil }
    ) -> String {
        let keys = order.keys(120, &random)
        let members = keys.enumerated().map { index, key in
            let text = ValueSize.allCases[index % 3].text(&random)
            let value = more(index) ?? quoted(text)
            return quoted(key) + ":" + value
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    @Test("data with keys in any order", arguments: KeyOrder.allCases)
    func data(order: KeyOrder) throws {
        var random = TestSeed.generator(1)
        let kept = Kept()
        try kept.put(Self.members(order, &random), at: "whole")
        for key in order.keys(40, &random) {
            try kept.put(#""one by one""#, at: "single/\(key)")
        }
        let mixed = Self.members(order, &random) { index in
            switch index % 7 {
            case 0: #"{".sv":{"increment":\#(index)}}"#
            case 1: #"{".value":{".sv":"timestamp"},".priority":"p"}"#
            case 2: #"{"in":{".sv":{"increment":0.5}},".priority":\#(index)}"#
            default: nil
            }
        }
        try kept.put(mixed, at: "mixed")
        try kept.put(mixed, at: "mixed")
        try kept.expectReadBack("\(order)")
    }

    @Test("numbers at every bound of their encoding, as values, priorities and increments")
    func numbers() throws {
        let kept = Kept()
        for (index, text) in EdgeNumber.texts.enumerated() {
            try kept.put(text, at: "v/\(index)")
            try kept.put(#"{".value":\#(text),".priority":\#(text)}"#, at: "p/\(index)")
            try kept.put(#"{"a":true,".priority":\#(text)}"#, at: "m/\(index)")
            for other in ["1", "-1", "9007199254740993", "9223372036854775807", "-0.5", "1e300"] {
                try kept.put(
                    #"{".sv":{"increment":\#(other)}}"#,
                    at: "i/\(index)/y",
                    mayBeThere: true
                )
                try kept.put(text, at: "i/\(index)/x", mayBeThere: true)
                try kept.put(
                    #"{"x":{".sv":{"increment":\#(other)}},"y":\#(other)}"#,
                    at: "i/\(index)",
                    mayBeThere: true
                )
            }
        }
        try kept.expectReadBack("numbers")
        for text in EdgeNumber.texts {
            let alone = Kept()
            try alone.put(text, at: "/")
            try alone.expectReadBack("\(text) as the whole database")
        }
    }

    @Test("texts at every bound, as values and as priorities")
    func texts() throws {
        let kept = Kept()
        for byteCount in [
            0, 1, 254, 255, 256, 257, 504, 506, 507, 508, 510, 512, 513, 2_048, 70_000,
        ] {
            let text = quoted(String(repeating: "x", count: byteCount))
            try kept.put(text, at: "v/\(byteCount)")
            try kept.put(#"{".value":\#(text),".priority":\#(text)}"#, at: "p/\(byteCount)")
            try kept.put(#"{"a":\#(text),".priority":\#(text)}"#, at: "m/\(byteCount)")
        }
        let odd = [#""\ud800""#, #""\udc00x""#, #""\u0000""#, #""\ufeff""#, #""\ud83d\ude00""#]
        for (index, text) in odd.enumerated() {
            try kept.put(text, at: "o/\(index)")
            if !text.contains("u0000") { try kept.put("{\(text):1}", at: "k/\(index)") }
        }
        try kept.expectReadBack("texts")
    }

    @Test("a text of 10 MiB with a priority of 10 MiB")
    func longest() throws {
        let text = Node(string: String(repeating: "x", count: JSONTree.Limits.stringByteCount))
        let node = text.settingPriority(text)
        // Alone: through engine and checkpoint it takes a minute unoptimised, and shows no more.
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        let read = try bytes.withBytes { try Node(decoding: $0) }
        #expect(read == node)
        #expect(bytes.count == node.encodingByteCount)
    }

    @Test("maps of one child, down to each depth")
    func depth() throws {
        let kept = Kept()
        for depth in 1...31 {
            let path = (1...depth).map { "d\($0)" }.joined(separator: "/")
            try kept.put("1", at: "p\(depth)/\(path)")
            let open = (1...depth).map { "{\"d\($0)\":" }.joined()
            let ends = String(repeating: "}", count: depth)
            try kept.put(open + #"{".sv":"timestamp"}"# + ends, at: "v\(depth)")
        }
        try kept.expectReadBack("depth")
    }

    /// Claims as tokens have them, whose keys may be any text.
    static let claims: [String] = [
        "{}", #"{"uid":"ann"}"#, #"{"":1}"#, #"{"":{"":{"":[]}}}"#,
        ##"{"https://example.com/role":"admin","a.b":1,"$x":[1,{"#":2}],"[0]":null}"##,
        #"{"firebase":{"identities":{"google.com":["1"],"email":["a@b.c"]},"sign_in_provider":"google.com"}}"#,
        "{\"\\u0000\":1,\"\\u001f\":2,\"\\u007f\":3,\"\\ud800\":4,\"\\ufeff\":5,\"%2E\":6,\".value\":7,\".priority\":8,\".sv\":9}",
        #"{".value":true}"#, #"{"token":{".priority":1,".sv":{".sv":"timestamp"}}}"#,
    ]

    @Test("claims with any keys, beside on-disconnect writes")
    func identities() throws {
        var random = TestSeed.generator(2)
        var texts = Self.claims
        for order in KeyOrder.allCases { texts.append(Self.members(order, &random)) }
        let deep = String(repeating: #"{".":"#, count: 31)
        texts.append(deep + "1" + String(repeating: "}", count: 31))
        texts.append("{\"" + String(repeating: "/", count: 768) + "\":1}")
        for text in EdgeNumber.texts { texts.append("{\"n.\":\(text)}") }
        let kept = Kept()
        for (index, text) in texts.enumerated() {
            let number = UInt64(index + 1)
            kept.connect(number, claims: try Node.readingAnyJSON(Array(text.utf8)))
            kept.send(number, "o", #""p":"/gone/\#(index)","d":\#(index)"#)
        }
        kept.connect(1_000, claims: nil)
        kept.send(1_000, "o", #""p":"/gone/none","d":true"#)
        try kept.expectReadBack("claims")
    }

    @Test("on-disconnect writes of every form, edited and split", arguments: KeyOrder.allCases)
    func disconnects(order: KeyOrder) throws {
        var random = TestSeed.generator(3)
        let kept = Kept()
        kept.connect(1, claims: nil)
        let value = Self.members(order, &random) { index in
            switch index % 5 {
            case 0: #"{".sv":"timestamp"}"#
            case 1: #"{".value":{".sv":{"increment":-0.5}},".priority":"p"}"#
            case 2: #"{"n":{".sv":{"increment":1}},".priority":{".sv":"timestamp"}}"#
            default: nil
            }
        }
        kept.send(1, "o", #""p":"/a","d":\#(value)"#)
        let keys = order.keys(120, &random)
        for key in keys.prefix(5) {
            kept.send(
                1,
                "o",
                #""p":"/a/\#(quoted(key).dropFirst().dropLast())/x/y","d":{".sv":"timestamp"}"#
            )
        }
        kept.send(
            1,
            "om",
            #""p":"/","d":{"b/.priority":4,"c":{".value":1,".priority":{".sv":"timestamp"}},"e":null}"#
        )
        let deep = (1...30).map { "{\"d\($0)\":" }.joined()
        kept.send(
            1,
            "o",
            #""p":"/deep","d":\#(deep){".sv":"timestamp"}\#(String(repeating: "}", count: 30))"#
        )
        try kept.expectReadBack("\(order), stored")
        kept.send(1, "oc", #""p":"/a/\#(quoted(keys[7]).dropFirst().dropLast())","d":null"#)
        try kept.expectReadBack("\(order), split")
    }

    /// Names of people, as administrators give them with `author`: printable, up to 200 bytes.
    static let authors = [
        "ann", "-", "a/b", "/", "//", "\u{301}x", "\u{20DD}", "\u{200D}y", "é", "e\u{301}/",
        "\u{1F1E9}\u{1F1EA}",
        "\u{FE0F}z", "detached", "rules/2", "1", "%2F", String(repeating: "€", count: 66),
    ]

    @Test("rules with their history, by any author")
    func rulesHistory() throws {
        let kept = Kept()
        for (index, author) in Self.authors.enumerated() {
            let text = "\u{FEFF}{\"rules\":{\"\(index)\":{\".read\":true}}}"
            let plain =
                "{ // é\r\n \"rules\" : {\"\(index)\" : {\".read\" : \"auth.token['a.b'] == '\u{301}'\"}} }\n"
            // Whether or not a mark of byte order may stand there: what loads is read back.
            let marked = Result { () throws(RulesError) in try Ruleset.load(text) }
            let rules = try marked.flatMapError { _ in
                Result { () throws(RulesError) in try Ruleset.load(plain) }
            }.get()
            kept.ask(.putRules(rules, RulesChange(author: author)))
            kept.ask(.putRules(try Ruleset.load(plain + " "), RulesChange(author: author)))
            if index % 3 == 0 { kept.ask(.putRules(nil, RulesChange(author: author))) }
        }
        try kept.expectReadBack("history")
        // The oldest versions make room.
        for number in 0..<120 {
            let text = "{\"rules\":{\"n\(number)\":{}}}"
            kept.ask(.putRules(try Ruleset.load(text), RulesChange(author: "ann")))
        }
        try kept.expectReadBack("a full history")
    }

    @Test("settings, stored rulesets and their labels, shadow rules included")
    func settings() throws {
        let kept = Kept()
        for limit in WriteSizeLimit.allCases.reversed() {
            kept.ask(.putSetting(.defaultWriteSizeLimit(limit)))
        }
        try kept.expectReadBack("one setting")
        kept.ask(.putSetting(.strictTriggerValidation(false)))
        for id in ["1", "a-b_c", "\u{301}x", "é", "label"] {
            let text = "{\"rules\":{\"of\":{\".read\":\"auth.uid == '\(id)'\"}}}"
            kept.ask(.storeRuleset(id: id, try Ruleset.load(text)))
            kept.ask(.labelRulesets(RulesetLabels(stable: id, canary: "1"), author: "\u{301}\(id)"))
        }
        try kept.expectReadBack("labels")
        kept.ask(.labelRulesets(RulesetLabels(), author: "ann"))
        for number in 0..<110 {
            kept.ask(.storeRuleset(id: "n\(number)", try Ruleset.load("{\"rules\":{}}")))
        }
        try kept.expectReadBack("as many rulesets as there may be")
    }

    @Test("times before 1970 count as 1970, and a clock that goes back stands still")
    func times() throws {
        let engine = DatabaseEngine(Transcript.policy())
        let times: [Int64] = [-5, .min, 7, 3, 253_402_300_799_999]
        for (index, milliseconds) in times.enumerated() {
            let request = Request(
                database: Transcript.database,
                credential: .admin(override: nil),
                operation: .put(try WriteTarget("a"), try Draft(json: Array("\(index)".utf8))),
            )
            var effects: [Effect] = []
            let now = Timestamp(milliseconds: milliseconds)
            engine.step(.requested(request, id: RequestID(1)), now: now, effects: &effects)
        }
        #expect(engine.snapshots().map(\.time.milliseconds) == [253_402_300_799_999])
        var encoder = CheckpointEncoder(engine.snapshots())
        var bytes: [UInt8] = []
        while encoder.next(into: &bytes, atLeast: 100) {}
        var decoder = CheckpointDecoder()
        var found: [DatabaseSnapshot] = []
        try decoder.feed(bytes) { found.append($0) }
        #expect(found.map(\.time.milliseconds) == [253_402_300_799_999])
        #expect(found.map(\.number.value) == [5])
    }

    @Test("every name that a database may have is one for the log")
    func names() throws {
        for name in ["a", "-", "0", String(repeating: "z", count: 63)] {
            #expect(try LogDatabaseName(name).description == name)
        }
    }
}

/// A text as JSON.
private func quoted(_ text: String) -> String {
    String(decoding: Node(string: text).json(.export), as: UTF8.self)
}
