package import ArgumentParser
import Files
import Glibc
import HearthCore

/// The way in to a program that is a client of a service.
///
/// Its `main.swift` is one line, `await ServiceProgram.run(Root.self)`, whose `await` keeps the main queue running.
package enum ServiceProgram {
    /// Parses the command line, runs its command and ends the process.
    ///
    /// Exit codes: 0 done, 1 refused or failed, 2 wrong usage. An error is printed once, on standard error.
    package static func run<Root: AsyncParsableCommand>(_: Root.Type) async -> Never {
        do throws(FileError) {
            try StandardStreams.fillGaps()
        } catch {
            StandardError.print("error: \(error)")
            exit(1)
        }
        // A reader that is gone, as `head` soon is, is an error of the write, and no reason to be killed.
        signal(SIGPIPE, SIG_IGN)
        SDKLog.keep()
        do {
            var command = try Root.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            exit(0)
        } catch {
            end(Root.self, error)
        }
    }

    private static func end<Root: AsyncParsableCommand>(
        _: Root.Type,
        _ error: any Error
    ) -> Never {
        if let error = error as? FileError, error.isClosedPipe { exit(1) }
        switch Root.exitCode(for: error) {
        case .success:
            do throws(FileError) {
                try StandardOutput.print(Root.fullMessage(for: error))
            } catch {
                exit(1)
            }
            exit(0)
        case .validationFailure:
            StandardError.print(Root.fullMessage(for: error))
            exit(2)
        case let code:
            if !(error is ExitCode) { StandardError.print("error: \(ProgramFault(error))") }
            exit(code.rawValue)
        }
    }
}

/// The SDK's own log.
enum SDKLog {
    /// Omits warnings that programs report in their own words: a lost connection, a refusal.
    ///
    /// `HEARTH_LOG=debug` in the environment shows all of it on standard error.
    static func keep() {
        let isAsked = getenv("HEARTH_LOG").map { String(cString: $0) } == "debug"
        HearthConfiguration.shared.setLoggerLevel(isAsked ? .debug : .error)
    }
}
