import Accounts
import IdentityToolkit
import Transport

/// One-time codes, as far as the server has to do with them.
extension Server {
    /// Codes that are taken away in one turn: three writes each, under a millisecond together. As many removed accounts
    /// are forgotten, one write each.
    private static let expiredCodesPerTick = 100

    /// Takes away codes that expired a while ago, and what is kept of accounts that have been gone for a while.
    func removeExpiredCodes() {
        let (directory, now) = (accountDirectory, Clock.now())
        let limit = Server.expiredCodesPerTick
        var changes = directory.removingExpiredCodes(now: now, limit: limit)
        changes.add(directory.forgettingRemovals(now: now, limit: limit))
        // What cannot be written now is still there at the next tick.
        if !changes.isEmpty { commit(changes) { _ in } }
    }

    /// Sends a page for people, which nobody keeps, frames or learns the address of.
    func respond(_ exchange: HTTPExchange, _ answer: IdentityAnswer, _ page: ActionPage) {
        var headers = [
            (name: "Content-Type", value: "text/html; charset=utf-8"),
            (name: "Cache-Control", value: "no-store"),
            (name: "Content-Security-Policy", value: ActionPage.contentSecurityPolicy),
            // Not 'no-referrer': with that, browsers send the page's own form without its origin.
            (name: "Referrer-Policy", value: "same-origin"),
            (name: "X-Content-Type-Options", value: "nosniff"),
            (name: "X-Frame-Options", value: "DENY"),
            (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
        ]
        if let location = answer.location {
            headers.append((name: "Location", value: location))
        }
        // No page of another origin has business with it: no headers that would let one see it.
        send(
            HTTPResponse(
                status: answer.status,
                headers: headers,
                body: Array(page.html.utf8)
            ),
            to: exchange
        )
    }

    /// Adds what became of codes for the webhook.
    func addMessages(to metrics: Metrics) {
        let counts = accounts.messages.counts
        for (outcome, count) in [
            ("delivered", counts.delivered), ("failed", counts.failed),
            ("dropped", counts.dropped),
        ] {
            metrics.counter(
                "hearth_webhook_messages_total",
                "Codes for the webhook, by what became of them.",
                [("outcome", outcome)]
            ) { Double(count) }
        }
        metrics.counter("hearth_webhook_retries_total", "Tries beyond the first.") {
            Double(counts.repeated)
        }
        metrics.gauge("hearth_webhook_pending", "Codes on their way to the webhook now.") {
            Double(self.accounts.messages.pendingCount)
        }
        metrics.gauge("hearth_one_time_codes", "One-time codes kept now.") {
            Double(self.accountDirectory.codeCount)
        }
    }
}
