/// A rules text as scalars, with the starts of its lines.
package struct RulesText: Sendable {
    /// The text, without a byte order mark.
    package let scalars: [Unicode.Scalar]

    /// Offsets of the first scalar of each line, ascending, starting with 0.
    private let lineStarts: [Int]

    /// Splits a text into its lines: they end at LF, CR LF or CR.
    package init(_ text: String) {
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
    package var lineCount: Int { lineStarts.count }

    /// The scalars as a string.
    package var string: String { String(scalars: scalars) }

    /// Line and column of a scalar, both from 1; O(log lines).
    package func position(of offset: Int) -> (line: Int, column: Int) {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, offset - lineStarts[low] + 1)
    }

    /// The offset of a line and a column, both from 1; that of the end behind it.
    package func offset(ofLine line: Int, column: Int) -> Int {
        guard lineStarts.indices.contains(line - 1) else { return scalars.count }
        return min(lineStarts[line - 1] + column - 1, scalars.count)
    }

    /// A line, counted from 1, without its end; empty where there is none.
    package func line(_ number: Int) -> ArraySlice<Unicode.Scalar> {
        guard lineStarts.indices.contains(number - 1) else { return [] }
        let rest = scalars[lineStarts[number - 1]...]
        return rest.prefix { $0 != "\n" && $0 != "\r" }
    }
}

/// The content of a JSON string with the location of each of its scalars in the file.
package struct QuotedText: Sendable {
    /// The scalars after JSON escapes are resolved.
    package let scalars: [Unicode.Scalar]

    /// For each scalar the offset in the rules text where it, or its escape, begins; one entry
    /// more for the closing quote.
    package let offsets: [Int]

    /// The content as text.
    var string: String { String(scalars: scalars) }

    /// Where the content begins in the rules text: just after the quote.
    var start: Int { offsets[0] }
}

extension QuotedText {
    /// The content of a JSON string; nil for any other text.
    package init?(json: String) {
        var reader = RulesFileReader(RulesText(json))
        do throws(LocatedFault) {
            guard case .string(let text) = try reader.readText() else { return nil }
            self = text
        } catch {
            return nil
        }
    }
}

extension String {
    /// The text of some scalars.
    package init(scalars: some Sequence<Unicode.Scalar>) {
        var view = UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
