import JSONTree
import RulesTools
import RulesOracle
import SecurityRules
import TestSupport

extension FuzzTarget {
    /// Any text is loaded, or refused with positions inside it; what is loaded is linted and decides.
    static let rulesText = FuzzTarget(name: "rules-text") { bytes in
        let text = shown(bytes)
        let rules: Ruleset
        do throws(RulesError) { rules = try Ruleset.load(text) } catch {
            return try checkPositions(error, text)
        }
        try check(rules.text == text, "it loads as another text")
        try check(rules.lint().count <= RulesLimits.faultCount, "too many warnings")
        let strict = shown(rules.strictJSON())
        let again = try Ruleset.load(strict)
        try check(shown(again.strictJSON()) == strict, "strict JSON changes: \(strict)")
        let root = try Node(json: #"{"a":{"b":1},"c":"x"}"#)
        let request = RulesRequest(root: root, auth: nil, now: Timestamp(milliseconds: 0))
        let path = try Path("a/b")
        let read = rules.decideRead(path, query: nil, request)
        let traced = rules.decideRead(path, query: nil, request, recording: [.trace, .paths])
        try check(read.isAllowed == traced.isAllowed, "what is recorded decides")
        let same = again.decideRead(path, query: nil, request)
        try check(read.isAllowed == same.isAllowed, "as strict JSON it decides otherwise")
        _ = rules.simulate(.write(WriteTarget(path: path), Draft(Node(true))), request)
    }

    private static func checkPositions(_ error: RulesError, _ text: String) throws {
        let lines = text.unicodeScalars.filter { $0 == "\n" || $0 == "\r" }.count + 1
        let scalars = text.unicodeScalars.count
        for fault in error.faults {
            let isInside =
                (1...lines).contains(fault.line) && (1...scalars + 1).contains(fault.column)
            try check(isInside, "a fault outside the text: \(fault)")
        }
    }

    /// Rules, data and requests that the bytes choose: every decision is that of the naive oracle.
    static let rulesDecisions = FuzzTarget(name: "rules-decisions") { bytes in
        var counts = OracleCounts()
        let comparison = try OracleComparison(random: SeededGenerator(choices: bytes))
        if let difference = try comparison.run(&counts, decisionCount: 20) {
            throw BrokenProperty(description: difference)
        }
    }

    /// A regular expression that the bytes choose: a rule takes the texts that a matcher takes that tries everything.
    static let patterns = FuzzTarget(name: "patterns") { bytes in
        var random = SeededGenerator(choices: bytes)
        let node = NaivePattern.random(&random, depth: 3)
        let (isStart, isEnd) = (Bool.random(using: &random), Bool.random(using: &random))
        let (head, tail) = (isStart ? "^" : "", isEnd ? "$" : "")
        // More than 64 states takes the other matcher; no text holds a z.
        let patterns = [
            "\(head)(\(node.text))\(tail)", "\(head)((\(node.text))|z{70})\(tail)",
        ]
        let rules = try patterns.map { pattern in
            let source = JSONValue.string("auth.text.matches(/\(pattern)/)").text
            return try Ruleset.load("{\"rules\":{\".read\":\(shown(source))}}")
        }
        for _ in 0..<4 {
            let text = (0..<random.index(9)).map { _ in ["a", "b", "c"][random.index(3)] }
            let ends = node.ends(in: text, from: isStart ? [0] : Set(0...text.count))
            let expected = isEnd ? ends.contains(text.count) : !ends.isEmpty
            let auth = try Node(json: "{\"text\":\"\(text.joined())\"}")
            let request = RulesRequest(
                root: .absent,
                auth: AuthVariable(auth),
                now: Timestamp(milliseconds: 0)
            )
            for rule in rules {
                let found = rule.decideRead(.root, query: nil, request).isAllowed
                try check(found == expected, "/\(patterns[0])/ on \(text.joined()): \(found)")
            }
        }
    }
}
