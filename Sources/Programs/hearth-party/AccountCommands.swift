import ArgumentParser
import Party
import ServiceCommand

struct SignUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-up",
        abstract: "Make an account, and sign in to it.",
        discussion: """
            The password is typed unseen, or comes from --password-file, from $HEARTH_PASSWORD or from the first line \
            of standard input. If signing up was interrupted, sign up once more with the same password.

            Examples:
              hearth-party sign-up ann@example.com --name Ann
              hearth-party sign-up bob@example.com --name Bob --profile bob --password-file secret.txt
            """,
    )

    @Argument(help: "The account's address.")
    var email: String

    @Option(help: "What others see.")
    var name: String

    @Option(help: ArgumentHelp("Address of a picture that others see.", valueName: "url"))
    var picture: String?

    @OptionGroup
    var password: PasswordOptions

    @OptionGroup
    var connection: ConnectionOptions

    func run() async throws {
        let secret = try password.read(confirming: true)
        let (session, isNew) = try await connection.signUp(
            email: email,
            password: secret,
            database: PartySession.database,
        )
        try await session.closing { try await complete(PartySession(session), isNew: isNew) }
    }

    private func complete(_ party: PartySession, isNew: Bool) async throws {
        let address = party.session.email ?? email
        if !isNew, try await party.isSignedUp() {
            return try Output.print(
                "signed in as \(Output.line(address)); this account was signed up before"
            )
        }
        let profile = try await party.accounts.signUp(email: address, name: name, picture: picture)
        try Output.print("signed up as \(Output.line(profile.name)) <\(Output.line(address))>")
    }
}

struct Friends: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "List your friends.",
        discussion: """
            Examples:
              hearth-party friends
            """,
    )

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ party: PartySession) async throws {
        let friends = try await party.friends.friends().sorted {
            ($0.name, $0.uid) < ($1.name, $1.uid)
        }
        if friends.isEmpty { try Output.print("no friends yet") }
        for friend in friends { try Output.print(Output.line(friend.name)) }
    }
}

struct Befriend: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a person for friendship, or accept theirs.",
        discussion: """
            Examples:
              hearth-party befriend bob@example.com
            """,
    )

    @Argument(help: "Their address.")
    var email: String

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ party: PartySession) async throws {
        let person = try await party.person(email)
        let name = Output.line(person.name)
        switch try await party.friends.request(person.uid) {
        case .sent: try Output.print("asked \(name)")
        case .accepted: try Output.print("\(name) had asked you: you are friends now")
        }
    }
}

struct Unfriend: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "End a friendship.",
        discussion: """
            Examples:
              hearth-party unfriend bob@example.com
            """,
    )

    @Argument(help: "Their address.")
    var email: String

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ party: PartySession) async throws {
        let person = try await party.person(email)
        try await party.friends.unfriend(person.uid)
        try Output.print("you and \(Output.line(person.name)) are no longer friends")
    }
}
