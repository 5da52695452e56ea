import SecurityRules

/// A comment that silences warnings.
///
///     // hearth:allow null-equality, open-root    the rules of this line, or of the next when it stands alone
///     /* hearth:allow-file read-above-secret */   the whole text
///
/// What follows the codes is for people.
struct Allowance {
    /// A code of a comment, and its offset in scalars of the rules text.
    struct Entry {
        let word: String
        let offset: Int
        /// Nil for an unknown lint.
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
        var index = comment.lowerBound + 2
        func skipSpace() {
            while index < end, scalars[index].properties.isWhitespace { index += 1 }
        }
        func readWord() -> (word: String, offset: Int)? {
            let start = index
            while index < end, scalars[index] == "-" || scalars[index].properties.isAlphabetic {
                index += 1
            }
            if start == index { return nil }
            return (String(scalars: scalars[start..<index]), start)
        }
        skipSpace()
        let directive = Array("hearth:allow".unicodeScalars)
        guard scalars[index..<end].starts(with: directive) else { return nil }
        index += directive.count
        let isForFile = scalars[index..<end].starts(with: "-file".unicodeScalars)
        if isForFile { index += 5 }
        guard index == end || scalars[index].properties.isWhitespace else { return nil }
        var entries: [Entry] = []
        while true {
            skipSpace()
            guard let (word, start) = readWord() else { break }
            entries.append(Entry(word: word, offset: start, code: LintCode(rawValue: word)))
            skipSpace()
            if index == end || scalars[index] != "," { break }
            index += 1
        }
        offset = comment.lowerBound
        self.entries = entries
        line = isForFile ? nil : Allowance.line(of: comment, in: text)
    }

    /// The comment's own line if it has other text, else the next line with other text that is not a comment.
    private static func line(of comment: Range<Int>, in text: RulesText) -> Int {
        let scalars = text.scalars
        let own = text.position(of: comment.lowerBound)
        let isAlone = scalars[(comment.lowerBound - own.column + 1)..<comment.lowerBound]
            .allSatisfy(\.properties.isWhitespace)
        if !isAlone { return own.line }
        var index = comment.upperBound
        while index < scalars.count {
            let rest = scalars[index...]
            if rest.starts(with: "//".unicodeScalars) {
                index = rest.firstIndex { $0 == "\n" || $0 == "\r" } ?? scalars.count
            } else if rest.starts(with: "/*".unicodeScalars) {
                index += 2
                while index < scalars.count, !scalars[index...].starts(with: "*/".unicodeScalars) {
                    index += 1
                }
                index += 2
            } else if scalars[index].properties.isWhitespace {
                index += 1
            } else {
                break
            }
        }
        return text.position(of: min(index, scalars.count)).line
    }
}
