import ArgumentParser
package import Files
import Glibc

/// A command: its arguments, and the one function that does its work.
protocol Command: ParsableCommand {
    /// Does the work; `run` prints the outcome and ends the process with its exit code.
    ///
    /// - Throws: `CommandError`, whose text and exit code end the process instead.
    func outcome() throws(CommandError) -> CommandOutcome
}

extension Command {
    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let outcome: CommandOutcome
        do throws(CommandError) {
            outcome = try self.outcome()
        } catch {
            if !error.description.isEmpty { StandardError.print("error: \(error)") }
            throw ExitCode(error.exitCode)
        }
        try outcome.report()
    }
}

extension CommandOutcome {
    /// Done, with nothing left to print.
    static let silent = CommandOutcome.done("")

    /// Prints the outcome, and ends the process if the command failed or could not print it.
    package func report() throws {
        signal(SIGPIPE, SIG_IGN)
        var exitCode = exitCode
        do throws(FileError) {
            if !output.isEmpty { try StandardOutput.print(output) }
        } catch {
            // A reader that stops early, like head, has what it wants.
            if !error.isClosedPipe { StandardError.print("error: \(error)") }
            exitCode = max(exitCode, 1)
        }
        if !errors.isEmpty { StandardError.print(errors) }
        guard exitCode == 0 else { throw ExitCode(exitCode) }
    }
}

/// Refuses the number of an option that is out of its range.
func checkNumber(_ option: String, _ number: Int, in range: ClosedRange<Int>) throws {
    if range.contains(number) { return }
    let limits = "\(range.lowerBound) to \(range.upperBound)"
    throw ValidationError("\(option): must be a number from \(limits), not \(number)")
}

extension ArgumentHelp {
    /// The help of an option, and what its value is called there.
    static func value(_ name: String, _ text: String) -> ArgumentHelp {
        ArgumentHelp(text, valueName: name)
    }
}

extension Option {
    /// An option whose value has a name of its own in the help.
    init<T: ExpressibleByArgument>(
        name: NameSpecification = .long,
        value: String,
        help: String
    ) where Value == T? {
        self.init(name: name, help: .value(value, help))
    }
}

extension Option<String?> {
    /// An option that names a file.
    init(name: NameSpecification = .long, file help: String) {
        self.init(name: name, help: .value("file", help), completion: .file())
    }
}
