package import ArgumentParser
import Social

package struct SignUp: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sign-up",
        abstract: "Make an account with a username, and sign in.",
        discussion: """
            A username has 1 to 30 of A-Z a-z 0-9 _ - and is yours alone. If signing up was interrupted, the same command \
            again makes what is missing.

            Examples:
              \(ProgramName.current) sign-up ann@example.com ann
              \(ProgramName.current) sign-up ann@example.com ann --name "Ann Lee"
              echo "a long password" | \(ProgramName.current) sign-up bea@example.com bea --profile bea
            """,
    )

    @Argument(help: "The account's address.")
    package var email: String

    @Argument(help: "What others call you here.")
    package var username: String

    @Option(help: "Your name as people say it.")
    package var name: String?

    @OptionGroup package var password: PasswordOptions
    @OptionGroup package var connection: ConnectionOptions

    package init() {}

    package func run() async throws {
        // Before there is an account that would have no profile.
        try UserService.check(username: username, name: name)
        let secret = try password.read(confirming: true)
        let (session, _) = try await connection.signUp(
            email: email,
            password: secret,
            database: SocialMember.database,
        )
        do {
            let line = try await session.closing {
                let people = UserService(database: session.database, uid: session.uid)
                let known = try await people.show(forUID: session.uid)
                let me = try await people.create(
                    username: username,
                    name: name,
                    email: session.email
                )
                let words = known == nil ? "signed up as" : "signed in as"
                return "\(words) \(Output.line(me.username))"
            }
            try Output.print(line)
        } catch ServiceError.taken(let what) {
            throw ProgramFault(
                "\(what) is taken: the same command with another username goes on from here"
            )
        }
    }
}
