import ArgumentParser
import Commands
import Files
import Glibc

do throws(FileError) {
    try StandardStreams.fillGaps()
} catch {
    StandardError.print("error: \(error)")
    exit(1)
}
// A file that may not grow (ulimit -f) is an error to report. Caught, not ignored: child processes would inherit the
// latter. Sendable, since the signal comes on the thread that writes, not on this one.
signal(SIGXFSZ) { @Sendable _ in }

// Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
do {
    var command = try Hearth.parseAsRoot()
    try command.run()
} catch {
    let message = Hearth.fullMessage(for: error)
    switch Hearth.exitCode(for: error) {
    case .success:
        let help = CommandOutcome.done(message)
        do { try help.report() } catch { exit(1) }
        exit(0)
    case .validationFailure:
        StandardError.print(message + Hearth.suggestion(for: CommandLine.arguments.dropFirst()))
        exit(2)
    case let code:
        if !message.isEmpty { StandardError.print(message) }
        exit(code.rawValue)
    }
}
