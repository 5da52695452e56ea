import ArgumentParser
import Chat
import ServiceCommand

struct FollowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Follow a person, which lets you start a chat with them.",
        discussion: """
            Examples:
              hearth-chat follow bea
              hearth-chat follow bea@example.com
            """,
    )

    @OptionGroup var other: PersonArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(other.person)
        try await naming("follow \(person.username)") {
            try await client.graph.follow(person.uid)
        }
        try Output.print("you follow \(Output.line(person.username))")
    }
}

struct UnfollowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "unfollow",
        abstract: "Follow a person no longer.",
        discussion: """
            Example:
              hearth-chat unfollow bea
            """,
    )

    @OptionGroup var other: PersonArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(other.person)
        try await client.graph.unfollow(person.uid)
        try Output.print("you follow \(Output.line(person.username)) no longer")
    }
}

struct FollowingCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "following",
        abstract: "List whom you follow, or with --followers who follows you.",
        discussion: """
            Examples:
              hearth-chat following
              hearth-chat following --followers
            """,
    )

    @Flag(help: "Who follows you.")
    var followers = false

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let listing =
            followers
            ? try await client.people.profiles(of: client.people.followers())
            : try await client.people.following()
        for person in listing.records { try Output.print(PersonArgument.line(person)) }
        for fault in listing.faults { Output.warn("left out: \(fault)") }
    }
}

struct BlockCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "Stop a person from writing to you and bringing you into rooms.",
        discussion: """
            Neither of you follows the other afterwards.

            Example:
              hearth-chat block mallory
            """,
    )

    @OptionGroup var other: PersonArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(other.person)
        try await client.blocks.block(person.uid)
        try Output.print("you block \(Output.line(person.username))")
    }
}

struct UnblockCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "unblock",
        abstract: "Block a person no longer.",
        discussion: """
            Example:
              hearth-chat unblock mallory
            """,
    )

    @OptionGroup var other: PersonArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(other.person)
        try await client.blocks.unblock(person.uid)
        try Output.print("you block \(Output.line(person.username)) no longer")
    }
}

struct FindCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Find people by the beginning of a name, an e-mail address or a phone number.",
        discussion: """
            A whole address finds the person who has signed up with it. The beginning of an address finds only those who have \
            asked for that, as a phone number does.

            Examples:
              hearth-chat find an
              hearth-chat find "ann lee"
              hearth-chat find ann@example.com
            """,
    )

    @Argument(help: "The beginning, or an address; of a number 5 digits or more.")
    var beginning: String

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let isNumber = beginning.allSatisfy { $0.isNumber || "+ -()/".contains($0) }
        let field: SearchField =
            beginning.contains("@") ? .email : isNumber ? .phone : .name
        let listing = try await client.search.find(beginning, in: field)
        for person in listing.records { try Output.print(PersonArgument.line(person)) }
        for fault in listing.faults { Output.warn("left out: \(fault)") }
        guard !listing.records.isEmpty else {
            throw ServiceError.notFound("person who is found by \(beginning)")
        }
    }
}

/// The person of a command.
struct PersonArgument: ParsableArguments {
    @Argument(help: "Username or e-mail address.")
    var person: String

    /// `ann  Ann Lee`.
    static func line(_ person: UserProfile) -> String {
        Output.line(fields: [person.username] + (person.name.map { [$0] } ?? []))
    }
}

/// Runs an operation; a refusal names it in the words that the user typed.
@discardableResult
func naming<Value>(_ purpose: String, _ operation: () async throws -> Value) async throws -> Value {
    do {
        return try await operation()
    } catch ServiceError.refused {
        throw ServiceError.refused(purpose)
    }
}
