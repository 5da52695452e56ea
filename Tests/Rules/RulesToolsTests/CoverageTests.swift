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

    // MARK: The page

    private func page(_ coverage: Coverage, _ title: String = "test") -> String {
        String(decoding: coverage.page(title: title), as: UTF8.self)
    }

    @Test("the page marks every rule by what it came to, links to those never consulted")
    func marks() throws {
        let page = page(try covered())
        for mark in [
            #"<span class="r b" id="R0" tabindex="0" data-n="3">"#,
            #"<span class="r t" id="R1" tabindex="0" data-n="2">true<span class="panel">"#,
            #"<span class="r x" id="R2" tabindex="0" data-n="2">"#,
            #"<span class="r n" id="R3" tabindex="0" data-n="0">"#,
            ##"<a href="#R3" title="line 4"><small>4</small>"##,
            ##"<a id="L4" href="#L4" class="n" data-s="○">4</a>"##,
            "<bdi>&quot;p1&quot;</bdi> <i style=\"width:100%\"></i><b>1</b>",
            "a string cannot be ordered against a number.",
        ] {
            #expect(page.contains(mark), "\(mark)")
        }
    }

    /// The text of the elements of a page, without markup.
    private func shownText(_ page: String) -> String {
        page.replacing(/<style>[^<]*<\/style>/, with: "").replacing(/<[^>]*>/, with: "")
    }

    @Test("the rules text is whole in the page, and its elements are closed")
    func wholeText() throws {
        var page = page(try covered())
        // Every tag but the void ones is opened and closed in turn.
        var open: [Substring] = []
        for tag in page.matches(of: /<(\/?)([a-z0-9]+)[^>]*>/) where !["meta"].contains(tag.2) {
            if tag.1.isEmpty { open.append(tag.2) } else { #expect(open.popLast() == tag.2) }
        }
        #expect(open.isEmpty)
        // Without panels, which hold no further panel, the text between pre tags is the rules.
        let panel =
            /<span class="panel">(<span class="(head|sub|row[ xo]*)">([^<]|<\/?(i|b|code|bdi)[^>]*>)*<\/span>)*<\/span>/
        page = page.replacing(panel, with: "")
        let start = try #require(page.firstRange(of: "<pre><code>")).upperBound
        let end = try #require(page.firstRange(of: "</code></pre>")).lowerBound
        let code = shownText(String(page[start..<end])).replacing("&#39;", with: "'")
            .replacing("&quot;", with: "\"").replacing("&gt;", with: ">").replacing(
                "&amp;",
                with: "&"
            )
        #expect(code == Self.text)
    }

    @Test("the page runs nothing and asks for nothing")
    func alone() throws {
        let page = page(try covered())
        #expect(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'"))
        for word in ["<script", " src=", "url(", "@import", "<link", "javascript:", " onclick"] {
            #expect(!page.contains(word), "\(word)")
        }
    }

    @Test(
        "hostile rules, values and titles stay text",
        arguments: [
            "</script><script>alert(1)</script>", "</style></title><img src=x onerror=alert(1)>",
            "\" onmouseover=\"alert(1)", "' x='", "<!--", "]]>", "&lt;b&gt;",
            "a\u{202E}b\u{2066}c\u{200B}d\u{FEFF}e", "\u{2028}\u{7F}\u{0}",
        ]
    )
    func hostile(_ text: String) throws {
        let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        let inner = text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        let source = String(
            decoding: try JSONEncoder().encode(
                "data.val() + 'x' != '\(inner.replacing("\u{2028}", with: ""))'"
            ),
            as: UTF8.self
        )
        let rules = try Ruleset.load(
            "/* \(text.replacing("*/", with: "")) */ {\"rules\":{\".read\":\(source)}}"
        )
        var coverage = Coverage(rules)
        let request = RulesRequest(
            root: try Node(json: quoted),
            auth: nil,
            now: Timestamp(milliseconds: 0)
        )
        coverage.add(rules.decideRead(.root, query: nil, request, recording: .values))
        let page = page(coverage, text)
        let plain = self.page(Coverage(rules))
        for mark in [
            "<script", "<img", "<!--", "<b>alert", "\u{202E}", "\u{2066}", "\u{200B}", "\u{FEFF}",
        ] {
            #expect(!page.contains(mark), "\(mark)")
            #expect(!plain.contains(mark), "\(mark)")
        }
        #expect(!page.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        let tags = page.matches(of: /<[a-z][^>]*>/).map { $0.output }
        #expect(!tags.contains { $0.contains("alert") || $0.contains("onmouseover") })
        if text.contains("\u{202E}") { #expect(page.contains("a[U+202E]b[U+2066]c[U+200B]d")) }
        // The JSON says the same and loads.
        let found = try report(coverage)
        #expect(found.rules.contains(text.replacing("*/", with: "")))
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
        "the largest rules give a page and a report of bounded size",
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
        let page = coverage.page(title: "t")
        #expect((1_000_000..<32_000_000).contains(page.count))
        #expect((500_000..<32_000_000).contains(coverage.json().count))
    }
}
