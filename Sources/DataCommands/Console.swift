import Files
import Glibc

/// Words for the person who runs a command: all on standard error.
package struct Console: Sendable {
    /// Whether somebody looks at the words as they come.
    package let showsProgress: Bool

    /// Whether somebody can be asked.
    package let canAsk: Bool

    /// The process's own.
    package init() {
        showsProgress = isatty(STDERR_FILENO) == 1
        canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
    }

    /// Writes a line, control characters escaped; it is lost when nobody takes it.
    package func say(_ line: String) {
        StandardError.print(line)
    }

    /// Writes a line that only somebody who looks on cares for.
    package func mention(_ line: String) {
        if showsProgress { say(line) }
    }

    /// Replaces the terminal's last line.
    package func showLine(_ line: String) {
        put("\r\u{1B}[K" + line)
    }

    /// Asks before something is lost.
    ///
    /// - Throws: `CommandError` when the answer is no, or nobody is there to be asked.
    package func confirm(_ loss: String, isForced: Bool) throws(CommandError) {
        if isForced { return }
        guard canAsk else {
            throw .usage("\(loss), and nobody can be asked here: --force does it unasked")
        }
        put("\(TerminalText.shown(loss)). Are you sure? [y/N] ")
        let answer = readLine(strippingNewline: true)?.lowercased() ?? ""
        guard ["y", "yes"].contains(answer) else { throw .failed("not done") }
    }

    private func put(_ text: String) {
        StandardError.write(Array(text.utf8))
    }
}
