package import ArgumentParser

package struct SignIn: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Sign in, for the commands that follow too.",
        discussion: """
            The password is typed unseen, or comes from --password-file, from $HEARTH_PASSWORD or from the first line of \
            standard input: never from the command line, which all users of the machine can read.

            Examples:
              \(ProgramName.current) sign-in ann@example.com
              \(ProgramName.current) sign-in bea@example.com --profile bea --password-file secret.txt
            """,
    )

    @Argument(help: "The account's address.")
    package var email: String

    @OptionGroup
    package var password: PasswordOptions

    @OptionGroup
    package var connection: ConnectionOptions

    package init() {}

    package func run() async throws {
        let secret = try password.read(confirming: false)
        let address = try await connection.signIn(email: email, password: secret)
        try Output.print("signed in as \(Output.line(address))")
    }
}

package struct SignOut: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sign-out",
        abstract: "Sign out on this machine.",
        discussion: """
            Examples:
              \(ProgramName.current) sign-out
              \(ProgramName.current) sign-out --profile bea
            """,
    )

    @OptionGroup
    package var connection: ConnectionOptions

    package init() {}

    package func run() async throws {
        guard let address = try await connection.signOut() else {
            return try Output.print("no one is signed in")
        }
        try Output.print("signed out \(Output.line(address))")
    }
}
