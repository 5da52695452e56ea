import RulesTools
import TestSupport
import JSONTree
import Queries
import SecurityRules
import Testing

@Suite("warnings about random rules")
struct LintPropertyTests {
    @Test("random rules are linted alike each time, at places inside the text", arguments: 0..<4)
    func places(_ block: UInt64) throws {
        for seed in TestSeed.seeds(10, from: block * 10) {
            var other = RandomRules(seed: seed)
            var own = RandomLintRules(seed: seed)
            for text in [other.text(), own.text()] {
                let warnings = try Ruleset.load(text).lint()
                #expect(warnings == (try Ruleset.load(text).lint()), "seed \(seed)")
                let lines = RulesText(text)
                for warning in warnings {
                    let range = 1...lines.line(warning.line).count
                    #expect(range.contains(warning.column), "seed \(seed): \(warning)")
                }
                let places = warnings.map { [$0.line, $0.column] }
                #expect(places == places.sorted { $0.lexicographicallyPrecedes($1) })
            }
        }
    }

    @Test("a rule that is called constant is, for every random request", arguments: 0..<4)
    func constants(_ block: UInt64) throws {
        var counts = (never: 0, always: 0)
        for seed in TestSeed.seeds(40, from: block * 40) {
            var random = RandomLintRules(seed: seed)
            let text = random.text()
            let rules = try Ruleset.load(text)
            let warnings = rules.lint().filter { $0.code == .constantRule }
            // Each rule stands on a line of its own.
            let never = Set(warnings.filter { $0.message.hasPrefix("This is never") }.map(\.line))
            let always = Set(warnings.filter { $0.message.hasPrefix("This is always") }.map(\.line))
            counts.never += never.count
            counts.always += always.count
            if never.isEmpty, always.isEmpty { continue }
            for round in 0..<8 {
                let decision = try random.decide(rules, recording: .trace)
                for outcome in decision.trace {
                    let holds = outcome.result == .value(true)
                    let note: Comment = "seed \(seed) round \(round): \(outcome.source)\n\(text)"
                    if never.contains(outcome.line) { #expect(!holds, note) }
                    if always.contains(outcome.line) { #expect(holds, note) }
                }
            }
        }
        #expect(counts.never > 10)
        #expect(counts.always > 0)
    }

    @Test("a rule that is called unreachable changes no decision when it goes", arguments: 0..<4)
    func unreachable(_ block: UInt64) throws {
        var count = 0
        for seed in TestSeed.seeds(40, from: block * 40) {
            var random = RandomLintRules(seed: seed)
            let text = random.text()
            let rules = try Ruleset.load(text)
            let lines = Set(rules.lint().filter { $0.code == .unreachableRule }.map(\.line))
            for line in lines {
                count += 1
                var rest = text.split(separator: "\n", omittingEmptySubsequences: false)
                rest.remove(at: line - 1)
                let without = try Ruleset.load(rest.joined(separator: "\n"))
                for round in 0..<8 {
                    var same = random
                    let one = try random.decide(rules, recording: [])
                    let other = try same.decide(without, recording: [])
                    #expect(
                        one.isAllowed == other.isAllowed,
                        "seed \(seed) round \(round) line \(line)\n\(text)"
                    )
                }
            }
        }
        #expect(count > 10)
    }

    @Test("a comment with all codes of a text silences all of it", arguments: 0..<4)
    func silenced(_ block: UInt64) throws {
        for seed in TestSeed.seeds(15, from: block * 15) {
            var random = RandomLintRules(seed: seed)
            let text = random.text()
            let codes = Set(try Ruleset.load(text).lint().map(\.code.rawValue)).sorted()
            let comment = "/* hearth:allow-file \(codes.joined(separator: ", ")) */\n"
            let silent = try Ruleset.load(codes.isEmpty ? text : comment + text)
            #expect(silent.lint().map(\.description) == [], "seed \(seed)")
        }
    }
}

/// Makes random rules of the kind that lints look at, each rule on a line of its own, and requests to
/// decide by them.
struct RandomLintRules {
    var random: SeededGenerator
    private var captures: [String] = []
    private var kind = ""

    private static let keys = ["a", "b"]
    private static let auths = [
        "null", "{\"uid\":\"a\"}", "{\"uid\":\"b\",\"token\":{\"x\":true}}", "{}",
    ]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func text() -> String { "{\"rules\":{\n\(members(depth: 2))}}\n" }

    private mutating func pick<T>(_ list: [T]) -> T { list[random.index(list.count)] }

    private mutating func members(depth: Int) -> String {
        var text = ""
        for name in [".read", ".write", ".validate"] where random.index(2) == 0 {
            kind = name
            text += "\"\(name)\":\"\(boolean(depth: 2))\",\n"
        }
        if depth > 0 {
            for key in RandomLintRules.keys where random.index(3) > 0 {
                text += "\"\(key)\":{\n\(members(depth: depth - 1))},\n"
            }
            if random.index(2) == 0 {
                captures.append("$k\(depth)")
                text += "\"$k\(depth)\":{\n\(members(depth: depth - 1))},\n"
                captures.removeLast()
            }
        }
        // So that every line before may end with a comma.
        return text + "\"z\":{}\n"
    }

    private mutating func boolean(depth: Int) -> String {
        if depth > 0 {
            switch random.index(7) {
            case 0, 1: return "(\(boolean(depth: depth - 1)) && \(boolean(depth: depth - 1)))"
            case 2: return "(\(boolean(depth: depth - 1)) || \(boolean(depth: depth - 1)))"
            case 3: return "!\(boolean(depth: depth - 1))"
            case 4:
                return
                    "(\(boolean(depth: 0)) ? \(boolean(depth: depth - 1)) : \(boolean(depth: 0)))"
            default: break
            }
        }
        let place = place()
        let capture = captures.isEmpty ? "'a'" : pick(captures)
        return pick([
            "true", "(auth != null)", "(auth == null)", "(auth.uid == \(capture))",
            "(auth.token.x == true)", "(\(capture) == 'a')", "(\(capture) == 5)",
            "\(place).exists()", "!\(place).exists()",
            "(\(place).val() == \(pick(["1", "2", "'a'"])))",
            "(\(place).val() != \(pick(["1", "'a'", "null"])))", "(\(place).val() == auth.uid)",
            "\(place).isString()", "\(place).isNumber()", "\(place).hasChildren(['a'])",
            "\(place).hasChildren()", "(\(place).val() == \(self.place()).val())",
            "\(place).hasChild('b')", "(\(place).exists() == \(pick(["true", "false"])))",
            "(\(place).val() > 1)", "\(place).child(auth.uid).exists()", "(now > 5)",
            "('a' == 'b')",
        ])
    }

    private mutating func place() -> String {
        let base = pick(kind == ".read" ? ["data", "root"] : ["data", "newData", "root"])
        let capture = captures.isEmpty ? "'b'" : pick(captures)
        return base
            + pick(["", "", ".child('a')", ".child('a/b')", ".parent()", ".child(\(capture))"])
    }

    // MARK: Requests

    /// Decides a random request by rules.
    mutating func decide(_ rules: Ruleset, recording: Recording) throws -> Decision {
        let path = (0..<random.index(4)).map { _ in pick(["a", "b", "c"]) }.joined(separator: "/")
        let auth = pick(RandomLintRules.auths)
        let claims = try Node(json: Array(auth.utf8))
        let request = RulesRequest(
            root: try Node(json: Array(data(depth: 3).utf8)),
            auth: auth == "null" ? nil : AuthVariable(claims),
            now: Timestamp(milliseconds: 1_000)
        )
        let draft = try Draft(json: Array(data(depth: 2).utf8))
        let operation: SimulatedOperation =
            random.index(2) == 0
            ? .read(try Path(path), query: nil) : .write(try WriteTarget(path), draft)
        return rules.simulate(operation, request, recording: recording).decision
    }

    private mutating func data(depth: Int) -> String {
        if depth == 0 || random.index(4) == 0 {
            return pick(["1", "2", "\"a\"", "\"b\"", "true", "null"])
        }
        let members = ["a", "b", "c"].filter { _ in random.index(3) > 0 }
            .map { "\"\($0)\":\(data(depth: depth - 1))" }
        return "{\(members.joined(separator: ","))}"
    }
}
