import Files
import Glibc

/// What a program says on standard output.
package enum Output {
    /// Writes a line; control characters in it are shown as escapes.
    ///
    /// Throws: `FileError`, `isClosedPipe` when the reader is gone.
    package static func print(_ line: String) throws { try StandardOutput.print(line) }

    /// Whether somebody reads it on a terminal, or a program does.
    package static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// Writes a line of fields, each without controls: two spaces between them for people, a tab for programs.
    ///
    /// Throws: as `print` does.
    package static func print(fields: [String]) throws {
        try print(line(fields: fields))
    }

    /// The fields as one line, as `print(fields:)` writes it.
    package static func line(fields: [String]) -> String {
        // A tab is no control of the line here: the fields themselves have none.
        fields.map { line($0) }.joined(separator: isTerminal ? "  " : "\t")
    }

    /// A value behind its name, of at most 8 letters: one of several lines about one thing.
    package static func line(_ name: String, _ value: String) -> String {
        guard isTerminal else { return line(fields: [name, value]) }
        return name + String(repeating: " ", count: max(1, 9 - name.count)) + line(value)
    }

    /// Text of others for the middle of a line: it has neither controls nor an end of its own.
    package static func line(_ text: String) -> String {
        let flat = text.replacing("\r\n", with: " ").replacing("\n", with: " ")
            .replacing("\t", with: " ")
        return TerminalText.shown(flat)
    }

    /// Says on standard error what was left out, once for each.
    package static func warn(_ text: String) { StandardError.print("warning: \(line(text))") }
}
