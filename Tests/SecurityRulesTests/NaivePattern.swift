import TestSupport
/// A regular expression and the plainest way to match it: the set of all places where a match may
/// end, piece by piece.
indirect enum NaivePattern {
    /// As written, and the letters it takes.
    case letter(String, Set<String>)
    case sequence([NaivePattern])
    case alternatives([NaivePattern])
    case repeated(NaivePattern, suffix: String, minimum: Int, maximum: Int?)

    /// As it is written between slashes.
    var text: String {
        switch self {
        case .letter(let text, _): text
        case .sequence(let parts): parts.map(\.text).joined()
        case .alternatives(let parts): parts.map(\.text).joined(separator: "|")
        case .repeated(.letter(let text, _), let suffix, _, _): text + suffix
        case .repeated(let inner, let suffix, _, _): "(\(inner.text))\(suffix)"
        }
    }

    /// Where a match may end that begins at one of `starts`.
    func ends(in text: [String], from starts: Set<Int>) -> Set<Int> {
        switch self {
        case .letter(_, let letters):
            return Set(
                starts.filter { $0 < text.count && letters.contains(text[$0]) }.map { $0 + 1 }
            )
        case .sequence(let parts):
            return parts.reduce(starts) { $1.ends(in: text, from: $0) }
        case .alternatives(let parts):
            return parts.reduce(into: []) { $0.formUnion($1.ends(in: text, from: starts)) }
        case .repeated(let inner, _, let minimum, let maximum):
            var reached = starts
            for _ in 0..<minimum { reached = inner.ends(in: text, from: reached) }
            var result = reached
            // No more rounds than letters can reach anything new.
            for _ in 0..<min(maximum.map { $0 - minimum } ?? .max, text.count + 1) {
                reached = inner.ends(in: text, from: reached)
                result.formUnion(reached)
            }
            return result
        }
    }

    static func random(_ random: inout SeededGenerator, depth: Int) -> NaivePattern {
        let parts = (0...random.index(2)).map { _ in sequence(&random, depth: depth) }
        return parts.count == 1 ? parts[0] : .alternatives(parts)
    }

    private static func sequence(
        _ random: inout SeededGenerator,
        depth: Int
    ) -> NaivePattern {
        .sequence((0...random.index(3)).map { _ in item(&random, depth: depth) })
    }

    private static func item(_ random: inout SeededGenerator, depth: Int) -> NaivePattern {
        let letters: [NaivePattern] = [
            .letter("a", ["a"]), .letter("b", ["b"]), .letter("c", ["c"]),
            .letter(".", ["a", "b", "c"]), .letter("[ab]", ["a", "b"]),
            .letter("[^a]", ["b", "c"]), .letter("[b-c]", ["b", "c"]),
            .letter("\\w", ["a", "b", "c"]), .letter("\\d", []),
        ]
        let quantifiers: [(String, Int, Int?)] = [
            ("*", 0, nil), ("+", 1, nil), ("?", 0, 1), ("{2}", 2, 2), ("{1,2}", 1, 2),
            ("{0,2}", 0, 2), ("{1,}", 1, nil), ("{1}", 1, 1), ("{1}", 1, 1),
        ]
        let isGroup = depth > 0 && random.index(3) == 0
        let atom =
            isGroup ? Self.random(&random, depth: depth - 1) : letters[random.index(letters.count)]
        if !isGroup && random.index(2) == 0 { return atom }
        let (suffix, minimum, maximum) = quantifiers[random.index(quantifiers.count)]
        return .repeated(atom, suffix: suffix, minimum: minimum, maximum: maximum)
    }
}
