/// Why a command did not do what was asked, for people.
package struct CommandError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Equatable, Sendable {
        /// Refused or failed: exit code 1.
        case failed
        /// Asked for in a wrong way: exit code 2.
        case usage
        /// Nobody reads the output any more: exit code 1, and nothing to say.
        case outputClosed
    }

    package let kind: Kind

    /// What happened, where, and what to do.
    package let description: String

    package static func failed(_ description: String) -> CommandError {
        CommandError(kind: .failed, description: description)
    }

    package static func usage(_ description: String) -> CommandError {
        CommandError(kind: .usage, description: description)
    }

    static let outputClosed = CommandError(kind: .outputClosed, description: "")

    package var exitCode: Int32 { kind == .usage ? 2 : 1 }
}
