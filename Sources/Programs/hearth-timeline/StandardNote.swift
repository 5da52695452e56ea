import Files
import ServiceCommand

/// Notes for the user besides the output, on standard error.
enum StandardNote {
    static func print(_ text: String) { StandardError.print(Output.line(text)) }
}
