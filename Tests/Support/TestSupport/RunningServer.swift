import Glibc

/// A Hearth server of its own process for one test: development mode, in memory, on a free port.
///
/// It is the program that the tests were built with, or the one that `HEARTH_BINARY` names. Killed when the
/// object goes.
package final class RunningServer {
    private let process: pid_t
    private var isRunning = true
    /// The port on 127.0.0.1.
    package let port: Int
    /// `http://127.0.0.1:PORT`.
    package var url: String { "http://127.0.0.1:\(port)" }
    /// For the server's files, if it has any; its log is in `log` there.
    package let folder: TemporaryFolder

    /// Starts a server and waits until it is ready.
    ///
    /// - Throws: `StartError` when there is no program, or it ends without its ready line.
    package init(arguments: [String] = ["--dev", "--memory"], port: Int = 0) throws {
        folder = try TemporaryFolder()
        let program = try Self.program()
        let log = try folder.file("log", "")
        let words = [program, "serve", "--port", "\(port)"] + arguments
        let (process, output) = try Self.start(program, words, log: log)
        self.process = process
        defer { close(output) }
        let line = Self.line(from: output)
        let place = line.split(separator: " ").first { $0.hasPrefix("http") }
        guard let digits = place?.split(separator: ":").last, let bound = Int(digits) else {
            Self.end(process, with: SIGKILL)
            throw StartError(text: "\(words) printed no ready line: \(line)")
        }
        self.port = bound
    }

    deinit { if isRunning { Self.end(process, with: SIGKILL) } }

    /// Ends the process as `kill` does and waits until it has drained, or at once as `kill -9` does.
    package func stop(atOnce: Bool = false) {
        guard isRunning else { return }
        isRunning = false
        Self.end(process, with: atOnce ? SIGKILL : SIGTERM)
    }

    private static func end(_ process: pid_t, with signal: Int32) {
        kill(process, signal)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    private static func start(
        _ program: String,
        _ words: [String],
        log: String,
    ) throws -> (pid_t, output: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw StartError(text: "no pipe: \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_APPEND, 0)
        // Signals that the runner holds back or ignores must reach the server.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGTERM)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        )
        var arguments = words.map { strdup($0) } + [nil]
        defer { for case let argument? in arguments { free(argument) } }
        var process: pid_t = 0
        let fault = posix_spawn(&process, program, &actions, &attributes, &arguments, environ)
        guard fault == 0 else {
            close(ends[0])
            throw StartError(text: "cannot start \(program): \(String(cString: strerror(fault)))")
        }
        return (process, ends[0])
    }

    /// What comes up to the end of a line or of the output.
    private static func line(from output: Int32) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func program() throws -> String {
        if let path = getenv("HEARTH_BINARY") { return String(cString: path) }
        let runner = CommandLine.arguments[0]
        let folder = runner.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let program = (folder + ["hearth"]).joined(separator: "/")
        guard access(program, X_OK) == 0 else {
            throw StartError(text: "no program \(program); name one with HEARTH_BINARY")
        }
        return program
    }

    package struct StartError: Error, CustomStringConvertible {
        let text: String
        package var description: String { text }
    }
}
