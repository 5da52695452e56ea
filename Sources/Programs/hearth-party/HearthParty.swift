import ArgumentParser
import ServiceCommand

struct HearthParty: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth-party",
        abstract: "Give parties, invite friends, answer invitations and share photos.",
        discussion: """
            Only its owner changes a party. All else goes through inboxes: the person who is asked answers, and the \
            asker's program applies the answer. Each command applies the answers that wait before it does its own \
            work; `run` keeps applying them as they come.

            A PARTY is a key that `parties` shows, or the beginning of a description. A MESSAGE is a key or a number \
            that `inbox` shows.

            Examples:
              hearth-party sign-up ann@example.com --name Ann
              hearth-party befriend bob@example.com
              hearth-party create --description Midsummer --date 2027-06-21T19:00
              hearth-party inbox --profile bob
              hearth-party accept 1 --profile bob
              hearth-party photo add Midsummer lake.png
            """,
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(
                name: "Account:",
                subcommands: [SignUp.self, SignIn.self, SignOut.self, PictureCommand.self]
            ),
            CommandGroup(
                name: "Friends:",
                subcommands: [Friends.self, Befriend.self, Unfriend.self],
            ),
            CommandGroup(
                name: "Inbox:",
                subcommands: [ShowInbox.self, Accept.self, Refuse.self, Run.self],
            ),
            CommandGroup(
                name: "Parties:",
                subcommands: [
                    Parties.self, Create.self, Show.self, Change.self, Invite.self, Suggest.self,
                    Attend.self, Cancel.self, PhotoCommand.self,
                ],
            ),
        ],
    )
}
