import ArgumentParser
import DatabaseServer
import Files
import Glibc

/// `hearth exec`: a command beside a server of its own.
struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command with a throw-away server that clients find by themselves.",
        discussion: """
            Examples:
              hearth exec -- npm test
              hearth exec --rules database.rules.json --project demo-app -- python -m pytest
              hearth exec --import fixtures -- ./run-tests.sh

            The server is a --dev one that keeps nothing on disk, on a free port, and reads no settings file. The \
            command finds FIREBASE_DATABASE_EMULATOR_HOST, FIREBASE_AUTH_EMULATOR_HOST, \
            FIREBASE_STORAGE_EMULATOR_HOST, STORAGE_EMULATOR_HOST, FIREBASE_EMULATOR_HUB, \
            GCLOUD_PROJECT and HEARTH_URL set. Its exit code is that of the command; 128 and the signal when one ended it; 127 when the command is not \
            found and 126 when it cannot be run.
            """,
    )

    @Option(help: "Rules of every database that has none of its own.")
    var rules: String?

    @Option(help: "Rules for files of every bucket.")
    var filesRules: String?

    @Option(help: .value("name[=rules]", "A database, with its rules file; may be repeated."))
    var database: [String] = []

    @Option(help: .value("name", "Database of requests that name none."))
    var defaultNs: String?

    @Option(help: .value("origin", "Origin whose pages may use it; may be repeated."))
    var allowOrigin: [String] = []

    @Option(help: "Project: GCLOUD_PROJECT of the command, and the hub's locator file.")
    var project: String?

    @Option(
        help: .value(
            "folder|[name=]file",
            "What a database begins with: a folder of an export, or a JSON file; may be repeated."
        )
    )
    var `import`: [String] = []

    @Option(help: .value("folder", "Export to a folder when the command has ended."))
    var exportOnExit: String?

    @Option(help: "Port; 0 lets the system choose.")
    var port = "0"

    @Flag(name: .shortAndLong, help: "Show what the server logs.")
    var verbose = false

    @Argument(parsing: .postTerminator, help: .value("command", "The command, after --."))
    var command: [String]

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("Write the command after --, as in: hearth exec -- npm test")
        }
    }

    func run() throws {
        let server: ThrowAwayServer
        do throws(ThrowAwayServer.Failure) {
            server = try ThrowAwayServer(flags)
        } catch {
            switch error {
            case .system(let error):
                StandardError.print("error: the server cannot be started: \(error.text)")
                throw ExitCode(1)
            case .didNotStart(let code): throw ExitCode(code == 0 ? 1 : code)
            }
        }
        let variables = variables(server.authority)
        let code = CommandBesideServer(command: command, variables: variables, server: server).run()
        guard code == 0 else { throw ExitCode(code) }
    }

    /// The flags of the server, but for those that every throw-away server has.
    private var flags: [String] {
        let level = verbose ? "info" : "error"
        let flags = ["--port=\(port)", "--drain-timeout=1s", "--log-level=\(level)"]
        var values = [
            ("rules", rules), ("files-rules", filesRules), ("default-ns", defaultNs),
            ("project", project),
        ]
        if project == nil, !standardProject.isEmpty {
            // SDKs of the command hold tokens against the project that they find.
            values.append(("accounts-audience", standardProject))
            values.append(("accounts-issuer", "https://securetoken.google.com/\(standardProject)"))
        }
        values.append(("export-on-exit", exportOnExit))
        values += database.map { ("database", $0) } + allowOrigin.map { ("allow-origin", $0) }
        values += `import`.map { ("import", $0) }
        return flags + values.compactMap { name, value in value.map { "--\(name)=\($0)" } }
    }

    /// Variables that are added to the command's environment.
    private func variables(_ authority: String) -> [String: String] {
        var variables = ProcessEnvironment.variablesForChildren()
        variables["FIREBASE_DATABASE_EMULATOR_HOST"] = authority
        variables["FIREBASE_AUTH_EMULATOR_HOST"] = authority
        variables["FIREBASE_STORAGE_EMULATOR_HOST"] = authority
        // Libraries of servers want a scheme here, and none above.
        variables["STORAGE_EMULATOR_HOST"] = "http://\(authority)"
        variables["FIREBASE_EMULATOR_HUB"] = authority
        variables[Setting.addressVariable] = "http://\(authority)"
        variables[Self.projectVariable] = project ?? standardProject
        return variables
    }

    private static let projectVariable = "GCLOUD_PROJECT"

    /// The project of a command that is given none.
    private var standardProject: String {
        ProcessEnvironment.variablesForChildren()[Self.projectVariable] ?? "demo-hearth"
    }
}

/// A command that runs while a server does.
///
/// It stays in our process group, so the terminal is its own, and keys that send a signal send it
/// to both of us. Signals that another process sends us are passed on.
private struct CommandBesideServer {
    let command: [String]
    let variables: [String: String]
    let server: ThrowAwayServer

    /// Passed on, not obeyed, while the command runs.
    private static let passedOn = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

    /// Runs the command to its end, then stops the server. Returns the exit code of `hearth exec`.
    func run() -> Int32 {
        var awaited = sigset_t()
        sigemptyset(&awaited)
        for number in Self.passedOn + [SIGCHLD] { sigaddset(&awaited, number) }
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &awaited, &before)
        var start = ChildProcess.Start(
            program: command[0],
            arguments: Array(command.dropFirst()),
            environment: variables,
        )
        start.blocked = before
        let code: Int32
        var serverCode: Int32?
        do throws(ErrorNumber) {
            code = wait(for: try ChildProcess(start), &awaited, &serverCode)
        } catch {
            StandardError.print("error: \(command[0]): \(error.text)")
            code = error.code == ENOENT ? 127 : 126
        }
        forgetPending(&awaited)
        // From here on a signal ends us, and the server with us.
        pthread_sigmask(SIG_SETMASK, &before, nil)
        if serverCode != nil {
            StandardError.print("error: the server ended before the command did")
        }
        let stopped = serverCode ?? server.stop()
        if serverCode == nil, stopped != 0 {
            StandardError.print("error: the server failed as it ended, with exit code \(stopped)")
        }
        return code == 0 && (stopped != 0 || serverCode != nil) ? 1 : code
    }

    /// Waits for the command; `serverCode` is set when the server ends before.
    private func wait(
        for process: ChildProcess,
        _ awaited: inout sigset_t,
        _ serverCode: inout Int32?
    ) -> Int32 {
        while true {
            var info = siginfo_t()
            let number = sigwaitinfo(&awaited, &info)
            if number == SIGCHLD {
                if serverCode == nil { serverCode = server.process.exitCode(waits: false) }
                if let code = process.exitCode(waits: false) { return code }
            } else if number > 0, info.si_code <= 0 {
                // A code above 0 says that the kernel sent it, for a key: the command has it too.
                process.signal(number)
            }
        }
    }

    /// Drops signals for the command that came too late for it.
    private func forgetPending(_ awaited: inout sigset_t) {
        var none = timespec(tv_sec: 0, tv_nsec: 0)
        while sigtimedwait(&awaited, nil, &none) > 0 {}
    }
}
