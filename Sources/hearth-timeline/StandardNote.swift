import Files
import ServiceCommand

/// What a person should know beside the output, on standard error.
enum StandardNote {
    static func print(_ text: String) { StandardError.print(Output.line(text)) }
}
