import IdentityToolkit
import JSONTree
import Logging
import Tokens
import Transport
import Webhooks

/// Has codes reach people: in development it keeps them to be read, else it has a webhook told.
@LoopActor
final class MessageDesk {
    /// Messages that can be read in development; the oldest go. Ours.
    nonisolated static let listLimit = 1_000
    /// Messages on their way to the webhook, waiting between two tries included; further ones are dropped. Ours.
    nonisolated static let pendingLimit = 1_000
    /// How long is waited after each try that failed and may be repeated; there is one try more than that. Ours.
    nonisolated static let pauses: [Duration] = [.milliseconds(500), .milliseconds(2_000)]

    /// What became of messages for the webhook.
    struct Counts {
        var delivered = 0
        var failed = 0
        /// There was no room for them.
        var dropped = 0
        var repeated = 0
    }

    private(set) var counts = Counts()
    /// Messages on their way now.
    private(set) var pendingCount = 0
    /// Those of development, the oldest first.
    private(set) var listed: [OneTimeMessage] = []
    private let isDevelopment: Bool
    private let webhook: Webhook?
    private let courier: WebhookCourier?
    private let log: Logger

    /// One that lists and tells what `configuration` says.
    ///
    /// - Throws: `WebhookSecretError`.
    nonisolated init(_ configuration: Configuration, _ log: Logger) throws {
        isDevelopment = configuration.mode == .development
        self.log = log
        let settings = configuration.accounts
        guard let url = settings.webhook, let path = settings.webhookSecretFile else {
            webhook = nil
            courier = nil
            return
        }
        webhook = Webhook(
            url: url,
            secret: try WebhookSecret.load(path),
            project: settings.policy.project
        )
        courier = WebhookCourier(limit: Self.pendingLimit)
    }

    func stop() { courier?.stop() }

    /// Has a message reach whom it is for.
    func deliver(_ message: OneTimeMessage) {
        if isDevelopment { list(message) }
        if message.isReturned { return }
        guard courier != nil else { return }
        guard pendingCount < Self.pendingLimit else {
            counts.dropped += 1
            log.error("the webhook is too slow: a code is dropped", metadata: kind(message))
            return
        }
        pendingCount += 1
        let id = "msg_" + Base64URL.encode(AccountDesk.randomBytes(20))
        send(message, id, tryNumber: 0)
    }

    // MARK: - Development

    private func list(_ message: OneTimeMessage) {
        if listed.count >= 2 * Self.listLimit { listed.removeFirst(listed.count - Self.listLimit) }
        listed.append(message)
        if !message.isReturned { log.notice("\(Self.words(message))") }
    }

    /// What a developer does with a message, code and all.
    private static func words(_ message: OneTimeMessage) -> String {
        let email = message.email ?? ""
        let link = message.link ?? ""
        switch message.kind {
        case "PHONE":
            return "The code for the phone \(message.phoneNumber ?? "") is \(message.code)."
        case "EMAIL_SIGNIN": return "Sign in as \(email) by this link: \(link)"
        case "PASSWORD_RESET":
            return "Reset the password of \(email) by this link: \(link)"
                + "&newPassword=NEW_PASSWORD_HERE"
        case "VERIFY_AND_CHANGE_EMAIL":
            return "Change \(email) to \(message.newEmail ?? "") by this link: \(link)"
        case "RECOVER_EMAIL": return "Change the address back to \(email) by this link: \(link)"
        default: return "Verify \(email) by this link: \(link)"
        }
    }

    // MARK: - The webhook

    private func send(_ message: OneTimeMessage, _ id: String, tryNumber: Int) {
        guard let webhook, let courier else { return }
        let isTaken = courier.post(
            WebhookCourier.Errand(
                request: {
                    webhook.request(message, id: id, time: Clock.now().milliseconds / 1000)
                },
                report: { outcome in
                    EventLoop.shared.enqueue { [self] in
                        ended(outcome, message, id, tryNumber: tryNumber)
                    }
                }
            )
        )
        if !isTaken {
            let reason = "the server is stopping"
            ended(.failed(isPassing: false, reason: reason), message, id, tryNumber: tryNumber)
        }
    }

    private func ended(
        _ outcome: WebhookCourier.Outcome,
        _ message: OneTimeMessage,
        _ id: String,
        tryNumber: Int
    ) {
        switch outcome {
        case .taken:
            pendingCount -= 1
            counts.delivered += 1
            log.info("the webhook has a code", metadata: kind(message))
        case .failed(true, _) where tryNumber < Self.pauses.count:
            counts.repeated += 1
            EventLoop.shared.after(Self.pauses[tryNumber]) { [self] in
                send(message, id, tryNumber: tryNumber + 1)
            }
        case .failed(_, let reason):
            pendingCount -= 1
            counts.failed += 1
            var metadata = kind(message)
            metadata["reason"] = "\(reason)"
            log.error("the webhook does not take a code: nobody gets it", metadata: metadata)
        }
    }

    /// All that may be said of a message in a log.
    private func kind(_ message: OneTimeMessage) -> Logger.Metadata {
        ["type": "\(message.kind)"]
    }
}
