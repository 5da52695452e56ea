/// A line of a text with a caret below a place in it, for a terminal.
enum Excerpt {
    /// Scalars that are shown of a line, and how many of them may stand before the place: rules of one
    /// long line are common.
    private static let (limit, limitBefore) = (100, 60)

    /// The line and the caret, each behind four spaces.
    ///
    /// What takes no place on a terminal, or changes the order of what it shows, becomes U+FFFD.
    ///
    /// - Parameters:
    ///   - line: without its end.
    ///   - column: of the place, from 1, in scalars; it may stand behind the end.
    /// - Returns: two lines, without a newline at the end.
    static func text(of line: some Collection<Unicode.Scalar>, column: Int) -> String {
        let place = max(0, column - 1)
        let start = max(0, place - limitBefore)
        let window = line.dropFirst(start).prefix(limit)
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: window.map(self.shown))
        let before = window.prefix(place - start)
        let indent = before.reduce(0) { $0 + width($1) } + place - start - before.count
        return "    \(String(shown))\n    \(String(repeating: " ", count: indent))^"
    }

    private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.properties.generalCategory {
        case .control where scalar != "\t" && scalar != "\r", .format, .lineSeparator,
            .paragraphSeparator:
            "\u{FFFD}"
        default: scalar.properties.isWhitespace ? " " : scalar
        }
    }

    /// Columns of a terminal that a scalar takes as it is shown: none for what is put upon the one before it, two for
    /// East Asian wide ones and pictures.
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
