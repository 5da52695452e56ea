import AccountCommands
import ArgumentParser
import DataCommands

/// `hearth keys ...`.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List and replace the keys that sign ID tokens.",
        discussion: """
            A server replaces them by itself, see --signing-key-lifetime.

            Examples:
              hearth keys list
              hearth keys rotate
            """,
        subcommands: [List.self, Rotate.self],
    )

    /// `hearth keys list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the keys that sign ID tokens, or did so and still count.",
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func run() throws {
            try report { () throws(CommandError) in
                try SigningKeys.list(server.database(), isJSON: json)
            }
        }
    }

    /// `hearth keys rotate`.
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Begin the next key; tokens that are out stay good until they expire.",
            discussion: """
                The next key is published at once, so that everybody who checks tokens can fetch it, and signs after \
                the overlap: one hour, or a tenth of --signing-key-lifetime if that is shorter.

                This is no answer to a leak: until they expire, tokens of the old key still count.
                """,
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func run() throws {
            try report { () throws(CommandError) in
                try SigningKeys.rotate(server.database(), isJSON: json)
            }
        }
    }
}
