import DatabaseServer
import Glibc

/// A server in a process of its own that keeps nothing and ends with this one.
struct ThrowAwayServer {
    let process: ChildProcess
    /// `HOST:PORT`.
    let authority: String
    /// Open while the server is needed: it ends when its standard input closes, also when this process is killed.
    private let input: Int32

    enum Failure: Error {
        case system(ErrorNumber)
        /// It has printed the reason on standard error.
        case didNotStart(exitCode: Int32)
    }

    /// Starts the server and waits until it is ready.
    init(_ flags: [String]) throws(Failure) {
        let input: Pipe
        let output: Pipe
        do throws(ErrorNumber) {
            input = try Pipe()
            output = try Pipe()
            var start = ChildProcess.Start(
                program: "/proc/self/exe",
                arguments: ["serve", "--dev", "--memory", "--stop-at-eof"] + flags,
                environment: ThrowAwayServer.environment,
            )
            start.input = input.reading
            start.output = output.writing
            start.isApart = true
            process = try ChildProcess(start)
        } catch {
            throw .system(error)
        }
        close(input.reading)
        close(output.writing)
        self.input = input.writing
        let line = ThrowAwayServer.firstLine(output.reading)
        close(output.reading)
        guard let authority = ThrowAwayServer.authority(in: line) else {
            close(input.writing)
            throw .didNotStart(exitCode: process.exitCode(waits: true) ?? 1)
        }
        self.authority = authority
    }

    /// Lets the server end and waits for it; its exit code.
    func stop() -> Int32 {
        close(input)
        return process.exitCode(waits: true) ?? 0
    }

    /// This process's settings must not reach a server whose flags are complete.
    private static var environment: [String: String] {
        var variables = ProcessEnvironment.variablesForChildren().filter {
            !$0.key.hasPrefix(Setting.variablePrefix)
        }
        variables["HEARTH_CONFIG"] = ""
        return variables
    }

    /// Bytes up to a newline or the end; blocks.
    private static func firstLine(_ descriptor: Int32) -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != UInt8(ascii: "\n") else { break }
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// The address in `hearth ready http://127.0.0.1:9000 ...`.
    private static func authority(in line: String) -> String? {
        let words = line.split(separator: " ")
        guard words.count > 2, words.starts(with: ["hearth", "ready"]) else { return nil }
        let scheme = "http://"
        return words[2].hasPrefix(scheme) ? String(words[2].dropFirst(scheme.count)) : nil
    }
}
