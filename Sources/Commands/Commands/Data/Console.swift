import Files
import Glibc

/// Words for the person who runs a command: all on standard error.
struct Console: Sendable {
    /// Whether progress is shown.
    let showsProgress: Bool

    /// Whether the user can be asked.
    let canAsk: Bool

    /// The process's own.
    init() {
        showsProgress = isatty(STDERR_FILENO) == 1
        canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
    }

    /// Writes a line, control characters escaped; lost if standard error is closed.
    func say(_ line: String) {
        StandardError.print(line)
    }

    /// Writes a line that matters only on a terminal.
    func mention(_ line: String) {
        if showsProgress { say(line) }
    }

    /// Replaces the terminal's last line.
    func showLine(_ line: String) {
        put("\r\u{1B}[K" + line)
    }

    /// Asks before something is lost.
    ///
    /// - Throws: `CommandError` when the answer is no, or no user can be asked.
    func confirm(_ loss: String, isForced: Bool) throws(CommandError) {
        if isForced { return }
        guard canAsk else {
            throw .usage("\(loss), and no one can be asked here: --force does it without asking")
        }
        put("\(TerminalText.shown(loss)). Are you sure? [y/N] ")
        let answer = readLine(strippingNewline: true)?.lowercased() ?? ""
        guard ["y", "yes"].contains(answer) else { throw .failed("not done") }
    }

    private func put(_ text: String) {
        StandardError.write(Array(text.utf8))
    }
}
