import Files

/// Rows in columns for people; the text of a cell cannot break its row, nor control the terminal.
enum TextTable {
    /// The lines of a table, each column as wide as its widest cell; columns of numbers are aligned right.
    static func text(
        _ head: [String],
        _ rows: [[String]],
        showsHead: Bool = true,
        rightAligned: Set<Int> = []
    ) -> String {
        let cells = rows.map { row in
            zip(row, head).map { text, name in
                // Marks have a column without a name, and may be empty.
                name.isEmpty && text.isEmpty ? "" : cell(text)
            }
        }
        let table = [head] + cells
        let widths = head.indices.map { column in
            table.map { $0[column].unicodeScalars.count }.max() ?? 0
        }
        let lines = table.dropFirst(showsHead ? 0 : 1).map { row in
            let cells = row.indices.map { column in
                let cell = row[column]
                let count = widths[column] - cell.unicodeScalars.count
                let space = String(repeating: " ", count: count)
                return rightAligned.contains(column) ? space + cell : cell + space
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
