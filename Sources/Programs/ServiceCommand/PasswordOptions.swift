package import ArgumentParser
import Files
import Foundation
import Glibc

/// Where a password comes from. Never the command line: lists of processes show that to all users.
package struct PasswordOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("password-file"),
        help: ArgumentHelp(
            "File whose first line is the password; '-' is standard input.",
            valueName: "file"
        ),
        completion: .file()
    )
    package var file: String?

    /// Bytes of a file with a password in it.
    private static let byteLimit = 16 * 1024

    package init() {}

    /// The password: from the file, else `$HEARTH_PASSWORD`, else typed without echo, else from standard input.
    ///
    /// - Parameter confirming: Whether it is a new one, which is typed twice.
    /// - Returns: The password, never empty.
    /// - Throws: `ProgramFault` or `FileError` when there is none.
    package func read(confirming: Bool) throws -> String {
        if let file { return try Self.firstLine(of: file) }
        let environment = ProcessInfo.processInfo.environment["HEARTH_PASSWORD"] ?? ""
        if !environment.isEmpty { return environment }
        guard isatty(STDIN_FILENO) == 1 else { return try Self.firstLine(of: "-") }
        let password = try HiddenLine.ask("Password: ")
        if confirming, try HiddenLine.ask("Once more: ") != password {
            throw ProgramFault("these are two passwords; nothing is done")
        }
        guard !password.isEmpty else { throw ProgramFault("no password; nothing is done") }
        return password
    }

    private static func firstLine(of path: String) throws -> String {
        let name = path == "-" ? "standard input" : path
        let bytes = try InputFile.read(path, byteLimit: byteLimit)
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty else {
            throw ProgramFault("\(name): its first line has no password")
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw ProgramFault("\(name): is not UTF-8 text")
        }
        return text
    }
}
