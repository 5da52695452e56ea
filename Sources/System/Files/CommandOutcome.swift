/// The output of a command that needs no server.
package struct CommandOutcome: Sendable, Equatable {
    /// For standard output; no newline at its end.
    package var output: String
    /// For standard error; no newline at its end.
    package var errors: String
    package var exitCode: Int32

    /// Sets the output and the exit code.
    package init(output: String = "", errors: String = "", exitCode: Int32) {
        self.output = output
        self.errors = errors
        self.exitCode = exitCode
    }

    /// Done: exit code 0.
    package static func done(_ output: String, errors: String = "") -> CommandOutcome {
        CommandOutcome(output: output, errors: errors, exitCode: 0)
    }

    /// Refused or failed: exit code 1.
    package static func failed(_ errors: String, output: String = "") -> CommandOutcome {
        CommandOutcome(output: output, errors: errors, exitCode: 1)
    }
}
