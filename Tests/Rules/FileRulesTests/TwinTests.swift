import FileRules
import FileRulesTools
import Foundation
import JSONTree
import RulesOracle
import SecurityRules
import TestSupport
import Testing

/// Random inputs, and a second, naive reading of what must come of them.
@Suite("twins of file rules")
struct TwinTests {
    /// A piece of a random pattern.
    private enum Piece {
        case literal(String), capture(String), rest(String)

        var text: String {
            switch self {
            case .literal(let text): "/\(text)"
            case .capture(let name): "/{\(name)}"
            case .rest(let name): "/{\(name)=**}"
            }
        }
    }

    /// Tries everything: each piece takes what it may, and the rest must fit.
    private static func match(
        _ pieces: ArraySlice<Piece>,
        _ path: ArraySlice<String>,
        _ minimum: Int
    ) -> [String]? {
        guard let piece = pieces.first else { return path.isEmpty ? [] : nil }
        switch piece {
        case .literal(let text):
            return path.first == text ? match(pieces.dropFirst(), path.dropFirst(), minimum) : nil
        case .capture(let name):
            guard let first = path.first else { return nil }
            return match(pieces.dropFirst(), path.dropFirst(), minimum).map {
                ["\(name) = \"\(first)\""] + $0
            }
        case .rest(let name):
            for count in minimum...max(minimum, path.count) where count <= path.count {
                let taken = path.prefix(count).map { "/" + $0 }.joined()
                if let more = match(pieces.dropFirst(), path.dropFirst(count), minimum) {
                    return ["\(name) = \(taken.isEmpty ? "/" : taken)"] + more
                }
            }
            return nil
        }
    }

    @Test("random patterns take of random names what a search of all ways finds")
    func matching() throws {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        var (hits, misses) = (0, 0)
        for round in 0..<400 {
            let version = 1 + random.index(2)
            var pieces: [Piece] = []
            let restIndex = random.index(6)
            for index in 0..<random.index(5) + 1 {
                let choice = random.index(3)
                if index == restIndex {
                    pieces.append(.rest("r"))
                } else {
                    pieces.append(
                        choice == 0 ? .capture("c\(index)") : .literal(["a", "b"][random.index(2)])
                    )
                }
            }
            if version == 1,
                let place = pieces.firstIndex(where: { if case .rest = $0 { true } else { false } })
            {
                pieces = Array(pieces[...place])
            }
            // Nested anywhere: patterns of blocks stand one behind another.
            let cut = random.index(pieces.count) + 1
            let outer = pieces[..<cut].map(\.text).joined()
            let inner = pieces[cut...].map(\.text).joined()
            let body = inner.isEmpty ? "allow get;" : "match \(inner) { allow get; }"
            let text =
                "rules_version = '\(version)'; service firebase.storage { match /b/{bucket}/o { match \(outer) { \(body) } } }"
            let rules = try FileRuleset.load(text)
            for _ in 0..<6 {
                let path = (0...random.index(6)).map { _ in ["a", "b", "c"][random.index(3)] }
                let request = RulesWorld.request(.get, path.joined(separator: "/"))
                let found = rules.decide(request).candidates.first.map { candidate in
                    candidate.bindings.dropFirst().map { "\($0.name) = \($0.value)" }
                }
                let expected = Self.match(pieces[...], path[...], version == 1 ? 1 : 0)
                #expect(found == expected, "seed \(seed) round \(round): \(text) on \(path)")
                if expected == nil { misses += 1 } else { hits += 1 }
            }
        }
        #expect(hits > 100)
        #expect(misses > 100)
    }

    @Test(
        "random regular expressions match a whole text where a matcher that tries everything says so"
    )
    func patterns() throws {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        for round in 0..<300 {
            let node = NaivePattern.random(&random, depth: 3)
            // More than 64 states takes the other matcher; no text holds a z.
            let texts = [
                node.text, "(\(node.text))|z{70}", "^(?:\(node.text))$", "(\(node.text))$|^z",
            ]
            let patterns = try texts.map { (text) throws(LocatedFault) in
                try Pattern(whole: Array(text.unicodeScalars)[...])
            }
            for _ in 0..<8 {
                let text = (0..<random.index(9)).map { _ in ["a", "b", "c"][random.index(3)] }
                let expected = node.ends(in: text, from: [0]).contains(text.count)
                for (pattern, source) in zip(patterns, texts) {
                    var steps = 100_000
                    let found = Array(text.joined().utf8).withBytes {
                        pattern.matches($0, stepsLeft: &steps)
                    }
                    #expect(
                        found == expected,
                        "seed \(seed) round \(round): /\(source)/ on \(text)"
                    )
                }
            }
        }
    }

    @Test(
        "the first match of a random regular expression begins where a naive one begins, and ends where one may"
    )
    func searches() throws {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        for round in 0..<300 {
            let node = NaivePattern.random(&random, depth: 2)
            let pattern = try Pattern(whole: Array(node.text.unicodeScalars)[...])
            for _ in 0..<8 {
                let text = (0..<random.index(9)).map { _ in ["a", "b", "c"][random.index(3)] }
                let from = random.index(text.count + 1)
                let begin = (from...text.count).first { !node.ends(in: text, from: [$0]).isEmpty }
                var steps = 100_000
                let found = Array(text.joined().utf8).withBytes {
                    pattern.firstMatch(in: $0, from: from, stepsLeft: &steps)
                }
                let note = Comment(
                    rawValue: "seed \(seed) round \(round): /\(node.text)/ on \(text) from \(from)"
                )
                guard let begin else {
                    #expect(found == .nothing, note)
                    continue
                }
                guard case .match(let range) = found else {
                    Issue.record(note)
                    continue
                }
                #expect(range.lowerBound == begin, note)
                #expect(node.ends(in: text, from: [begin]).contains(range.upperBound), note)
            }
        }
    }

    /// A condition of three values, and what it is.
    private indirect enum Logic {
        case value(Bool?)
        case not(Logic), and(Logic, Logic), or(Logic, Logic), ternary(Logic, Logic, Logic), call(
            Logic
        )

        var text: String {
            switch self {
            case .value(let value): value.map { "\($0)" } ?? "1 / 0 == 1"
            case .not(let a): "!(\(a.text))"
            case .and(let a, let b): "(\(a.text)) && (\(b.text))"
            case .or(let a, let b): "(\(a.text)) || (\(b.text))"
            case .ternary(let a, let b, let c): "(\(a.text)) ? (\(b.text)) : (\(c.text))"
            case .call(let a): "same(\(a.text), 1 / 0)"
            }
        }

        /// Nil for an error.
        var value: Bool? {
            switch self {
            case .value(let value): value
            case .not(let a): a.value.map { !$0 }
            case .and(let a, let b):
                a.value == false || b.value == false
                    ? false : a.value == true && b.value == true ? true : nil
            case .or(let a, let b):
                a.value == true || b.value == true
                    ? true : a.value == false && b.value == false ? false : nil
            case .ternary(let a, let b, let c): a.value.flatMap { $0 ? b.value : c.value }
            case .call(let a): a.value
            }
        }

        static func random(_ random: inout SeededGenerator, _ depth: Int) -> Logic {
            let choice = depth == 0 ? 0 : random.index(6)
            func next() -> Logic { Logic.random(&random, depth - 1) }
            switch choice {
            case 1: return .not(next())
            case 2: return .and(next(), next())
            case 3: return .or(next(), next())
            case 4: return .ternary(next(), next(), next())
            case 5: return .call(next())
            default: return .value([true, false, nil][random.index(3)])
            }
        }
    }

    @Test("random conditions of true, false and errors are what the tables of three values say")
    func logic() throws {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        var counts: [Bool?: Int] = [:]
        let functions =
            "function same(x, unused) { let other = unused; let again = x; return again; }"
        for round in 0..<600 {
            let logic = Logic.random(&random, 4)
            let decision = try RulesWorld.decide(
                RulesWorld.rules(logic.text, functions: functions),
                RulesWorld.request()
            )
            var found: Bool?
            if case .value(let value)? = decision.candidates.first?.result { found = value }
            #expect(found == logic.value, "seed \(seed) round \(round): \(logic.text)")
            counts[found, default: 0] += 1
        }
        #expect(counts.count == 3 && counts.values.allSatisfy { $0 > 30 }, "\(counts)")
    }
}

@Suite("damaged file rules")
struct DamageTests {
    private static let pieces = [
        "{", "}", "[", "]", ":", ",", "\"", "'", "\\", "/", "//", "/*", "*/", "\n", "\r\n", " ",
        ";", "$(", "$", "match",
        "allow", "read", "function", "let", "return", "service", "firebase.storage",
        "rules_version", "=", "'2'", "/{x}",
        "/{y=**}", "if", "in", "is", "string", "request", "resource", ".auth", ".uid", ".size()",
        ".matches('a.*')",
        "database.get(", "(", ")", "&&", "||", "!", "==", "<", "+", "-", "*", "%", "?", "0", "1.5",
        "1e9", "true", "null",
        "\u{1F600}", "\u{0}", "é", "9223372036854775807", "`", "&", "[0:1]", ".get('a', 0)",
        "/a/$(x)", "\u{2028}",
    ]

    private static func texts() throws -> [String] {
        try RulesWorld.blocks("decisions.txt").map(\.text)
            + RulesWorld.blocks("warnings.txt").map(\.text)
    }

    /// Loads a text and decides by it, or finds every fault inside of it.
    private func check(_ text: String, _ note: Comment) throws -> Bool {
        let rules: FileRuleset
        do throws(RulesError) { rules = try FileRuleset.load(text) } catch {
            let lineCount = text.unicodeScalars.count { $0 == "\n" || $0 == "\r" } + 1
            #expect(!error.faults.isEmpty, note)
            for fault in error.faults {
                #expect((1...lineCount).contains(fault.line), note)
                #expect((1...text.unicodeScalars.count + 1).contains(fault.column), note)
                #expect(!fault.message.isEmpty && fault.message.utf8.count < 400, note)
            }
            return false
        }
        #expect(rules.text == text, note)
        let databases = try RulesWorld.databases()
        for operation in FileOperation.allCases {
            for name in ["a", "user/ann/a", "parties/p/photos/a", ""] {
                let request = RulesWorld.request(operation, name, newResource: RulesWorld.photo)
                let decision = rules.decide(request, isRecorded: true) { name, path in
                    databases[name ?? ""]?.descendant(at: path)
                }
                let plain = rules.decide(request) { name, path in
                    databases[name ?? ""]?.descendant(at: path)
                }
                #expect(plain.isAllowed == decision.isAllowed, note)
                #expect(plain.expressionCount == decision.expressionCount, note)
                #expect(
                    !FileExplanation.text(of: decision, for: request, under: rules).isEmpty,
                    note
                )
            }
        }
        return true
    }

    @Test("rules with some scalars changed load or are refused with places in them, and then run")
    func mutations() throws {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        let texts = try Self.texts()
        var loaded = 0
        for round in 0..<2_500 {
            var scalars = Array(texts[random.index(texts.count)].unicodeScalars)
            for _ in 0...random.index(3) {
                let piece = Array(Self.pieces[random.index(Self.pieces.count)].unicodeScalars)
                let place = random.index(scalars.count)
                scalars.replaceSubrange(
                    place..<min(scalars.count, place + random.index(4)),
                    with: piece
                )
            }
            if try check(String(scalars: scalars), "seed \(seed) round \(round)") { loaded += 1 }
        }
        #expect(loaded > 25)
    }

    @Test("every text cut anywhere loads or is refused with places in it")
    func cuts() throws {
        for text in try Self.texts().prefix(6) {
            let scalars = Array(text.unicodeScalars)
            for count in 0..<scalars.count {
                _ = try check(String(scalars: scalars.prefix(count)), "\(count) of \(text)")
            }
        }
    }

    @Test("random expressions load or are refused with places in them, and then run")
    func randomExpressions() throws {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        for round in 0..<4_000 {
            var source = ""
            for _ in 0...random.index(12) {
                source += Self.pieces[random.index(Self.pieces.count)] + " "
            }
            _ = try check(RulesWorld.rules(source), "seed \(seed) round \(round)")
        }
    }

    @Test("expressions of the table joined at random run to an end")
    func randomValues() throws {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        let rows = try RulesWorld.rows("expressions.txt").map(\.left).filter { !$0.contains("/*") }
        let databases = try RulesWorld.databases()
        var boolCount = 0
        let symbols = ["==", "<", "+", "-", "*", "/", "%", "in", "&&", "||"]
        let methods = [
            "size()", "keys()", "get('a', 0)", "hasAll([1])", "diff({})", "toSet()", "split('')",
            "bind({})", "join('')", "seconds()",
        ]
        for round in 0..<2_000 {
            let (a, b) = (rows[random.index(rows.count)], rows[random.index(rows.count)])
            let method = methods[random.index(methods.count)]
            let texts = [
                "(\(a)) \(symbols[random.index(symbols.count)]) (\(b))", "(\(a)).\(method)",
                "[\(a), \(b)].\(method)",
                "{'a': \(a)}.diff({'a': \(b)}).affectedKeys()", "(\(a))[(\(b))]", "(\(a))[(\(b)):]",
                "string(\(a))", "/a/$(\(a))",
                "(\(a)).replace(\(b), 'x')", "math.pow(\(a), \(b))", "duration.value(\(a), 's')",
            ]
            // A literal that is no pattern does not load.
            do throws(RulesError) {
                let text = RulesWorld.rules("debug(\(texts[random.index(texts.count)]))")
                let rules = try FileRuleset.load(text)
                let decision = rules.decide(RulesWorld.request(), isRecorded: true) { _, path in
                    databases[""]?.descendant(at: path)
                }
                #expect(decision.candidates.count == 1, "seed \(seed) round \(round): \(text)")
                if decision.candidates[0].observations[0].truth != nil { boolCount += 1 }
            } catch {
                #expect(
                    error.faults.allSatisfy { $0.message.contains("egular expression") },
                    "\(error)"
                )
            }
        }
        #expect(boolCount > 5)
    }
}
