import ArgumentParser

/// Who may have an account, and how they sign in.
struct AccountOptions: ParsableArguments {
    @Option(help: "The project of accounts and their tokens (default: hearth).")
    var project: String?

    @Option(
        help: .value(
            "method",
            "A way to sign in: password, anonymous, custom, email-link or phone; may be repeated (default: password and custom; with --dev all)."
        )
    )
    var signIn: [String] = []

    @Option(help: "Who may make accounts: open for all, or admin (default: open).")
    var signUp: String?

    @Flag(
        inversion: .prefixedNo,
        help:
            "Answer as if there were an account whether or not there is (default: on; with --dev off)."
    )
    var emailGuard: Bool?

    @Option(help: "Characters that a new password must have (default: 6).")
    var passwordLength: String?

    @Option(
        help: .value(
            "kind",
            "What a new password must have in it: lowercase, uppercase, digit or symbol; may be repeated."
        )
    )
    var passwordRequires: [String] = []

    @Option(help: "Memory that the hash of a password fills (default: 64MiB).")
    var passwordMemory: String?

    @Option(help: "Times that it goes through this memory (default: 3).")
    var passwordPasses: String?

    @Option(help: "A port of its own for accounts, as for an emulator; 0 lets the system choose.")
    var accountsPort: String?

    @Option(help: "The 'iss' of ID tokens (default: https://securetoken.google.com/PROJECT).")
    var accountsIssuer: String?

    @Option(help: "The 'aud' of ID tokens (default: the project).")
    var accountsAudience: String?

    @Option(help: "Address that receives the codes which users need, by POST.")
    var accountsWebhook: String?

    @Option(help: "File of the secret that signs what the webhook receives.")
    var accountsWebhookSecretFile: String?

    @Option(
        name: .customLong("public-url"),
        help:
            "The address that clients know, such as https://db.example.com (default: that of each request)."
    )
    var publicURL: String?

    @Option(help: "How long a key signs ID tokens before the next one does (default: 2160h).")
    var signingKeyLifetime: String?

    @Option(
        help: .value(
            "address[/bits]",
            "Address of a proxy whose word about clients' addresses counts; may be repeated."
        )
    )
    var trustedProxy: [String] = []
}
