import DatabaseCore
import FileRules
import FileRulesTools
import JSONTree
import TestSupport
import Testing

@testable import DatabaseServer

@Suite("Shadow rules for files")
struct FileShadowRulesTests {
    /// Conditions of which each ruleset has some; whether one holds is known without an evaluator.
    private static let conditions: [(text: String, holds: @Sendable (FileRulesRequest) -> Bool)] = [
        ("true", { _ in true }), ("request.auth != null", { $0.auth != nil }),
        ("request.auth.uid == 'u1'", { $0.auth?.uid == "u1" }), ("false", { _ in false }),
        (
            "request.resource.size < 10",
            { request in request.newResource.map { $0.size < 10 } ?? false }
        ),
    ]

    /// Rules of a condition for each of the operations.
    private static func rules(_ chosen: [FileOperation: Int]) throws -> FileRuleset {
        let allows = FileOperation.allCases.map { operation in
            "    allow \(operation.rawValue): if \(conditions[chosen[operation] ?? 0].text);\n"
        }
        return try FileRuleset.load(
            "rules_version = '2';\nservice firebase.storage {\n  match /b/{bucket}/o/{name=**} {\n"
                + allows.joined() + "  }\n}\n"
        )
    }

    private static func tried(_ rules: FileRuleset, beside live: FileRulesInForce = .open)
        -> FileShadowRules
    {
        let now = Timestamp(milliseconds: 5)
        let candidate = StoredRuleset(id: "new", time: now, text: rules.text)
        return FileShadowRules(candidate, rules, live: live, now: now)
    }

    private static func request(
        _ operation: FileOperation,
        _ name: String = "a",
        uid: String? = nil,
        size: Int64 = 5
    ) -> FileRulesRequest {
        let isWritten = operation == .create || operation == .update
        return FileRulesRequest(
            operation,
            bucket: "one",
            name: name,
            auth: uid.map { FileAuth(uid: $0) },
            time: Timestamp(milliseconds: 7),
            newResource: isWritten ? FileResource(name: name, bucket: "one", size: size) : nil
        )
    }

    @Test("count what conditions come to, by operation and statement", arguments: TestSeed.seeds(5))
    func counts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func draw() -> [FileOperation: Int] {
            var chosen: [FileOperation: Int] = [:]
            for operation in FileOperation.allCases {
                chosen[operation] = Int.random(in: 0..<Self.conditions.count, using: &random)
            }
            return chosen
        }
        var (agreedCount, allowedCount, refusedCount) = (0, 0, 0)
        for _ in 0..<40 {
            let (chosen, others) = (draw(), draw())
            let live = try Self.rules(chosen)
            var shadow = Self.tried(try Self.rules(others), beside: .loaded(live))
            var expected: [String: Int] = [:]
            for _ in 0..<30 {
                let request = Self.request(
                    FileOperation.allCases.randomElement(using: &random) ?? .get,
                    uid: ["u1", "u2", nil].randomElement(using: &random) ?? nil,
                    size: [5, 50].randomElement(using: &random) ?? 5
                )
                let decision = live.decide(request)
                shadow.compare(
                    .init(isAllowed: decision.isAllowed, allow: decision.allow),
                    request
                ) { _, _ in nil }
                let before = Self.conditions[chosen[request.operation] ?? 0].holds(request)
                let after = Self.conditions[others[request.operation] ?? 0].holds(request)
                let kind = before == after ? "agreed" : "\(request.operation) \(after)"
                expected[kind, default: 0] += 1
            }
            let report = shadow.report
            var found = ["agreed": report.totals.agreedCount]
            for difference in report.differences {
                let isAllowed = difference.isNewlyAllowed
                found["\(difference.operation) \(isAllowed)", default: 0] += difference.count
                // Who allows is named, and who refuses is not.
                #expect((difference.live == nil) == isAllowed, "seed \(seed)")
                #expect((difference.shadow == nil) == !isAllowed, "seed \(seed)")
                let rule = isAllowed ? difference.shadow : difference.live
                #expect(rule?.kind == "allow \(difference.operation)", "seed \(seed)")
            }
            #expect(found.filter { $0.value > 0 } == expected, "seed \(seed)")
            #expect(report.totals.decidedCount == 30 && report.totals.undecidedCount == 0)
            agreedCount += report.totals.agreedCount
            allowedCount += report.totals.newlyAllowedCount
            refusedCount += report.totals.newlyRefusedCount
        }
        #expect(agreedCount > 0 && allowedCount > 0 && refusedCount > 0, "seed \(seed)")
    }

    @Test("leave undecided what takes more than a trial may, however little the request may")
    func budgets() throws {
        func chain(_ condition: String, _ count: Int) -> String {
            Array(repeating: condition, count: count).joined(separator: " && ")
        }
        // Each call builds a text of 100 KB: twelve are more than 1 MiB.
        let text = String(repeating: "x", count: 100_000)
        let function = "function f() { return (request.auth.uid + '\(text)').size() > 0; }"
        for (condition, isKnown) in [
            (chain("true", 900), true), (chain("true", 1_100), false),
            (chain("f()", 2), true), (chain("f()", 12), false),
        ] {
            let rules = try FileRuleset.load(
                "rules_version = '2'; service firebase.storage { match /b/{b}/o/{n} { \(function) allow get: if \(condition); } }"
            )
            #expect(rules.decide(Self.request(.get, uid: "u1")).isAllowed)
            var shadow = Self.tried(rules)
            shadow.compare(.init(isAllowed: true), Self.request(.get, uid: "u1")) { _, _ in nil }
            let totals = shadow.report.totals
            #expect(totals.decidedCount == 1)
            #expect(totals.agreedCount == (isKnown ? 1 : 0))
            #expect(totals.undecidedCount == (isKnown ? 0 : 1))
        }
    }

    @Test(
        "say nothing of an upload that has begun where they look at what is not known",
        arguments: [
            ("request.resource.md5Hash == 'x'", false), ("request.time.toMillis() < 0", false),
            ("database.exists(/open)", false), ("request.resource.size > 10", true),
        ]
    )
    func early(condition: String, isKnown: Bool) throws {
        let rules = try FileRuleset.load(
            "rules_version = '2'; service firebase.storage { match /b/{b}/o/{n} { allow create: if \(condition); } }"
        )
        for isEarly in [true, false] {
            var shadow = Self.tried(rules, beside: .none)
            shadow.compare(
                .init(isAllowed: false, isEarly: isEarly),
                Self.request(.create)
            ) { _, _ in .absent }
            let undecided = isEarly && !isKnown ? 1 : 0
            #expect(shadow.report.totals.undecidedCount == undecided)
            #expect(shadow.report.totals.agreedCount == 1 - undecided)
        }
    }

    @Test("begin anew when they are asked to, and keep the newest examples")
    func examples() throws {
        var shadow = Self.tried(try Self.rules([.get: 3]))
        for number in 0..<25 {
            shadow.compare(.init(isAllowed: true), Self.request(.get, "n\(number)", uid: "u1")) {
                _,
                _ in nil
            }
        }
        let difference = try #require(shadow.report.differences.first)
        #expect(difference.count == 25 && difference.live == nil && !difference.isNewlyAllowed)
        #expect(difference.examples.map(\.path) == (5..<25).map { "one/n\($0)" })
        #expect(difference.examples.allSatisfy { $0.uid == "u1" && $0.time.milliseconds == 7 })
        shadow.reset(now: Timestamp(milliseconds: 9))
        #expect(shadow.report.totals == ShadowTotals() && shadow.report.since.milliseconds == 9)
        #expect(shadow.report.differences.isEmpty && shadow.report.candidate == "new")
    }

    @Test("are compared anew with other rules of the same text, and not with the same ones")
    func identity() throws {
        let (rules, same) = (try Self.rules([:]), try Self.rules([:]))
        let all: [FileRulesInForce] = [.open, .none, .loaded(rules), .loaded(same)]
        for (row, one) in all.enumerated() {
            for (column, other) in all.enumerated() {
                #expect(one.isIdentical(to: other) == (row == column))
            }
        }
    }
}
