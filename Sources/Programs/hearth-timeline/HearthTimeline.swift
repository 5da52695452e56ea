import ArgumentParser
import ServiceCommand

struct HearthTimeline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hearth-timeline",
        abstract: "Pictures of the people whom you follow, live.",
        discussion: """
            A server to try it on is `hearth serve --dev --samples`. Where output is not a terminal, fields are separated by \
            tabs, and times are in ISO 8601.

            Examples:
              hearth-timeline sign-up ann@example.com ann
              hearth-timeline post holiday.png
              hearth-timeline follow bea
              hearth-timeline timeline --follow

            Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
            """,
        subcommands: [
            SignUp.self, SignIn.self, SignOut.self,
            PostCommand.self, ShowCommand.self, DeleteCommand.self,
            TimelineCommand.self, PostsCommand.self,
            LikeCommand.self, UnlikeCommand.self,
            FollowCommand.self, UnfollowCommand.self, FollowingCommand.self,
            FollowersCommand.self, UsersCommand.self,
        ],
    )
}
