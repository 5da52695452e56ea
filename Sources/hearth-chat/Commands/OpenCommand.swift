import ArgumentParser
import ServiceCommand
import Terminal

/// `hearth-chat open`, which is also `hearth-chat`.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open the chat on this terminal (the default).",
        discussion: """
            F1 tells what the keys do. Without a terminal, or on one that cannot move its cursor, it lists your chats.

            Examples:
              hearth-chat
              hearth-chat open bea
              hearth-chat --profile bea
            """,
    )

    @Argument(help: "The thread to open at once.")
    var thread: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        try await Client.run(connection) { client in
            let features = TerminalFeatures.current
            guard features.canDraw else {
                guard thread == nil else {
                    throw ProgramFault("there is no terminal here: `hearth-chat read THREAD`")
                }
                return try await ChatsCommand.list(client)
            }
            let notices = await client.mendRooms()
            var first: ThreadChoice?
            if let thread { first = try await client.thread(thread) }
            try await LiveChat(client: client).run(features, opening: first, saying: notices)
        }
    }
}
