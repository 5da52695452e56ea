import Glibc

/// What the terminal of the user can show.
package struct TerminalFeatures: Equatable, Sendable {
    /// Whether a screen can be drawn: standard input and output are one terminal that moves its cursor.
    package let canDraw: Bool
    /// Whether colours are wanted.
    package let hasColors: Bool
    /// Whether links are written (OSC 8): a terminal that knows none shows their text. The console of Linux shows the
    /// address too.
    package let hasLinks: Bool

    /// - Parameters:
    ///   - isTerminal: Whether input and output both are terminals.
    ///   - environment: `TERM`, where `dumb` is one that cannot draw, and `NO_COLOR`, which forbids colours
    ///     unless it is empty (no-color.org).
    package init(isTerminal: Bool, environment: [String: String]) {
        let name = environment["TERM"] ?? ""
        canDraw = isTerminal && !name.isEmpty && name != "dumb"
        hasLinks = canDraw && name != "linux"
        hasColors = canDraw && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Those of this process.
    package static var current: TerminalFeatures {
        var environment: [String: String] = [:]
        for name in ["TERM", "NO_COLOR"] {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        return TerminalFeatures(isTerminal: isTerminal, environment: environment)
    }
}
