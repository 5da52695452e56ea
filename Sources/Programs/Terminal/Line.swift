import Files

/// How a piece of a line looks.
package struct Look: Equatable, Sendable {
    /// The colours that every terminal has; which hue each is, its owner has chosen.
    package enum Color: Int, Equatable, Sendable {
        case red = 31
        case green, yellow, blue, magenta, cyan
    }

    package var isBold = false
    package var isDim = false
    package var isReversed = false
    package var isUnderlined = false
    package var color: Color?
    /// Where a click on it leads, in printable ASCII; nil: nowhere.
    package var link: String?

    package static let plain = Look()
    package static let bold = Look(isBold: true)
    package static let dim = Look(isDim: true)
    package static let reversed = Look(isReversed: true)

    package init(
        isBold: Bool = false,
        isDim: Bool = false,
        isReversed: Bool = false,
        isUnderlined: Bool = false,
        color: Color? = nil,
        link: String? = nil,
    ) {
        self.isBold = isBold
        self.isDim = isDim
        self.isReversed = isReversed
        self.isUnderlined = isUnderlined
        self.link = link
        self.color = color
    }
}

/// One line of a screen: pieces of text, each in a style. No text in it can do more than be shown.
package struct Line: Equatable, Sendable {
    /// A text in one style.
    package struct Piece: Equatable, Sendable {
        package let text: String
        package let style: Look
    }

    package private(set) var pieces: [Piece] = []
    /// Columns it takes.
    package private(set) var width = 0

    package init(_ text: String = "", _ style: Look = .plain) { append(text, style) }

    /// Appends a text, with its control characters and line ends made harmless.
    package mutating func append(_ text: String, _ style: Look = .plain) {
        guard !text.isEmpty else { return }
        let piece = Piece(text: Self.harmless(text), style: style)
        pieces.append(piece)
        width += TextWidth.columns(piece.text)
    }

    /// Appends a line.
    package mutating func append(_ line: Line) {
        pieces += line.pieces
        width += line.width
    }

    /// Its text, without styles.
    package var text: String { pieces.map(\.text).joined() }

    /// The line in exactly `columns` columns: filled with spaces, or cut.
    package func fitted(to columns: Int, _ style: Look = .plain) -> Line {
        if width <= columns {
            var line = self
            line.append(String(repeating: " ", count: columns - width), style)
            return line
        }
        var line = Line()
        for piece in pieces {
            let room = columns - line.width
            guard TextWidth.columns(piece.text) < room else {
                // The rest does not fit, and the cut shows it.
                line.append(TextWidth.cut(piece.text + " ", to: room), piece.style)
                break
            }
            line.append(piece.text, piece.style)
        }
        return line.width < columns ? line.fitted(to: columns, style) : line
    }

    /// The line with another look all over.
    package func styled(_ style: Look) -> Line {
        var line = Line()
        for piece in pieces { line.append(piece.text, style) }
        return line
    }

    /// Text of whomever as one line: controls become escapes, line ends and tabs spaces.
    package static func harmless(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else { return text }
        let flat = text.replacing("\r\n", with: " ").replacing("\n", with: " ")
        return TerminalText.shown(flat.replacing("\t", with: " "))
    }
}
