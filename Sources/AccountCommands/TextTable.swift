import Files

/// Rows in columns for people; what a cell holds cannot break its row, nor do more to a terminal than show.
enum TextTable {
    /// A table, each column as wide as its widest cell.
    ///
    /// - Parameters:
    ///   - head: The names of the columns.
    ///   - rows: As many cells each.
    ///   - showsHead: Whether the names are part of it.
    /// - Returns: Its lines, without a newline at the end.
    static func text(_ head: [String], _ rows: [[String]], showsHead: Bool = true) -> String {
        let cells = rows.map { row in
            zip(row, head).map { text, name in
                // Marks, which stand in a column without a name, are there or not.
                name.isEmpty && text.isEmpty ? "" : cell(text)
            }
        }
        let table = [head] + cells
        let widths = head.indices.map { column in
            table.map { $0[column].unicodeScalars.count }.max() ?? 0
        }
        let lines = table.dropFirst(showsHead ? 0 : 1).map { row in
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.unicodeScalars.count)
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
        return lines.joined(separator: "\n")
    }

    /// The text of a cell: on one line, a hyphen where there is nothing.
    private static func cell(_ text: String) -> String {
        if text.isEmpty { return "-" }
        let line = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\n": "\\n"
            case "\t": "\\t"
            default: String(scalar)
            }
        }
        return TerminalText.shown(line.joined())
    }
}
