import TestSupport
/// A regular expression, and the plainest way to match it: piece by piece, the set of all places
/// where a match may end.
struct OraclePattern {
    indirect enum Item {
        /// As written, and which scalars it takes.
        case one(String, @Sendable (Unicode.Scalar) -> Bool)
        case group([[Item]])
        case repeated(Item, suffix: String, minimum: Int, maximum: Int?)
    }

    let alternatives: [[Item]]
    let beginsAnchored: Bool
    let endsAnchored: Bool
    let ignoresCase: Bool

    /// As a literal.
    var text: String {
        let body = OraclePattern.text(alternatives)
        return "/" + (beginsAnchored ? "^" : "") + body + (endsAnchored ? "$" : "") + "/"
            + (ignoresCase ? "i" : "")
    }

    private static func text(_ alternatives: [[Item]]) -> String {
        alternatives.map { $0.map(text).joined() }.joined(separator: "|")
    }

    private static func text(_ item: Item) -> String {
        switch item {
        case .one(let text, _): text
        case .group(let alternatives): "(\(text(alternatives)))"
        case .repeated(let inner, let suffix, _, _): text(inner) + suffix
        }
    }

    /// Whether a match is anywhere in the text; anchors hold for all alternatives.
    func matches(_ string: String) -> Bool {
        let text = Array(string.unicodeScalars)
        let starts = Set(beginsAnchored ? 0...0 : 0...text.count)
        let ends = ends(alternatives, text, starts)
        return endsAnchored ? ends.contains(text.count) : !ends.isEmpty
    }

    private func ends(
        _ alternatives: [[Item]],
        _ text: [Unicode.Scalar],
        _ starts: Set<Int>
    ) -> Set<Int> {
        alternatives.reduce(into: []) { all, items in
            all.formUnion(items.reduce(starts) { ends($1, text, $0) })
        }
    }

    private func ends(_ item: Item, _ text: [Unicode.Scalar], _ starts: Set<Int>) -> Set<Int> {
        switch item {
        case .one(_, let takes):
            return Set(starts.filter { $0 < text.count && takes(text[$0]) }.map { $0 + 1 })
        case .group(let alternatives):
            return ends(alternatives, text, starts)
        case .repeated(let inner, _, let minimum, let maximum):
            var reached = starts
            for _ in 0..<minimum { reached = ends(inner, text, reached) }
            var all = reached
            // No more rounds than scalars can reach anything new.
            for _ in 0..<min(maximum.map { $0 - minimum } ?? .max, text.count + 1) {
                reached = ends(inner, text, reached)
                all.formUnion(reached)
            }
            return all
        }
    }
}

extension OraclePattern {
    static func random(_ random: inout SeededGenerator) -> OraclePattern {
        let ignoresCase = random.index(4) == 0
        return OraclePattern(
            alternatives: alternatives(&random, ignoresCase, depth: 1),
            beginsAnchored: random.index(2) == 0,
            endsAnchored: random.index(2) == 0,
            ignoresCase: ignoresCase
        )
    }

    private static func alternatives(
        _ random: inout SeededGenerator,
        _ ignoresCase: Bool,
        depth: Int
    ) -> [[Item]] {
        (0...max(0, random.index(4) - 2)).map { _ in
            (0...random.index(3)).map { _ in item(&random, ignoresCase, depth: depth) }
        }
    }

    private static func item(
        _ random: inout SeededGenerator,
        _ ignoresCase: Bool,
        depth: Int
    ) -> Item {
        let suffixes: [(String, Int, Int?)] = [
            ("*", 0, nil), ("+", 1, nil), ("?", 0, 1), ("{2}", 2, 2), ("{1,2}", 1, 2),
            ("{1,}", 1, nil), ("{0,3}", 0, 3),
        ]
        let isGroup = depth > 0 && random.index(4) == 0
        let atom: Item =
            isGroup
            ? .group(alternatives(&random, ignoresCase, depth: depth - 1))
            : one(&random, ignoresCase)
        if random.index(2) == 0 { return atom }
        let (suffix, minimum, maximum) = suffixes[random.index(suffixes.count)]
        return .repeated(atom, suffix: suffix, minimum: minimum, maximum: maximum)
    }

    /// Texts of single scalars, what they take, and whether they take all else instead.
    private static let atoms: [(text: String, takes: String, isNegated: Bool)] = [
        ("a", "a", false), ("a", "a", false), ("b", "b", false), ("B", "B", false),
        ("1", "1", false), ("é", "é", false), ("\u{1F600}", "\u{1F600}", false),
        ("[ab]", "ab", false), ("[a-c]", "abc", false), ("[^a]", "a", true),
        ("[^a-c1]", "abc1", true), ("[0-9a]", "0123456789a", false), (".", "\n\r\u{2028}", true),
        ("\\d", digits, false), ("\\D", digits, true), ("\\w", word, false), ("\\W", word, true),
        ("\\s", space, false), ("\\S", space, true), ("[\\d_]", digits + "_", false),
        ("\\.", ".", false), ("\\b", "b", false), ("\\/", "/", false), ("[/]", "/", false),
        ("}", "}", false), ("[\\s\\w]", space + word, false), ("[^\\w]", word, true),
        ("[A-Z]", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", false),
    ]

    private static let digits = "0123456789"
    private static let space = " \t\n\r\u{B}\u{C}\u{A0}"
    private static let word =
        digits + "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    private static func one(_ random: inout SeededGenerator, _ ignoresCase: Bool) -> Item {
        let atom = atoms[random.index(atoms.count)]
        let taken = Set(atom.takes.unicodeScalars)
        let isNegated = atom.isNegated
        return .one(atom.text) { scalar in
            let forms =
                ignoresCase
                ? [scalar] + OracleText.simpleCases(scalar) : [scalar]
            return forms.contains { taken.contains($0) } != isNegated
        }
    }
}
