import IdentityToolkit
import JSONTree
import Logging
import Tokens
import Transport
import Webhooks

/// Delivers codes: in development it keeps them to be read, else it sends them to the webhook.
@LoopActor
final class MessageService {
    /// Messages that can be read in development; the oldest go. Ours.
    nonisolated static let listLimit = 1_000
    /// Messages on their way to the webhook, waiting between two tries included; further ones are dropped. Ours.
    nonisolated static let pendingLimit = 1_000
    /// How long is waited after each try that failed and may be repeated; there is one try more than that. Ours.
    nonisolated static let pauses: [Duration] = [.milliseconds(500), .milliseconds(2_000)]

    /// What became of messages for the webhook; there was no room for those that were dropped.
    private var counts = (delivered: 0, failed: 0, dropped: 0, repeated: 0)
    /// Messages on their way now.
    private var pendingCount = 0
    /// Those of development, the oldest first.
    private(set) var listed: [OneTimeMessage] = []
    private let isDevelopment: Bool
    private let webhook: Webhook?
    private let sender: WebhookSender?
    private let log: Logger

    /// Makes the service that `configuration` asks for. Throws a `WebhookSecretError`.
    nonisolated init(_ configuration: Configuration, _ log: Logger) throws {
        isDevelopment = configuration.mode == .development
        self.log = log
        let settings = configuration.accounts
        guard let url = settings.webhook, let path = settings.webhookSecretFile else {
            webhook = nil
            sender = nil
            return
        }
        webhook = Webhook(
            url: url,
            secret: try WebhookSecret.load(path),
            project: settings.policy.project
        )
        sender = WebhookSender(limit: Self.pendingLimit)
    }

    func stop() { sender?.stop() }

    /// Adds what became of messages.
    func addMetrics(to metrics: inout Metrics) {
        for (outcome, count) in [
            ("delivered", counts.delivered), ("failed", counts.failed), ("dropped", counts.dropped),
        ] {
            metrics.counter(
                "hearth_webhook_messages_total",
                "Codes for the webhook, by what became of them.",
                count,
                [("outcome", outcome)]
            )
        }
        metrics.counter("hearth_webhook_retries_total", "Tries beyond the first.", counts.repeated)
        let pendingText = "Codes on their way to the webhook now."
        metrics.gauge("hearth_webhook_pending", pendingText, pendingCount)
    }

    /// Has a message reach whom it is for.
    func deliver(_ message: OneTimeMessage) {
        if isDevelopment { list(message) }
        if message.isReturned { return }
        guard sender != nil else { return }
        guard pendingCount < Self.pendingLimit else {
            counts.dropped += 1
            log.error("the webhook is too slow: a code is dropped", metadata: kind(message))
            return
        }
        pendingCount += 1
        let id = "msg_" + Base64.encode(Randomness.bytes(20), .url)
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
        guard let webhook, let sender else { return }
        let isTaken = sender.post(
            WebhookSender.Errand(
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
        _ outcome: WebhookSender.Outcome,
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
            log.error("the webhook does not take a code: it is lost", metadata: metadata)
        }
    }

    /// All that may be said of a message in a log.
    private func kind(_ message: OneTimeMessage) -> Logger.Metadata {
        ["type": "\(message.kind)"]
    }
}
