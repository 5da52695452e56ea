/// A comment that silences warnings.
///
///     // hearth:allow null-equality, open-root    the rules of this line, or of the next when it stands alone
///     /* hearth:allow-file read-above-secret */   the whole text
///
/// What follows the codes is for people.
struct Allowance {
    /// A code of a comment, and where it stands, in scalars of the rules text.
    struct Entry {
        let word: String
        let offset: Int
        /// Nil when there is no such lint.
        let code: LintCode?
    }

    /// Where the comment begins.
    let offset: Int
    let entries: [Entry]
    /// The line whose rules it speaks of; nil for the whole text.
    let line: Int?

    /// Reads a comment; nil when it silences nothing and does not mean to.
    init?(_ comment: Range<Int>, in text: RulesText) {
        let scalars = text.scalars
        var end = comment.upperBound
        if scalars[comment].starts(with: "/*".unicodeScalars) { end -= 2 }
        var place = comment.lowerBound + 2
        func skipSpace() {
            while place < end, scalars[place].properties.isWhitespace { place += 1 }
        }
        func readWord() -> (word: String, offset: Int)? {
            let start = place
            while place < end, scalars[place] == "-" || scalars[place].properties.isAlphabetic {
                place += 1
            }
            if start == place { return nil }
            var word = String.UnicodeScalarView()
            word.append(contentsOf: scalars[start..<place])
            return (String(word), start)
        }
        skipSpace()
        let directive = Array("hearth:allow".unicodeScalars)
        guard scalars[place..<end].starts(with: directive) else { return nil }
        place += directive.count
        let isForFile = scalars[place..<end].starts(with: "-file".unicodeScalars)
        if isForFile { place += 5 }
        guard place == end || scalars[place].properties.isWhitespace else { return nil }
        var entries: [Entry] = []
        while true {
            skipSpace()
            guard let (word, start) = readWord() else { break }
            entries.append(Entry(word: word, offset: start, code: LintCode(rawValue: word)))
            skipSpace()
            if place == end || scalars[place] != "," { break }
            place += 1
        }
        offset = comment.lowerBound
        self.entries = entries
        line = isForFile ? nil : Allowance.line(of: comment, in: text)
    }

    /// The comment's own line when something stands before or behind it there, else the next line on which something stands
    /// that is no comment.
    private static func line(of comment: Range<Int>, in text: RulesText) -> Int {
        let scalars = text.scalars
        let own = text.position(of: comment.lowerBound)
        let isAlone = scalars[(comment.lowerBound - own.column + 1)..<comment.lowerBound]
            .allSatisfy(\.properties.isWhitespace)
        if !isAlone { return own.line }
        var place = comment.upperBound
        while place < scalars.count {
            let rest = scalars[place...]
            if rest.starts(with: "//".unicodeScalars) {
                place = rest.firstIndex { $0 == "\n" || $0 == "\r" } ?? scalars.count
            } else if rest.starts(with: "/*".unicodeScalars) {
                place += 2
                while place < scalars.count, !scalars[place...].starts(with: "*/".unicodeScalars) {
                    place += 1
                }
                place += 2
            } else if scalars[place].properties.isWhitespace {
                place += 1
            } else {
                break
            }
        }
        return text.position(of: min(place, scalars.count)).line
    }
}
