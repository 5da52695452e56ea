package import TestSupport

/// A regular expression and the plainest way to match it: the set of all places where a match may
/// end, piece by piece.
package indirect enum NaivePattern: Sendable {
    /// As written, and the characters it takes.
    case character(String, Set<String>)
    case sequence([NaivePattern])
    case alternatives([NaivePattern])
    case repeated(NaivePattern, suffix: String, minimum: Int, maximum: Int?)

    /// As it is written between slashes.
    package var text: String {
        switch self {
        case .character(let text, _): text
        case .sequence(let parts): parts.map(\.text).joined()
        case .alternatives(let parts): parts.map(\.text).joined(separator: "|")
        case .repeated(.character(let text, _), let suffix, _, _): text + suffix
        case .repeated(let inner, let suffix, _, _): "(\(inner.text))\(suffix)"
        }
    }

    /// Where a match may end that begins at one of `starts`.
    package func ends(in text: [String], from starts: Set<Int>) -> Set<Int> {
        switch self {
        case .character(_, let characters):
            return Set(
                starts.filter { $0 < text.count && characters.contains(text[$0]) }.map { $0 + 1 }
            )
        case .sequence(let parts):
            return parts.reduce(starts) { $1.ends(in: text, from: $0) }
        case .alternatives(let parts):
            return parts.reduce(into: []) { $0.formUnion($1.ends(in: text, from: starts)) }
        case .repeated(let inner, _, let minimum, let maximum):
            var reached = starts
            for _ in 0..<minimum { reached = inner.ends(in: text, from: reached) }
            var result = reached
            // No more rounds than characters can reach anything new.
            for _ in 0..<min(maximum.map { $0 - minimum } ?? .max, text.count + 1) {
                reached = inner.ends(in: text, from: reached)
                result.formUnion(reached)
            }
            return result
        }
    }

    /// One with groups up to `depth` deep.
    package static func random(
        _ random: inout SeededGenerator,
        depth: Int
    ) -> NaivePattern {
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
        let characters: [NaivePattern] = [
            .character("a", ["a"]), .character("b", ["b"]), .character("c", ["c"]),
            .character(".", ["a", "b", "c"]), .character("[ab]", ["a", "b"]),
            .character("[^a]", ["b", "c"]), .character("[b-c]", ["b", "c"]),
            .character("\\w", ["a", "b", "c"]), .character("\\d", []),
        ]
        let quantifiers: [(String, Int, Int?)] = [
            ("*", 0, nil), ("+", 1, nil), ("?", 0, 1), ("{2}", 2, 2), ("{1,2}", 1, 2),
            ("{0,2}", 0, 2), ("{1,}", 1, nil), ("{1}", 1, 1), ("{1}", 1, 1),
        ]
        let isGroup = depth > 0 && random.index(3) == 0
        let atom =
            isGroup
            ? Self.random(&random, depth: depth - 1) : characters[random.index(characters.count)]
        if !isGroup && random.index(2) == 0 { return atom }
        let (suffix, minimum, maximum) = quantifiers[random.index(quantifiers.count)]
        return .repeated(atom, suffix: suffix, minimum: minimum, maximum: maximum)
    }
}
