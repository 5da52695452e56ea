/// The rows of a CSV file as it is read (RFC 4180): cells with commas, quotes and line breaks are quoted.
///
/// Takes the text in parts, cut anywhere, and keeps one row of it.
struct UserRows {
    struct Row: Equatable {
        /// Its first line, from 1.
        let line: Int
        let cells: [String]

        /// For people.
        var location: String { "line \(line)" }
    }

    private var line = 1
    private var rowLine = 1
    private var cells: [String] = []
    private var cell: [UInt8] = []
    private var byteCount = 0
    private var isQuoted = false
    /// After a quote within quotes: another quote is an escaped one, anything else ends the field.
    private var isAfterQuote = false

    /// Takes the next bytes; returns the rows that end in them. Rows without any text are passed over.
    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(UserFileError) -> [Row] {
        var rows: [Row] = []
        for byte in bytes {
            byteCount += 1
            guard byteCount <= UserFileLimits.recordByteCount else {
                throw .tooLong(line: rowLine)
            }
            if isQuoted, !isAfterQuote {
                if byte == UInt8(ascii: "\"") { isAfterQuote = true } else { cell.append(byte) }
            } else if byte == UInt8(ascii: "\"") {
                if isAfterQuote {
                    cell.append(byte)
                } else if cell.isEmpty {
                    isQuoted = true
                } else {
                    throw .form(line: line, "a quote stands within a cell that is not quoted")
                }
                isAfterQuote = false
            } else if byte == UInt8(ascii: ",") {
                endCell()
            } else if byte == UInt8(ascii: "\n") {
                endRow(&rows)
            } else if byte != UInt8(ascii: "\r") {
                guard !isAfterQuote else {
                    throw .form(line: line, "text follows the quotes of a cell")
                }
                cell.append(byte)
            }
            if byte == UInt8(ascii: "\n") {
                line += 1
                if !isQuoted { rowLine = line }
            }
        }
        return rows
    }

    /// The last row, which may lack its line break.
    mutating func finish() throws(UserFileError) -> [Row] {
        if isQuoted, !isAfterQuote { throw .cutShort(line: rowLine) }
        var rows: [Row] = []
        endRow(&rows)
        return rows
    }

    private mutating func endCell() {
        cells.append(String(decoding: cell, as: UTF8.self))
        cell.removeAll(keepingCapacity: true)
        isQuoted = false
        isAfterQuote = false
    }

    private mutating func endRow(_ rows: inout [Row]) {
        endCell()
        if cells.contains(where: { !$0.isEmpty }) { rows.append(Row(line: rowLine, cells: cells)) }
        cells = []
        byteCount = 0
    }
}
