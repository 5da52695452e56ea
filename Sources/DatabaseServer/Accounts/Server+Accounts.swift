import DatabaseCore
import JSONTree
import Tokens
import Transport

/// The accounts' own addresses.
extension Server {
    func receive(_ exchange: HTTPExchange, accounts route: AccountsRoute) {
        guard route.verbs.contains(exchange.head.method) else {
            answer(exchange, methodNotAllowed(.accounts(route)))
            return
        }
        switch route {
        case .publicKeys: answerPublicKeys(exchange)
        case .keys: asAdministrator(exchange) { [self] in answerKeys(exchange) }
        case .accessToken: receiveAssertion(exchange)
        case .serviceAccounts, .serviceAccount:
            asAdministrator(exchange) { [self] in receive(exchange, serviceAccounts: route) }
        case .realm: asAdministrator(exchange) { [self] in answerRealm(exchange) }
        }
    }

    /// Decides over a body by the head: it tells its length, and is no larger than any of these addresses takes.
    func judgeAccountsBody(_ head: RequestHead) -> Verdict {
        guard let byteCount = head.bodyByteCount else {
            return .refuse(RESTAnswer.error(411, "The request must tell the length of its body."))
        }
        guard byteCount <= AccountsRoute.bodyByteLimit else {
            let text = "The body has more than \(AccountsRoute.bodyByteLimit) bytes."
            return .refuse(RESTAnswer.error(413, text))
        }
        return .accept()
    }

    // MARK: - Keys

    /// The keys that ID tokens are checked with. Others may keep them for half of the time by which a key is published
    /// before it signs.
    private func answerPublicKeys(_ exchange: HTTPExchange) {
        let keys = accounts.keys
        var response = RESTAnswer.json(keys.published)
        if !keys.signing.entries.isEmpty {
            response.headers = [
                (name: "Content-Type", value: "application/json; charset=utf-8"),
                (name: "Cache-Control", value: "public, max-age=\(keys.signing.cacheTime)"),
            ]
        }
        answer(exchange, response)
    }

    private func answerKeys(_ exchange: HTTPExchange) {
        guard exchange.head.method == "POST" else {
            answer(exchange, RESTAnswer.json(keyList))
            return
        }
        beginNextSigningKey { [self] isMade in
            if isMade { log(deed("the signing key is replaced", exchange.head)) }
            guard exchange.isAnswerable else { return }
            answer(
                exchange,
                isMade
                    ? RESTAnswer.json(keyList)
                    : RESTAnswer.error(503, "No key can be made now; the server's log says why.")
            )
        }
    }

    /// The signing keys as `GET /.accounts/keys.json` has them, the oldest first.
    private var keyList: [UInt8] {
        let now = Clock.now().milliseconds / 1000
        let signing = accounts.keys.signing
        let entries = signing.entries.map { entry in
            var text = """
                {"kid":"\(entry.keyID)","state":"\(signing.state(of: entry, at: now).rawValue)",\
                "algorithm":"\(entry.publicKey.algorithm.rawValue)",\
                "created":"\(ISO8601.text(of: entry.createdAt * 1000))",\
                "signsFrom":"\(ISO8601.text(of: entry.signsFrom * 1000))"
                """
            if let end = signing.verifiesUntil(entry) {
                text += ",\"verifiesUntil\":\"\(ISO8601.text(of: end * 1000))\""
            }
            return text + "}"
        }
        return Array("{\"keys\":[\(entries.joined(separator: ","))]}".utf8)
    }
}
