import ArgumentParser
import ServiceCommand

struct HearthChat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth-chat",
        abstract: "Chat in the terminal: people, rooms, live messages.",
        discussion: """
            Without a subcommand it opens the chat; without a terminal it lists your chats. A THREAD is a username or \
            e-mail address, or the name of a room: ann, ann@example.com, #lunch.

            From nothing, with a server in another terminal (hearth serve --dev --samples):
              hearth-chat sign-up ann@example.com ann --name "Ann Lee"
              hearth-chat follow bea
              hearth-chat send bea "Hello, Bea"
              hearth-chat

            Two people on one machine: each has a profile.
              hearth-chat sign-up bea@example.com bea --profile bea
              hearth-chat --profile bea

            With HEARTH_LOG=debug in the environment, standard error shows what the connection does.
            """,
        subcommands: [
            OpenCommand.self,
            SignUp.self, SignIn.self, SignOut.self,
            ChatsCommand.self, ReadCommand.self, SendCommand.self, DeleteCommand.self,
            ReplyCommand.self, EditCommand.self, UnsendCommand.self,
            FlagCommand.self, UnflagCommand.self,
            MuteCommand.self, UnmuteCommand.self,
            RoomsCommand.self,
            FollowCommand.self, UnfollowCommand.self, FollowingCommand.self,
            BlockCommand.self, UnblockCommand.self, FindCommand.self,
            PictureCommand.self, PushCommand.self,
        ],
        defaultSubcommand: OpenCommand.self,
    )
}
