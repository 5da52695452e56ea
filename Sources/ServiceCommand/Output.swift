import Files

/// What a program says on standard output.
package enum Output {
    /// Writes a line; control characters in it are shown as escapes.
    ///
    /// Throws: `FileError`, `isClosedPipe` when the reader is gone.
    package static func print(_ line: String) throws { try StandardOutput.print(line) }

    /// Text of others for the middle of a line: it has neither controls nor an end of its own.
    package static func line(_ text: String) -> String {
        let flat = text.replacing("\r\n", with: " ").replacing("\n", with: " ")
            .replacing("\t", with: " ")
        return TerminalText.shown(flat)
    }

    /// Says on standard error what was left out, once for each.
    package static func warn(_ text: String) { StandardError.print("warning: \(line(text))") }
}
