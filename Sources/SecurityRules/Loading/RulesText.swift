/// A rules text as scalars, with the starts of its lines.
struct RulesText: Sendable {
    /// The text, without a byte order mark.
    let scalars: [Unicode.Scalar]

    /// Offsets of the first scalar of each line, ascending, starting with 0.
    private let lineStarts: [Int]

    init(_ text: String) {
        var scalars = Array(text.unicodeScalars)
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        var starts = [0]
        for (offset, scalar) in scalars.enumerated() {
            // CR LF is one end of line, at its LF.
            let isLoneReturn =
                scalar == "\r" && (offset + 1 == scalars.count || scalars[offset + 1] != "\n")
            if scalar == "\n" || isLoneReturn { starts.append(offset + 1) }
        }
        self.scalars = scalars
        lineStarts = starts
    }

    /// How many lines there are; a last one without characters counts.
    var lineCount: Int { lineStarts.count }

    /// The scalars as a string.
    var string: String {
        var string = String.UnicodeScalarView()
        string.append(contentsOf: scalars)
        return String(string)
    }

    /// Line and column of a scalar, both from 1; O(log lines).
    func position(of offset: Int) -> (line: Int, column: Int) {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, offset - lineStarts[low] + 1)
    }

    /// A line, counted from 1, without its end; empty where there is none.
    fileprivate func line(_ number: Int) -> ArraySlice<Unicode.Scalar> {
        guard lineStarts.indices.contains(number - 1) else { return [] }
        let rest = scalars[lineStarts[number - 1]...]
        return rest.prefix { $0 != "\n" && $0 != "\r" }
    }
}

/// The lines of a rules text as faults count them, to be shown beside them.
package struct RulesLines: Sendable {
    private let text: RulesText

    package init(_ text: String) {
        self.text = RulesText(text)
    }

    /// A line, counted from 1, without its end; empty where there is none.
    package subscript(number: Int) -> ArraySlice<Unicode.Scalar> { text.line(number) }
}

/// The content of a JSON string with the place of each of its scalars in the file.
struct QuotedText: Sendable {
    /// The scalars after JSON escapes are resolved.
    let scalars: [Unicode.Scalar]

    /// For each scalar the offset in the rules text where it, or its escape, begins; one entry
    /// more for the closing quote.
    let offsets: [Int]

    /// The content as text.
    var string: String {
        var string = String.UnicodeScalarView()
        string.append(contentsOf: scalars)
        return String(string)
    }

    /// Where the content begins in the rules text: just after the quote.
    var start: Int { offsets[0] }
}
