import FileRules
import FileRulesTools
import Foundation
import JSONTree
import SecurityRules
import Testing

@Suite("decisions of file rules")
struct DecisionTests {
    /// One line of a block of `Specs/decisions.txt`:
    ///
    ///     OP NAME [auth=JSON] [old=JSON] [new=JSON] [data=JSON] -> allow LINE | deny | deny: MESSAGE
    ///
    /// JSON has no spaces. `auth=ann` is `{"uid":"ann"}`.
    struct Row: Sendable, CustomTestStringConvertible {
        let title: String
        let rules: String
        let line: String
        var testDescription: String { "\(title): \(line)" }

        static func load() throws -> [Row] {
            try RulesWorld.blocks("decisions.txt").flatMap { block in
                block.lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
                    .map { Row(title: block.title, rules: block.text, line: $0) }
            }
        }

        /// The line as a file of one case.
        var json: String {
            let halves = line.components(separatedBy: " -> ")
            let words = halves[0].split(separator: " ")
            var body =
                #""name":"row","op":"\#(words[0])","path":"\#(words[1] == "(root)" ? "" : words[1])","#
            let names = ["auth": "auth", "old": "resource", "new": "newResource", "data": "data"]
            for word in words.dropFirst(2) {
                let parts = word.split(separator: "=", maxSplits: 1)
                let value = parts[1].hasPrefix("{") ? String(parts[1]) : #"{"uid":"\#(parts[1])"}"#
                body += "\"\(names[String(parts[0])] ?? "unknown")\":\(value),"
            }
            body +=
                halves[1].hasPrefix("allow")
                ? #""expect":"allow""# : #""expect":"deny","decidedBy":null"#
            if let message = halves[1].components(separatedBy: "deny: ").dropFirst().first {
                var quoted: [UInt8] = []
                appendJSONString(message, to: &quoted)
                body += ",\"error\":" + String(decoding: quoted, as: UTF8.self)
            }
            return #"{"service":"files","bucket":"B","now":1700000000123,"cases":[{\#(body)}]}"#
        }

        var allowLine: Int? {
            line.components(separatedBy: " -> allow ").dropFirst().first.flatMap { Int($0) }
        }
    }

    @Test("a request is decided as its line says", arguments: try Row.load())
    func table(_ row: Row) throws {
        let file = try FileCaseFile.read(Array(row.json.utf8))
        let rules = Result { () throws(RulesError) in try FileRuleset.load(row.rules) }
        let outcome = try #require(file.run(under: rules).0.first)
        #expect(outcome.problems == [], "\(outcome.explanation ?? "")")
        if let line = row.allowLine { #expect(outcome.decision?.allow?.position.line == line) }
    }

    @Test("the first allow that is true decides, and the rest is not tried")
    func order() throws {
        let text = """
            rules_version = '2';
            service firebase.storage { match /b/{bucket}/o { match /{all=**} {
            allow get: if 1 / 0 == 1;
            allow get: if 'text';
            allow read: if request.auth != null;
            allow get: if true;
            } } }
            """
        let decision = try RulesWorld.decide(text, RulesWorld.request())
        #expect(decision.allow?.position.description == "5:1")
        #expect(decision.candidates.map(\.allow.position.line) == [3, 4, 5])
        let messages = decision.candidates.compactMap { candidate in
            if case .error(let failure) = candidate.result {
                "\(failure.position) \(failure.message)"
            } else {
                nil
            }
        }
        #expect(messages == ["3:15 Division by zero.", "4:15 Expected a bool, got a string."])
        #expect(
            try RulesWorld.decide(text, RulesWorld.request(auth: nil)).allow?.position.line == 6
        )
    }

    @Test("equal lookups count once, and are noted")
    func lookups() throws {
        let one =
            "database.get(/users/ann/name) == 'Ann' && database.exists(/users/ann/name) && database.of('other').exists(/a) == false"
        let decision = try RulesWorld.decide(RulesWorld.rules(one), RulesWorld.request())
        #expect(decision.isAllowed)
        #expect(
            decision.lookups.map { "\($0.database ?? "-") \($0.path)" } == [
                "- /users/ann/name", "other /a",
            ]
        )
    }

    @Test("debug() notes what it is given, with its place")
    func debug() throws {
        let decision = try RulesWorld.decide(
            RulesWorld.rules("debug(id) == 'x' && debug([1]).size() == 1"),
            RulesWorld.request()
        )
        #expect(decision.isAllowed)
        #expect(
            decision.debugged.map { "\($0.position) \($0.text)" } == ["3:15 \"x\"", "3:35 [1]"]
        )
    }

    @Test("claims that are no JSON deny, and do not end anything")
    func badClaims() throws {
        let auth = FileAuth(uid: "ann", claims: Array("{".utf8))
        let decision = try RulesWorld.decide(
            RulesWorld.rules("request.auth != null"),
            RulesWorld.request(auth: auth)
        )
        #expect(!decision.isAllowed)
    }
}
