import DatabaseCore
import JSONTree
import Tokens
import Transport

/// The accounts' own addresses.
extension IdentityService {
    /// The keys that ID tokens are checked with. Others may keep them for half of the time by which a key is published
    /// before it signs.
    func answerPublicKeys(_ exchange: HTTPExchange) {
        let keys = accounts.keys
        var response = HTTPResponse.json(keys.published)
        if !keys.signing.entries.isEmpty {
            let cache = "public, max-age=\(keys.signing.cacheTime)"
            let type = "application/json; charset=utf-8"
            response.headers = HTTPResponse.headers(type: type, cache: cache)
        }
        answer(exchange, response)
    }

    func answerKeys(_ exchange: HTTPExchange) {
        guard exchange.head.method == "POST" else {
            return answer(exchange, .json(of: keyList))
        }
        beginNextSigningKey { [self] isMade in
            if isMade { log(deed("the signing key is replaced", exchange), on: exchange) }
            answer(
                exchange,
                isMade
                    ? .json(of: keyList)
                    : .error(503, "No key can be made now; the server's log says why.")
            )
        }
    }

    /// The signing keys as `GET /.accounts/keys.json` has them, the oldest first.
    private var keyList: JSONValue {
        let now = Clock.now().milliseconds / 1000
        let signing = accounts.keys.signing
        func time(_ seconds: Int64) -> JSONValue { .string(ISO8601.text(of: seconds * 1000)) }
        let entries = signing.entries.map { entry -> JSONValue in
            [
                "kid": .string(entry.keyID),
                "state": .string(signing.state(of: entry, at: now).rawValue),
                "algorithm": .string(entry.publicKey.algorithm.rawValue),
                "created": time(entry.createdAt), "signsFrom": time(entry.signsFrom),
                "verifiesUntil": signing.verifiesUntil(entry).map(time),
            ]
        }
        return ["keys": .list(entries)]
    }
}
