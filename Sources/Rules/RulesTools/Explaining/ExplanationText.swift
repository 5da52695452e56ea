import JSONTree
import SecurityRules

/// Words and lines of explanations.
package enum ExplanationText {
    /// A text on one line: white space as single spaces, control characters as `?`, cut at
    /// `RulesLimits.explanationPieceScalarCount`.
    package static func line(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var line = String.UnicodeScalarView()
        var count = 0
        var isAfterSpace = true
        for scalar in scalars {
            let isSpace = scalar.properties.isWhitespace
            if isSpace, isAfterSpace { continue }
            if count == RulesLimits.explanationPieceScalarCount { return String(line) + "..." }
            isAfterSpace = isSpace
            let isControl = scalar.properties.generalCategory == .control
            line.append(isSpace ? " " : isControl ? "?" : scalar)
            count += 1
        }
        if line.last == " " { line.removeLast() }
        return String(line)
    }

    /// A text of the data in quotes, as JSON writes it; cut like `line`.
    package static func quoted(_ text: String, isCut: Bool = false) -> String {
        let limit = RulesLimits.explanationPieceScalarCount
        let scalars = text.unicodeScalars
        let start = scalars.prefix(limit)
        var out: [UInt8] = []
        appendJSONString(String(start), to: &out)
        let wasCut = isCut || start.endIndex != scalars.endIndex
        return String(decoding: out, as: UTF8.self) + (wasCut ? "..." : "")
    }

    /// A path, cut like `line`.
    static func path(_ path: Path) -> String { line(path.description.unicodeScalars) }

    /// A value in words: `"ann"`, `5`, `null`, `an object`.
    static func words(_ value: ObservedValue) -> String {
        switch value {
        case .null: return "null"
        case .boolean(let value): return "\(value)"
        case .number(let value): return number(value)
        case .string(let text, let isCut): return quoted(text, isCut: isCut)
        case .object: return "an object"
        case .snapshot(_, _, let content): return content.isNull ? "empty" : words(content)
        }
    }

    /// A number as rules print it; `nan` and infinities by name.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "not a number" }
        if value.isInfinite { return value < 0 ? "-infinity" : "infinity" }
        return String(decoding: Node(double: value).json(.value), as: UTF8.self)
    }
}

extension ObservedValue {
    /// Whether it is empty.
    var isNull: Bool { self == .null }

    /// Whether it has children.
    var isMap: Bool { self == .object }
}
