/// Columns and rows of a terminal.
package struct Size: Equatable, Sendable {
    package let columns: Int
    package let rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = max(1, columns)
        self.rows = max(1, rows)
    }
}

/// The content of a whole screen.
package struct Frame: Equatable, Sendable {
    /// A position on the screen, from 0 at the top left.
    package struct CursorPosition: Equatable, Sendable {
        package let row: Int
        package let column: Int

        package init(row: Int, column: Int) {
            self.row = row
            self.column = column
        }
    }

    package let size: Size
    /// From the top; those below the last row are not shown.
    package let lines: [Line]
    /// The position of the cursor; nil: it is hidden.
    package let cursor: CursorPosition?

    package init(size: Size, lines: [Line], cursor: CursorPosition?) {
        self.size = size
        self.lines = lines
        self.cursor = cursor
    }
}

/// Turns frames into output for a terminal: the lines that have changed, and the cursor.
package struct Painter: Sendable {
    private let hasColors: Bool
    private let hasLinks: Bool
    private var shown: [String] = []
    private var shownSize: Size?
    private var shownCursor: Frame.CursorPosition?

    /// - Parameters:
    ///   - hasColors: Whether colours are wanted: not where `NO_COLOR` is set.
    ///   - hasLinks: Whether links can be clicked; else they are underlined and nothing more.
    package init(hasColors: Bool, hasLinks: Bool = false) {
        self.hasColors = hasColors
        self.hasLinks = hasLinks
    }

    /// The output that turns the last frame into this one; empty if they are equal.
    package mutating func paint(_ frame: Frame) -> String {
        var out = ""
        if shownSize != frame.size {
            out += "\u{1B}[0m\u{1B}[2J"
            shown = Array(repeating: "", count: frame.size.rows)
            shownSize = frame.size
        }
        for row in 0..<frame.size.rows {
            let line = row < frame.lines.count ? frame.lines[row] : Line()
            let text = line.width > frame.size.columns ? line.fitted(to: frame.size.columns) : line
            let bytes = rendered(text)
            guard bytes != shown[row] else { continue }
            shown[row] = bytes
            // Cleared first: after a full line the cursor is still on its last column.
            out += "\u{1B}[\(row + 1);1H\u{1B}[2K\(bytes)"
        }
        guard !out.isEmpty || frame.cursor != shownCursor else { return "" }
        shownCursor = frame.cursor
        guard let cursor = frame.cursor else { return "\u{1B}[?25l\(out)" }
        let move = "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H"
        return (out.isEmpty ? move : "\u{1B}[?25l\(out)\(move)") + "\u{1B}[?25h"
    }

    /// Forgets the terminal's content, so that the next frame is drawn whole.
    package mutating func forget() { shownSize = nil }

    private func rendered(_ line: Line) -> String {
        var text = ""
        for piece in line.pieces {
            let codes = codes(piece.style)
            var shown = codes.isEmpty ? piece.text : "\u{1B}[\(codes)m\(piece.text)\u{1B}[0m"
            if hasLinks, let link = piece.style.link, Self.isPlain(link) {
                // OSC 8; both halves end with the string terminator.
                shown = "\u{1B}]8;;\(link)\u{1B}\\\(shown)\u{1B}]8;;\u{1B}\\"
            }
            text += shown
        }
        return text
    }

    /// Whether nothing in an address ends it for a terminal.
    private static func isPlain(_ link: String) -> Bool {
        link.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    private func codes(_ style: Look) -> String {
        var codes: [String] = []
        if style.isBold { codes.append("1") }
        if style.isDim { codes.append("2") }
        if style.isUnderlined { codes.append("4") }
        if style.isReversed { codes.append("7") }
        if let color = style.color, hasColors { codes.append("\(color.rawValue)") }
        return codes.joined(separator: ";")
    }
}
