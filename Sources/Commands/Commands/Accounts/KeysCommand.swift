import ArgumentParser
import Files
import HTTPClient
import JSONTree

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

    private static let address = "/.accounts/keys.json"

    struct List: Command {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the keys that sign ID tokens, and the earlier ones that still count.",
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            return try shown(service.answer(.get, KeysCommand.address), service, isJSON: json)
        }
    }

    struct Rotate: Command {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Begin the next key; tokens issued before stay good until they expire.",
            discussion: """
                The next key is published at once, so that all who check tokens can fetch it, and signs after \
                the overlap: one hour, or a tenth of --signing-key-lifetime if that is shorter.

                This does not help after a leak: until they expire, tokens of the old key still count.
                """,
        )

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let service = AdministeredServer(try server.database())
            return try shown(
                service.answer(.post, KeysCommand.address, json: []),
                service,
                isJSON: json
            )
        }
    }
}

/// The keys: a table, or the server's JSON.
private func shown(
    _ answer: [UInt8],
    _ service: AdministeredServer,
    isJSON: Bool
) throws(CommandError) -> CommandOutcome {
    if isJSON { return .done(String(decoding: answer, as: UTF8.self)) }
    let names = ["kid", "state", "algorithm", "created", "signsFrom", "verifiesUntil"]
    let rows = try service.tree(answer).member("keys").elements.map { key in
        names.map { key.member($0).string ?? "" }
    }
    if rows.isEmpty { return .done("\(service.database.origin) signs no tokens") }
    let head = ["key", "state", "algorithm", "created", "signs from", "checked until"]
    return .done(TextTable.text(head, rows))
}
