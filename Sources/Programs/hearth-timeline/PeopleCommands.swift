import ArgumentParser
import ServiceCommand
import Timeline

struct FollowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Show what a person posts in your timeline.",
        discussion: """
            Examples:
              hearth-timeline follow bea
              hearth-timeline follow bea@example.com
            """,
    )

    @Argument(help: "A username or an e-mail address.")
    var user: String

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(user)
        do {
            try await client.follows.followUser(person.uid)
        } catch ServiceError.refused {
            throw ProgramFault("\(person.username) does not let you follow them")
        }
        try Output.print("following \(Output.line(person.username))")
    }
}

struct UnfollowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "unfollow",
        abstract: "Follow a person no longer; their posts leave your timeline.",
        discussion: """
            Examples:
              hearth-timeline unfollow bea
            """,
    )

    @Argument(help: "A username or an e-mail address.")
    var user: String

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(user)
        try await client.follows.unfollowUser(person.uid)
        try Output.print("no longer following \(Output.line(person.username))")
    }
}

struct FollowingCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "following",
        abstract: "List whom a person follows.",
        discussion: """
            Examples:
              hearth-timeline following
              hearth-timeline following bea
            """,
    )

    @Argument(help: "A username or an e-mail address (default: you).")
    var user: String?

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(user)
        try Shown.print(try await client.people.following(for: person.uid))
    }
}

struct FollowersCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "followers",
        abstract: "List who follows a person.",
        discussion: """
            Examples:
              hearth-timeline followers
              hearth-timeline followers bea
            """,
    )

    @Argument(help: "A username or an e-mail address (default: you).")
    var user: String?

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(user)
        let uids = try await client.people.followers(for: person.uid)
        try Shown.print(try await client.people.profiles(of: uids))
    }
}

struct UsersCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Find people by the beginning of their names.",
        discussion: """
            Examples:
              hearth-timeline users be
              hearth-timeline users "ann l"
            """,
    )

    @Argument(help: "The beginning of a name.")
    var beginning: String

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        try Shown.print(try await client.search.find(beginning, in: .name))
    }
}

extension Shown {
    /// A line for each, in the order of their usernames.
    fileprivate static func print(_ people: Listing<UserProfile>) throws {
        warn(people.faults)
        for person in people.records.sorted(by: { $0.username < $1.username }) {
            try Output.print(line(person))
        }
    }
}
