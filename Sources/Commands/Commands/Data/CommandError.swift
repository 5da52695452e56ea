/// Why a command failed, as text for people.
enum CommandError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Refused or failed: exit code 1.
    case failed(String)
    /// Asked for in a wrong way: exit code 2.
    case usage(String)
    /// The reader of the output is gone: exit code 1, without a message.
    case outputClosed

    /// The error, its location, and the remedy.
    var description: String {
        switch self {
        case .failed(let text), .usage(let text): text
        case .outputClosed: ""
        }
    }

    var exitCode: Int32 { if case .usage = self { 2 } else { 1 } }
}
