import Foundation
import JSONTree
import Queries
import RulesTools
import SecurityRules
import Testing

@Suite("coverage of rules")
struct CoverageTests {
    private static let text = """
        {"rules": { "posts": { "$post": {
          ".read": "auth != null && (data.child('open').val() == true || auth.uid == $post)",
          ".write": true, ".validate": "newData.val() > 5",
          "never": {".validate": "newData.isString()"}
        }}}}
        """

    private func request(_ uid: String?, _ data: String = "null") throws -> RulesRequest {
        try ValuesTests.request(data, uid.map { #"{"uid":"\#($0)"}"# })
    }

    /// Three reads and two writes: one signed out, one that errs.
    private func covered() throws -> Coverage {
        let rules = try Ruleset.load(Self.text)
        var coverage = Coverage(rules)
        for (uid, open) in [("ann", true), ("p1", false), (nil, true)] {
            let data = #"{"posts":{"p1":{"open":\#(open)}}}"#
            coverage.add(
                rules.decideRead(
                    try Path("posts/p1"),
                    query: nil,
                    try request(uid, data),
                    recording: .values
                )
            )
        }
        for value in [Node(integer: 6), Node(string: "six")] {
            let operation = SimulatedOperation.write(try WriteTarget("posts/p2"), Draft(value))
            coverage.add(rules.simulate(operation, try request("ann")).decision)
        }
        return coverage
    }

    /// What the report says of one expression, or rule.
    private final class Entry: Decodable {
        struct Position: Decodable { let line, column, offset, endOffset: Int }
        struct Count: Decodable, Equatable {
            let value: String?
            let count: Int

            private enum CodingKeys: String, CodingKey {
                case value, snapshot, error, others, cut, count
            }

            init(_ value: String, _ count: Int) {
                self.value = value
                self.count = count
            }

            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: CodingKeys.self)
                count = try members.decode(Int.self, forKey: .count)
                if let text = try? members.decode(String.self, forKey: .value) {
                    value = "'\(text)'" + (members.contains(.cut) ? "…" : "")
                } else if let boolean = try? members.decode(Bool.self, forKey: .value) {
                    value = "\(boolean)"
                } else if let number = try? members.decode(Double.self, forKey: .value) {
                    value = "\(number)"
                } else if let kind = try? members.decode(String.self, forKey: .snapshot) {
                    value = "snapshot of \(kind)"
                } else if let message = try? members.decode(String.self, forKey: .error) {
                    value = "error: \(message)"
                } else if members.contains(.others) {
                    value = "others"
                } else {
                    value = try members.decodeNil(forKey: .value) ? "null" : "{}"
                }
            }
        }

        let path: String?
        let kind: String?
        let position: Position
        let values: [Count]
        let unevaluated: Int?
        let children: [Entry]
    }

    private struct Report: Decodable {
        let rules: String
        let decisions: Int
        let cut: Int
        let report: [Entry]
    }

    private func report(_ coverage: Coverage) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(coverage.json()))
    }

    /// One line per rule and, indented, per sub-expression.
    private func lines(_ report: Report) -> [String] {
        let scalars = Array(report.rules.unicodeScalars)
        func lines(_ entry: Entry, _ indent: String) -> [String] {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars[entry.position.offset..<entry.position.endOffset])
            let name = entry.path.map { "\(entry.kind ?? "") \($0)" } ?? String(text)
            let values = entry.values.map { " \($0.value ?? "")×\($0.count)" }.joined()
            let left = entry.unevaluated.map { $0 > 0 ? " -×\($0)" : "" } ?? ""
            return ["\(indent)\(name):\(values)\(left)"]
                + entry.children.flatMap { lines($0, indent + "  ") }
        }
        return report.report.flatMap { lines($0, "") }
    }

    @Test("counts every value of every part, and shows rules that were never consulted")
    func counts() throws {
        let coverage = try covered()
        let report = try report(coverage)
        #expect(report.rules == Self.text)
        #expect(report.decisions == 5)
        #expect(report.cut == 0)
        let message = "error: a string cannot be ordered against a number."
        #expect(
            lines(report) == [
                "read /posts/$post: true×2 false×1",
                "  auth != null && (data.child('open').val() == true || auth.uid == $post): "
                    + "true×2 false×1",
                "    auth != null: true×2 false×1", "      auth: {}×2 null×1",
                "    (data.child('open').val() == true || auth.uid == $post): true×2 -×1",
                "      data.child('open').val() == true: true×1 false×1 -×1",
                "        data.child('open').val(): true×1 false×1 -×1",
                "          data.child('open'): snapshot of boolean×2 -×1",
                "            data: snapshot of object×2 -×1",
                "      auth.uid == $post: true×1 -×2", "        auth.uid: 'p1'×1 -×2",
                "          auth: {}×1 -×2", "        $post: 'p1'×1 -×2",
                "write /posts/$post: true×2", "validate /posts/$post: true×1 \(message)×1",
                "  newData.val() > 5: true×1 \(message)×1", "    newData.val(): 6.0×1 'six'×1",
                "      newData: snapshot of number×1 snapshot of string×1",
                "validate /posts/$post/never:", "  newData.isString():", "    newData:",
            ]
        )
        let position = try #require(report.report.first).position
        #expect(position.line == 2 && position.column == 13)
        let summary = coverage.summary
        #expect(summary.rules == 4 && summary.consulted == 3)
        #expect(summary.subexpressions == 17 && summary.evaluated == 15)
    }

    @Test("keeps eight values of a part and cuts long strings; a copy counts for itself")
    func manyValues() throws {
        let rules = try Ruleset.load(#"{"rules":{".read":"data.val() == null"}}"#)
        var coverage = Coverage(rules)
        func add(_ node: Node) {
            let request = RulesRequest(root: node, auth: nil, now: Timestamp(milliseconds: 0))
            coverage.add(rules.decideRead(.root, query: nil, request, recording: .values))
        }
        let long = String(repeating: "ü", count: 50)
        add(Node(string: long + "a"))
        add(Node(string: long + "b"))
        let early = coverage
        for number in 0..<10 { add(Node(integer: Int64(number % 9))) }
        let cut = String(repeating: "ü", count: RulesLimits.coveredStringByteCount / 2)
        let found = try report(coverage)
        #expect(
            found.report[0].children[0].children[0].values.map(\.value) == ["'\(cut)'…"]
                + (0..<7).map { "\(Double($0))" } + ["others"]
        )
        #expect(
            found.report[0].children[0].children[0].values.map(\.count) == [2, 2]
                + Array(repeating: 1, count: 6) + [2]
        )
        #expect(try report(early).decisions == 2)
    }

    @Test("decisions of other rules, or without values, count no parts")
    func strangers() throws {
        let rules = try Ruleset.load(#"{"rules":{".read":"now > 0"}}"#)
        var coverage = Coverage(rules)
        coverage.add(
            Ruleset.open.decideRead(.root, query: nil, try request(nil), recording: .values)
        )
        #expect(coverage.summary.consulted == 0)
        coverage.add(rules.decideRead(.root, query: nil, try request(nil), recording: .trace))
        #expect(coverage.summary.consulted == 1)
        #expect(coverage.summary.evaluated == 0)
    }

    /// Rules near the largest that load: many rules, or rules of many parts.
    enum LargeRules: CaseIterable {
        case manyRules, manyParts

        var text: String {
            let members: [String] =
                switch self {
                case .manyRules: (0..<9_600).map { #""\#($0)":{".read":"now>0"}"# }
                case .manyParts:
                    (0..<4).map { rule in
                        let part = #"data.val()!='\u0001<'"#
                        let chain = Array(repeating: part, count: 2_750).joined(separator: "||")
                        return #""d\#(rule)":{".read":"\#(chain)"}"#
                    }
                }
            return "{\"rules\":{\(members.joined(separator: ",\n"))}}"
        }
    }

    @Test(
        "the largest rules give a report of bounded size",
        arguments: LargeRules.allCases
    )
    func largest(_ rules: LargeRules) throws {
        let text = rules.text
        #expect(text.utf8.count > RulesLimits.textByteCount * 9 / 10)
        let rules = try Ruleset.load(text)
        var coverage = Coverage(rules)
        let root = Node(string: String(repeating: "\u{1}<", count: 200))
        let request = RulesRequest(root: root, auth: nil, now: Timestamp(milliseconds: 1))
        for key in ["7", "d1"] {
            let path = try Path(key)
            coverage.add(rules.decideRead(path, query: nil, request, recording: .values))
        }
        #expect(coverage.summary.consulted == 1)
        #expect((500_000..<32_000_000).contains(coverage.json().count))
    }
}
