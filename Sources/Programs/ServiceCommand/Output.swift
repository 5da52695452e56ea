import Files
import Glibc

/// A program's standard output.
package enum Output {
    /// Writes a line; control characters in it are shown as escapes.
    ///
    /// Throws: `FileError`, `isClosedPipe` when the reader is gone.
    package static func print(_ line: String) throws { try StandardOutput.print(line) }

    /// Whether standard output is a terminal, not a program.
    package static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// Writes a line of fields, each without controls: two spaces between them for people, a tab for programs.
    ///
    /// Throws: as `print` does.
    package static func print(fields: [String]) throws {
        try print(line(fields: fields))
    }

    /// The fields as one line, as `print(fields:)` writes it.
    package static func line(fields: [String]) -> String {
        // A tab separates fields here: the fields themselves contain none.
        fields.map { line($0) }.joined(separator: isTerminal ? "  " : "\t")
    }

    /// A value after its name, of at most 8 characters: one of several lines about one thing.
    package static func line(_ name: String, _ value: String) -> String {
        guard isTerminal else { return line(fields: [name, value]) }
        return name + String(repeating: " ", count: max(1, 9 - name.count)) + line(value)
    }

    /// Foreign text for the middle of a line, without controls and line ends.
    package static func line(_ text: String) -> String {
        let flat = text.replacing("\r\n", with: " ").replacing("\n", with: " ")
            .replacing("\t", with: " ")
        return TerminalText.shown(flat)
    }

    /// Reports omitted data on standard error, one line each.
    package static func warn(_ text: String) { StandardError.print("warning: \(line(text))") }
}
