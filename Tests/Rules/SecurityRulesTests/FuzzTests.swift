import TestSupport
import Foundation
import JSONTree
import Queries
import RulesTools
import SecurityRules
import Testing

@Suite("random texts")
struct FuzzTests {
    private static let pieces = [
        "{", "}", "[", "]", ":", ",", "\"", "'", "\\", "/", "//", "/*", "*/", "\n", "\r\n", " ",
        "rules",
        "\"rules\"", ".read", "\".read\"", "\".write\"", "\".validate\"", "\".indexOn\"", "\"$a\"",
        "$a",
        "true", "false", "null", "data", "newData", "auth", "now", "root", "query", ".child(",
        ".val()",
        ".exists()", ".matches(", ".hasChildren([", "(", ")", "&&", "||", "!", "==", "===", "<",
        "+", "-",
        "*", "%", "?", "0", "1.5", "1e9", "\\u0041", "\\ud83d", "\u{1F600}", "\u{0}", "é", "^", "$",
        "{2,3}",
        "[a-z]", "|", "=>", "...", "`", ";", "\u{2028}",
    ]

    @Test("a random text loads or is refused with places inside it")
    func randomTexts() {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        for round in 0..<3_000 {
            var text = ""
            for _ in 0..<random.index(40) {
                text += FuzzTests.pieces[random.index(FuzzTests.pieces.count)]
            }
            check(text, "seed \(seed) round \(round)")
        }
    }

    @Test("a random expression loads or is refused with places inside it")
    func randomExpressions() {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        for round in 0..<5_000 {
            var source = ""
            for _ in 0..<random.index(16) {
                source += FuzzTests.pieces[random.index(FuzzTests.pieces.count)]
            }
            var text = Array("{\"rules\":{\"$a\":{\".validate\":".utf8)
            appendJSONString(source, to: &text)
            text.append(contentsOf: "}}}".utf8)
            check(String(decoding: text, as: UTF8.self), "seed \(seed) round \(round)")
        }
    }

    @Test("good rules with one scalar changed load or are refused, and then run")
    func mutations() throws {
        let seed = TestSeed.first
        var random = SeededGenerator(seed: seed)
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let bytes = try Data(contentsOf: folder.appending(path: "Specs/rules-cases.json"))
        let file = try CaseFile.read([UInt8](bytes))
        let texts: [String] = file.cases.compactMap { example in
            guard case .success(let rules) = file.rules(of: example, shared: nil) else {
                return nil
            }
            return rules.text
        }
        for round in 0..<3_000 {
            var scalars = Array(texts[random.index(texts.count)].unicodeScalars)
            let piece = Array(FuzzTests.pieces[random.index(FuzzTests.pieces.count)].unicodeScalars)
            let place = random.index(scalars.count)
            scalars.replaceSubrange(place..<place + random.index(2), with: piece)
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            check(String(text), "seed \(seed) round \(round)")
        }
    }

    private func check(_ text: String, _ note: String) {
        do throws(RulesError) {
            let rules = try Ruleset.load(text)
            #expect(rules.text == text)
            #expect(rules.lint().count <= RulesLimits.faultCount, "\(note)")
            let request = RulesRequest(root: .absent, auth: nil, now: Timestamp(milliseconds: 0))
            let target = Path([Key(unchecked: [0x61])])
            _ = rules.decideRead(target, query: nil, request, recording: [.trace, .paths])
            _ = rules.simulate(.write(WriteTarget(path: target), Draft(Node(true))), request)
        } catch {
            let lineCount = text.unicodeScalars.filter { $0 == "\n" || $0 == "\r" }.count + 1
            let scalarCount = text.unicodeScalars.count
            #expect(!error.faults.isEmpty, "\(note)")
            for fault in error.faults {
                #expect((1...lineCount).contains(fault.line), "\(note): \(fault)")
                #expect((1...scalarCount + 1).contains(fault.column), "\(note): \(fault)")
            }
        }
    }
}
