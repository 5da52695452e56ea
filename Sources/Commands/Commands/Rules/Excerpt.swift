import JSONTree
import RulesTools
import SecurityRules

/// A line of a text with a caret below a position in it, for a terminal.
enum Excerpt {
    /// Scalars shown of a line, and how many of them may be before the position: rules often have one long line.
    private static let (limit, limitBefore) = (100, 60)

    /// The line and the caret, each behind four spaces.
    ///
    /// Scalars without width, and those that change the order of the text, become U+FFFD.
    /// `column` counts scalars from 1, and may be after the end.
    static func text(of line: some Collection<Unicode.Scalar>, column: Int) -> String {
        let location = max(0, column - 1)
        let start = max(0, location - limitBefore)
        let window = line.dropFirst(start).prefix(limit)
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: window.map(self.shown))
        let before = window.prefix(location - start)
        let indent = before.reduce(0) { $0 + width($1) } + location - start - before.count
        return "    \(String(shown))\n    \(String(repeating: " ", count: indent))^"
    }

    /// A fault with its line, a caret below the position, and the hint.
    ///
    ///     rules/a.json:3:17: error: Unknown variable 'x'.
    ///         ".read": "x == 1"
    ///                   ^
    ///         hint: ...
    static func fault(
        _ fault: RulesFault,
        _ kind: String = "",
        of path: String,
        _ lines: RulesText
    ) -> String {
        var text = "\(path):\(fault.line):\(fault.column): \(kind)\(fault.message)"
        text += "\n" + Excerpt.text(of: lines.line(fault.line), column: fault.column)
        if let hint = fault.hint { text += "\n    hint: \(hint)" }
        return text
    }

    private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.properties.generalCategory {
        case .control where scalar != "\t" && scalar != "\r", .format, .lineSeparator,
            .paragraphSeparator:
            "\u{FFFD}"
        default: scalar.properties.isWhitespace ? " " : scalar
        }
    }

    /// The columns of a scalar on a terminal: none for one that combines with the one before it, two for East Asian
    /// wide ones and pictures.
    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        switch scalar.value {
        case 0x3000: return 1  // a space, shown as a usual one
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

extension RulesFault {
    /// Reads a fault of a server's refusal, `{"line","column","message","hint"?}`, its position in an object of its own
    /// or not, and line 0 without one; nil for anything else.
    init?(_ entry: Node, at position: Node) {
        guard let message = entry.member("message").string else { return nil }
        self.init(
            line: Int(position.member("line").integer ?? 0),
            column: Int(position.member("column").integer ?? 0),
            message: message,
            hint: entry.member("hint").string
        )
    }
}
