import Chat
import Terminal

/// A paragraph whose addresses and phone numbers are links, also where a line ends within one.
struct LinkedLines {
    private let text: String
    private let style: Look
    private let links: [TextLink]

    /// - Parameters:
    ///   - text: Without line ends and control characters.
    ///   - style: For text outside links.
    init(_ text: String, _ style: Look) {
        self.text = text
        self.style = style
        links = TextLink.all(in: text)
    }

    /// Its lines, at most `width` columns wide.
    func wrapped(to width: Int) -> [Line] {
        let lines = TextWidth.wrap(text, to: width)
        guard !links.isEmpty else { return lines.map { Line($0, style) } }
        var index = text.startIndex
        return lines.map { line in
            var shown = Line()
            var piece = ""
            var link: TextLink?
            func finish() {
                shown.append(piece, look(link))
                piece = ""
            }
            for character in line {
                // Wrapping leaves out spaces, and nothing else.
                while index < text.endIndex, text[index] != character {
                    index = text.index(after: index)
                }
                let here = links.first { $0.range.contains(index) }
                if here != link {
                    finish()
                    link = here
                }
                piece.append(character)
                if index < text.endIndex { index = text.index(after: index) }
            }
            finish()
            return shown
        }
    }

    private func look(_ link: TextLink?) -> Look {
        guard let link else { return style }
        var look = style
        look.isUnderlined = true
        look.link = link.address
        return look
    }
}
