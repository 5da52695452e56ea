import Accounts
import IdentityToolkit
import Transport

/// One-time codes, as far as the server has to do with them.
extension IdentityService {
    /// Codes that are taken away in one tick: three writes each, under a millisecond together. As many removed accounts
    /// are forgotten, one write each.
    private static let expiredCodesPerTick = 100

    /// Takes away codes that expired a while ago, and what is kept of accounts that have been gone for a while.
    func removeExpiredCodes() {
        let (directory, now) = (accountDirectory, Clock.now())
        let limit = IdentityService.expiredCodesPerTick
        var changes = directory.removingExpiredCodes(now: now, limit: limit)
        changes.add(directory.forgettingRemovals(now: now, limit: limit))
        // What cannot be written now is still there at the next tick.
        if !changes.isEmpty { commit(changes) { _ in } }
    }

    /// Sends a page for people. Caches do not keep it, no page frames it, and links in it do not pass its address on.
    func respondPage(_ exchange: HTTPExchange, _ answer: IdentityAnswer, _ page: ActionPage) {
        var headers = HTTPResponse.headers(type: "text/html; charset=utf-8", cache: "no-store")
        headers += [
            ("Content-Security-Policy", ActionPage.contentSecurityPolicy),
            // Not 'no-referrer': with that, browsers send the page's own form without its origin.
            ("Referrer-Policy", "same-origin"), ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ]
        if let location = answer.location { headers.append(("Location", location)) }
        // No page of another origin has business with it: no headers that would let one see it.
        server.requests.send(
            HTTPResponse(status: answer.status, headers: headers, body: Array(page.html.utf8)),
            to: exchange
        )
    }
}
