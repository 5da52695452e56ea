import ArgumentParser
import Files
import HearthAuth
import PushWorker
import ServiceCommand
import Webhooks

struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Call a webhook for messages that wait for people who are away.",
        discussion: """
            For operators. Runs until it is ended (SIGTERM, SIGINT), and finishes what is under way. It needs an account of \
            its own, which may see only who has unread messages:
              hearth-chat sign-up push@example.com push-worker --profile push
              hearth users claims push@example.com '{"pushWorker":true}'
              hearth-chat push --profile push --webhook https://push.example.com/hearth --secret-file secret

            A user who has been away for --after is notified of each direct chat and room with messages they have not seen: once, \
            until they come back or read it. Users are not notified of what they wrote themselves or have muted. A webhook is called \
            as Standard Webhooks says: POST, JSON, webhook-id, webhook-timestamp, webhook-signature. 429 and 5xx are tried \
            again for a day, other answers than 2xx are given up. The same message always has the same webhook-id; of a worker \
            that was killed, a request of unknown outcome is repeated with it. Run one worker for a database.
            """,
    )

    @Option(help: ArgumentHelp("Address that pushes are posted to.", valueName: "url"))
    var webhook: String

    @Option(
        name: .customLong("secret-file"),
        help: ArgumentHelp(
            "File of the secret that signs them: 24 to 256 bytes, or whsec_ and base64; only its owner may read it.",
            valueName: "file"
        ),
        completion: .file()
    )
    var secretFile: String

    @Option(
        help: ArgumentHelp(
            "How long a user has been away before they are notified: 90s, 10m, 2h, 1d.",
            valueName: "time"
        )
    )
    var after = Absence(.seconds(600), "10m")

    @Flag(help: "Push each message, and not only the first in a chat or room.")
    var each = false

    @Option(
        name: .customLong("webhook-ca-file"),
        help: ArgumentHelp(
            "PEM file of the authorities to trust for the webhook (default: the system's).",
            valueName: "file"
        ),
        completion: .file()
    )
    var webhookAuthorityFile: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let secret = try WebhookSecret.load(secretFile)
        let webhook = try PushWebhook(
            url: webhook,
            secret: secret,
            authorityFile: webhookAuthorityFile
        )
        var options = PushOptions()
        options.absence = after.duration
        options.pushesEach = each
        let session = try await session()
        StandardError.print(
            "pushing to \(webhook.shownURL) what waits for users away for \(after.text), as "
                + "\(session.email ?? session.uid) at \(session.server)"
        )
        let worker = PushWorker(database: session.database, webhook: webhook, options: options) {
            StandardError.print(Output.line($0))
        }
        try await session.closing {
            try await EndSignal.cancelling("stopping") { try await worker.run() }
        }
        StandardError.print("stopped")
    }

    /// A session with the operator's present permissions in its token: a stored token is up to an hour old.
    private func session() async throws -> Session {
        let session = try await connection.session(database: SocialMember.database)
        try await session.closing {
            _ = try await session.auth.currentUser?.getIDToken(forcingRefresh: true)
        }
        return try await connection.session(database: SocialMember.database)
    }
}

/// A duration as people write it: `90s`, `10m`, `2h`, `1d`.
struct Absence: ExpressibleByArgument, CustomStringConvertible {
    let duration: Duration
    let text: String

    var description: String { text }

    init(_ duration: Duration, _ text: String) {
        self.duration = duration
        self.text = text
    }

    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = argument.last, let seconds = units[unit],
            let count = Int(argument.dropLast()), (0...366 * 86_400 / seconds).contains(count)
        else { return nil }
        self.init(.seconds(count * seconds), argument)
    }
}
