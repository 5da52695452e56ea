import FileRules
import Foundation
import JSONTree
import SecurityRules
import Testing

@Suite("limits of file rules")
struct LimitTests {
    /// Whether a text loads, and if not its faults.
    private func faults(_ text: String) -> [String] {
        do throws(RulesError) {
            _ = try FileRuleset.load(text)
            return []
        } catch {
            return error.faults.map(\.message)
        }
    }

    private func inBucket(_ body: String) -> String {
        "rules_version = '2'; service firebase.storage { match /b/{bucket}/o { \(body) } }"
    }

    private func condition(_ text: String, functions: String = "") -> String {
        inBucket("\(functions) match /{x} { allow get: if \(text); }")
    }

    @Test("a text has at most 256 KiB")
    func textSize() {
        let text = inBucket("")
        let room = FileRulesLimits.textByteCount - text.utf8.count
        #expect(faults(text + String(repeating: " ", count: room)) == [])
        #expect(
            faults(text + String(repeating: " ", count: room + 1)) == [
                "The rules have 262145 bytes; at most 262144 are allowed."
            ]
        )
    }

    @Test("matches stand at most 10 deep")
    func matchDepth() {
        func nested(_ count: Int) -> String {
            // The bucket's is one.
            inBucket(
                String(repeating: "match /a { ", count: count - 1)
                    + String(repeating: "}", count: count - 1)
            )
        }
        #expect(faults(nested(10)) == [])
        #expect(faults(nested(11)) == ["Match blocks stand more than 10 deep."])
    }

    @Test("a pattern has at most 100 segments with those around it")
    func segments() {
        func pattern(_ count: Int) -> String {
            inBucket("match " + String(repeating: "/a", count: count - 3) + " { }")
        }
        #expect(faults(pattern(100)) == [])
        #expect(faults(pattern(101)) == ["The pattern has 101 segments; at most 100 are allowed."])
    }

    @Test("a pattern has at most 20 captures")
    func captures() {
        func pattern(_ count: Int) -> String {
            inBucket("match " + (1..<count).map { "/{x\($0)}" }.joined() + " { }")
        }
        #expect(faults(pattern(20)) == [])
        #expect(faults(pattern(21)) == ["The pattern has 21 captures; at most 20 are allowed."])
    }

    @Test("functions call one another at most 10 deep")
    func callDepth() throws {
        func chain(_ count: Int) -> String {
            let functions = (1...count).map { number in
                "function f\(number)(x) { return \(number == count ? "x" : "f\(number + 1)(x)"); }"
            }
            return condition("f1(x) == 'x'", functions: functions.joined(separator: " "))
        }
        #expect(faults(chain(10)) == [])
        #expect(
            faults(chain(11)) == [
                "Functions call one another 11 deep from here; at most 10 are allowed."
            ]
        )
        #expect(try RulesWorld.decide(chain(10), RulesWorld.request(.get, "x")).isAllowed)
    }

    @Test("a function has at most 7 parameters and 10 lets")
    func functions() {
        func declared(_ parameters: Int, _ lets: Int) -> String {
            let names = (0..<parameters).map { "p\($0)" }.joined(separator: ", ")
            let body = (0..<lets).map { "let l\($0) = 1; " }.joined()
            return inBucket("function f(\(names)) { \(body)return 1; }")
        }
        #expect(faults(declared(7, 10)) == [])
        #expect(
            faults(declared(8, 10)) == ["Function 'f' has 8 parameters; at most 7 are allowed."]
        )
        #expect(faults(declared(7, 11)) == ["Function 'f' has 11 'let's; at most 10 are allowed."])
    }

    @Test(
        "an expression has at most 100 levels",
        arguments: [
            ("[", "]"), ("-", ""), ("(1 + ", ")"), ("'a'[", "]"), ("true ? ", " : 1"), ("!", ""),
        ]
    )
    func nesting(_ open: String, _ close: String) {
        func nested(_ count: Int) -> String {
            condition(
                String(repeating: open, count: count) + "1" + String(repeating: close, count: count)
                    + " == 1"
            )
        }
        #expect(faults(nested(45)) == [])
        #expect(
            faults(nested(101)).first == "This expression is nested deeper than 100 levels."
        )
        #expect(faults(nested(2_000)).isEmpty == false)
    }

    @Test("a chain of && is one level, one of + is one for each")
    func chains() {
        func chain(_ symbol: String, _ count: Int) -> String {
            condition(Array(repeating: "true", count: count).joined(separator: symbol))
        }
        #expect(faults(chain(" && ", 5_000)) == [])
        #expect(faults(chain(" || ", 5_000)) == [])
        #expect(faults(chain(" + ", 100)) == [])
        #expect(faults(chain(" + ", 101)) == ["This expression is nested deeper than 100 levels."])
    }

    @Test("the literal patterns of a file have at most 100,000 states")
    func patternStates() {
        func patterns(_ count: Int) -> String {
            // 9,999 characters and the end.
            condition(
                Array(repeating: "x.matches('a{9999}')", count: count).joined(separator: "||")
            )
        }
        #expect(faults(patterns(10)) == [])
        #expect(faults(patterns(11)) == ["The patterns of the file unroll to too many states."])
    }

    /// Bytes of the smallest stack that rules are evaluated on; code that is not optimised takes many times as much.
    #if DEBUG
        private static let smallStack = 64 << 20
    #else
        private static let smallStack = 2 << 20
    #endif

    private func onThread<Value: Sendable>(
        stackByteCount: Int,
        _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: work()) }
            thread.stackSize = stackByteCount
            thread.start()
        }
    }

    @Test(
        "an evaluation is at most 200 levels deep, and fits the stack of any thread",
        arguments: [0, 1]
    )
    func deepestEvaluation(_ more: Int) async throws {
        // 19 levels a function, and below the last one its parameter.
        let functions = (1...10).map { number in
            let inner = number == 10 ? "x" : "f\(number + 1)(x)"
            return "function f\(number)(x) { return \(String(repeating: "!", count: 18))\(inner); }"
        }
        let text = condition(
            String(repeating: "!", count: 9 + more)
                + "f1(request.auth \(more == 0 ? "==" : "!=") null)",
            functions: functions.joined(separator: " ")
        )
        let rules = try FileRuleset.load(text)
        let decision = await onThread(stackByteCount: Self.smallStack) {
            rules.decide(RulesWorld.request(.get, "x"), isRecorded: true)
        }
        #expect(decision.candidates[0].observations.map(\.depth).max() == 199)
        #expect(decision.isAllowed == (more == 0))
        let message = more == 0 ? nil : "The request is evaluated deeper than 200 levels."
        #expect(decision.overBudget?.message == message)
    }

    @Test("a text of nothing but faults gives the first 100")
    func faultCount() {
        let text = inBucket(String(repeating: "nonsense; ", count: 500))
        #expect(faults(text).count == FileRulesLimits.faultCount)
    }

    // MARK: Of a request

    private func decide(_ text: String, name: String = "x", database: Node = .absent) throws
        -> FileDecision
    {
        try FileRuleset.load(text).decide(RulesWorld.request(.get, name)) { _, path in
            database.descendant(at: path)
        }
    }

    @Test("a request evaluates at most 10,000 expressions, and is then denied at once")
    func expressions() throws {
        // `&&` and its operands are evaluated once each.
        func chain(_ count: Int) -> String {
            condition(Array(repeating: "true", count: count - 1).joined(separator: "&&"))
        }
        let whole = try decide(chain(10_000))
        #expect(whole.isAllowed)
        #expect(whole.expressionCount == 10_000)
        let over = try decide(chain(10_001))
        #expect(!over.isAllowed)
        #expect(
            over.overBudget?.message.hasPrefix("The request takes more than 10000 expressions")
                == true
        )
        #expect(over.overBudget?.position.line == 1)
    }

    @Test("a trial evaluates at most 1,000 expressions, whatever a request may")
    func trial() throws {
        for (count, isAllowed) in [(1_000, true), (1_001, false)] {
            let chain = Array(repeating: "true", count: count - 1).joined(separator: "&&")
            let rules = try FileRuleset.load(condition(chain))
            let request = RulesWorld.request(.get, "x")
            #expect(rules.decide(request).isAllowed)
            let decision = rules.decide(request, within: .trial)
            #expect(decision.isAllowed == isAllowed)
            #expect((decision.overBudget == nil) == isAllowed)
            #expect(decision.expressionCount == 1_000)
            let message = "The request takes more than 1000 expressions"
            #expect(isAllowed || decision.overBudget?.message.hasPrefix(message) == true)
        }
    }

    @Test("what is left after the budget is not tried, even if it is true")
    func afterBudget() throws {
        let long = Array(repeating: "true", count: 10_000).joined(separator: "&&")
        let text = inBucket(
            "match /{x} { allow get: if \(long) || true; allow get: if true; } match /{y} { allow get; }"
        )
        let decision = try decide(text)
        #expect(!decision.isAllowed)
        #expect(decision.candidates.count == 1)
    }

    @Test("functions that call others twice each end at the budget")
    func doubling() throws {
        let functions = (1...10).map { number in
            let next = number == 10 ? "x" : "f\(number + 1)(x)"
            return
                "function f\(number)(x) { return [\(Array(repeating: next, count: 8).joined(separator: ","))]; }"
        }
        let decision = try decide(
            condition("f1(x) == 1", functions: functions.joined(separator: " "))
        )
        #expect(decision.overBudget != nil)
    }

    @Test("a text has at most 1 MiB")
    func textValue() throws {
        let functions = """
            function double(t) { let a = t + t; let b = a + a; let c = b + b; let d = c + c; return d + d; }
            function long(t) { return double(double(double(t))); }
            """
        // 32 ** 3 is 32 KiB of one character; 31 characters stay below the limit with their 16 bytes, 32 do not.
        let fits = String(repeating: "a", count: 31)
        #expect(
            try decide(condition("long('\(fits)').size() == 1015808", functions: functions))
                .isAllowed
        )
        let over = try decide(condition("long('\(fits)a').size() > 0", functions: functions))
        #expect(over.candidates.map(\.result).first != .value(true))
        guard case .error(let failure)? = over.candidates.first?.result else {
            Issue.record("a text that is too long is an error")
            return
        }
        #expect(failure.message == "A value is larger than 1048576 bytes.")
    }

    @Test("lists and maps are at most 64 deep")
    func valueDepth() throws {
        func nested(_ count: Int) -> String {
            condition(
                String(repeating: "[", count: count) + String(repeating: "]", count: count)
                    + " is list"
            )
        }
        #expect(try decide(nested(64)).isAllowed)
        #expect(try !decide(nested(65)).isAllowed)
    }

    @Test("values that double by sharing stay small by their weight")
    func sharing() throws {
        let lets = (1...9).map { "let l\($0) = [l\($0 - 1), l\($0 - 1), l\($0 - 1), l\($0 - 1)];" }
            .joined(separator: " ")
        let text = condition(
            "f() == f()",
            functions: "function f() { let l0 = ['aaaaaaaa']; \(lets) return l9; }"
        )
        #expect(try !decide(text).isAllowed)
    }

    @Test("claims may be nested as deep as values, and deeper ones are an error")
    func deepClaims() throws {
        func request(_ count: Int) -> FileRulesRequest {
            let list = String(repeating: "[", count: count) + String(repeating: "]", count: count)
            return RulesWorld.request(
                .get,
                "x",
                auth: FileAuth(uid: "a", claims: Array("{\"a\":\(list)}".utf8))
            )
        }
        let rules = try FileRuleset.load(condition("request.auth != null"))
        #expect(rules.decide(request(60)).isAllowed)
        #expect(!rules.decide(request(100)).isAllowed)
        #expect(!rules.decide(request(100_000)).isAllowed)
    }

    @Test("a request looks at 10 different places of databases")
    func lookups() throws {
        func looks(_ count: Int) -> String {
            condition(
                (1...count).map {
                    "database.exists(/a\($0)) == false && database.exists(/a1) == false"
                }.joined(separator: " && ")
            )
        }
        let ten = try decide(looks(10))
        #expect(ten.isAllowed)
        #expect(ten.lookups.count == 10)
        let eleven = try decide(looks(11))
        #expect(!eleven.isAllowed)
        #expect(eleven.lookups.count == 10)
    }

    @Test("the value of a lookup has at most 64 KiB, and exists() copies nothing")
    func lookupSize() throws {
        let fits = Node(string: String(repeating: "a", count: FileRulesLimits.lookupByteCount - 16))
        let over = Node(string: String(repeating: "a", count: FileRulesLimits.lookupByteCount - 15))
        let get = condition("database.get(/a) != null")
        var root = Node.absent
        root.set(fits, at: try Path("/a"))
        #expect(try decide(get, database: root).isAllowed)
        root.set(over, at: try Path("/a"))
        #expect(try !decide(get, database: root).isAllowed)
        #expect(try decide(condition("database.exists(/a)"), database: root).isAllowed)
    }

    @Test("64 bytes copied from a database count as one expression")
    func lookupCost() throws {
        var root = Node.absent
        root.set(Node(string: String(repeating: "a", count: 6_400 - 16)), at: try Path("/a"))
        let decision = try decide(condition("database.get(/a) != null"), database: root)
        // The comparison, its two operands, the path, and 100 for the text.
        #expect(decision.expressionCount == 104)
        let eight = (1...8).map { _ in "database.get(/a) != null" }.joined(separator: " && ")
        #expect(try decide(condition(eight), database: root).isAllowed)
    }

    @Test(
        "work that would take long ends at the budget",
        arguments: [
            "long(x).matches('(a*)*b')", "long(x).matches('(.*)(.*)(.*)[^a]')",
            "long(x).replace('(a|aa)*b', '') == ''",
            "long(x).split('a*b') == []", "hashing.md5(long(x)) == hashing.sha256(long(x))",
            "long(x).split('').toSet().size() == 1", "long(x).upper() == long(x).lower()",
            "long(x).matches(long('(a?){5}'))", "long(x) != long(x)",
        ]
    )
    func heavyWork(_ heavy: String) throws {
        let functions = """
            function double(t) { let a = t + t; let b = a + a; let c = b + b; let d = c + c; return d + d; }
            function long(t) { return double(double(double(t + t))); }
            """
        let repeated = Array(repeating: "(\(heavy))", count: 200).joined(separator: " || ")
        let decision = try decide(
            condition(repeated, functions: functions),
            name: String(repeating: "a", count: 8)
        )
        #expect(decision.overBudget != nil)
        #expect(!decision.isAllowed)
    }

    @Test(
        "a time beyond the years of timestamps becomes the nearest",
        arguments: [Int64.min, .max]
    )
    func extremeTimes(_ milliseconds: Int64) throws {
        let request = FileRulesRequest(
            .get,
            bucket: "B",
            name: "x",
            auth: nil,
            time: Timestamp(milliseconds: milliseconds)
        )
        let year = milliseconds < 0 ? 1 : 9999
        let rules = try FileRuleset.load(
            condition(
                "request.time.year() == \(year) && request.time.toMillis() != 0 && request.time.dayOfYear() > 0"
            )
        )
        #expect(rules.decide(request).isAllowed)
    }

    @Test("a name of a thousand segments and a pattern of many captures are matched in one pass")
    func longNames() throws {
        let captures = (1...18).map { "/{x\($0)}" }.joined()
        let text = inBucket("match \(captures)/{rest=**} { allow get: if x18 == 'a'; }")
        let name = Array(repeating: "a", count: 512).joined(separator: "/")
        #expect(try decide(text, name: name).isAllowed)
    }
}
