import Files
import Glibc

/// Where a password comes from. Never the command line: lists of processes show that to all users.
enum PasswordSource: Equatable, Sendable {
    case none
    /// The first line of a file; `-` is standard input.
    case file(String)
    /// The user at the terminal types it unseen.
    case prompt

    /// Bytes of a file with a password in it.
    private static let byteLimit = 16 * 1024

    /// The password; nil for none.
    ///
    /// - Throws: `CommandError` when an announced password is missing.
    func read() throws(CommandError) -> String? {
        switch self {
        case .none: return nil
        case .file(let path):
            return try Self.firstLine(TextFile.bytes(path, byteLimit: Self.byteLimit), path)
        case .prompt: return try Self.ask()
        }
    }

    private static func firstLine(_ bytes: [UInt8], _ path: String) throws(CommandError) -> String {
        let name = path == "-" ? "standard input" : path
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else { throw .failed("\(name): its first line has no password") }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw .failed("\(name): is not UTF-8 text")
        }
        return text
    }

    /// Asks twice on the terminal, without echo.
    private static func ask() throws(CommandError) -> String {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw .usage(
                "no one can be asked for a password here; --password-file reads it from a file"
            )
        }
        let password = try hidden("Password: ")
        guard try hidden("Once more: ") == password else {
            throw .failed("these are two passwords; nothing is done")
        }
        guard !password.isEmpty else { throw .failed("no password; nothing is done") }
        return password
    }

    /// A line that is typed without echo.
    private static func hidden(_ question: String) throws(CommandError) -> String {
        var shown = termios()
        let isKnown = tcgetattr(STDIN_FILENO, &shown) == 0
        var dark = shown
        dark.c_lflag &= ~tcflag_t(ECHO)
        // Earlier input is kept: it may be the answer of a script.
        guard isKnown, tcsetattr(STDIN_FILENO, TCSADRAIN, &dark) == 0 else {
            throw .failed(
                "the terminal cannot hide a password; --password-file reads it from a file"
            )
        }
        defer {
            tcsetattr(STDIN_FILENO, TCSADRAIN, &shown)
            StandardError.write([UInt8(ascii: "\n")])
        }
        StandardError.write(Array(question.utf8))
        guard let line = readLine(strippingNewline: true) else {
            throw .failed("no password; nothing is done")
        }
        return line
    }
}
