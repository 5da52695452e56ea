import ArgumentParser
import ServiceCommand
import Terminal

/// `hearth-chat open`, which is also `hearth-chat`.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open the chat on this terminal (the default).",
        discussion: """
            F1 shows what the keys do. Without a terminal, or on one that cannot move its cursor, it lists your chats.
            What was seen is kept on disk, so it opens without a connection too, and waits for one.

            Examples:
              hearth-chat
              hearth-chat open bea
              hearth-chat open --no-bell
              hearth-chat --profile bea
            """,
    )

    @Argument(help: "The thread to open at once.")
    var thread: String?

    @Flag(inversion: .prefixedNo, help: "Ring the terminal's bell when something new comes.")
    var bell = true

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let features = TerminalFeatures.current
        guard features.canDraw else {
            guard thread == nil else {
                throw ProgramFault("there is no terminal here: `hearth-chat read THREAD`")
            }
            return try await Client.run(connection) { try await ChatsCommand.list($0) }
        }
        try await Client.run(connection, isKept: true) { client in
            var first: ThreadChoice?
            if let thread { first = try await client.thread(thread) }
            try await LiveChat(client: client, hasBell: bell).run(features, opening: first)
        }
    }
}
