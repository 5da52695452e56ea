import Accounts
import IdentityToolkit
import JSONTree
import Logging
import Tokens
import Transport

/// Where service accounts ask for access tokens.
enum AccessTokenAddress {
    /// Below the address of the server.
    static func of(_ address: String) -> String { address + "/token" }

    /// What SDKs name as the audience of an assertion, whatever address they send it to.
    ///
    /// Some libraries send an assertion with these to Google itself, so only keys of earlier versions, whose files work in
    /// no other way, may use them. Source: google-auth for Python and Java; the older one is that of Node.
    static let usual: Set<String> = [
        "https://oauth2.googleapis.com/token", "https://accounts.google.com/o/oauth2/token",
    ]
}

/// Why a service account gets no access token. Source: RFC 6749 section 5.2.
enum AccessTokenRefusal: Error {
    case invalidRequest(String)
    case invalidGrant(String)
    case unsupportedGrantType(String)
    /// Seconds until it may be tried again.
    case slowDown(String, retryAfter: Int64)
    case unavailable(String)

    /// The key that signed is none of any service account.
    static let unknownKey = AccessTokenRefusal.invalidGrant(
        "The key is not known; it or its service account may be revoked. Make one with 'hearth service-account create'."
    )

    var answer: HTTPResponse {
        switch self {
        case .invalidRequest(let text): Self.answer(400, "invalid_request", text)
        case .invalidGrant(let text): Self.answer(400, "invalid_grant", text)
        case .unsupportedGrantType(let text): Self.answer(400, "unsupported_grant_type", text)
        case .slowDown(let text, let seconds):
            Self.answer(429, "slow_down", text).adding("Retry-After", "\(seconds)")
        case .unavailable(let text): Self.answer(503, "temporarily_unavailable", text)
        }
    }

    private static func answer(_ status: Int, _ code: String, _ text: String) -> HTTPResponse {
        let body: JSONValue = ["error": .string(code), "error_description": .string(text)]
        return HTTPResponse.secret(body.text, status: status)
    }
}

/// The request for an access token: a form with an assertion in it. Source: RFC 7523 section 2.1.
struct AccessTokenRequest {
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    let assertion: ServiceAccountToken

    init(_ body: [UInt8]) throws(AccessTokenRefusal) {
        guard body.count <= RouteTable.accountsBodyByteLimit else {
            let limit = RouteTable.accountsBodyByteLimit
            throw .invalidRequest("The body has more than \(limit) bytes.")
        }
        let grant: String?
        let text: String?
        do throws(IdentityError) {
            let fields = try RequestFields(form: body)
            grant = try fields.text("grantType")
            text = try fields.text("assertion")
        } catch {
            throw .invalidRequest("The body is no form.")
        }
        guard let grant else { throw .invalidRequest("'grant_type' is missing.") }
        guard grant == Self.grantType else {
            throw .unsupportedGrantType("'grant_type' must be \(Self.grantType).")
        }
        guard let text else { throw .invalidRequest("'assertion' is missing.") }
        do throws(TokenError) {
            assertion = try ServiceAccountToken(text)
        } catch {
            throw .invalidGrant(error.wireText)
        }
    }
}

/// `POST /token`: what a service account signed with its key becomes an access token of an administrator.
///
/// An assertion may come more than once while it lives, an hour at most, as with Google: it is good for nothing but this
/// address, and who can read it on its way can read the access token too.
extension IdentityService {
    func receiveAssertion(_ exchange: HTTPExchange) {
        do throws(AccessTokenRefusal) {
            let request = try AccessTokenRequest(exchange.takeBody())
            let audience = AccessTokenAddress.of(publicAddress(of: exchange.head))
            let audiences = AccessTokenAddress.usual.union([audience])
            verifyAssertion(request.assertion, audiences: audiences) { [self] outcome in
                guard exchange.isAnswerable else { return }
                do throws(AccessTokenRefusal) {
                    let (account, key) = try proven(outcome, audience: audience)
                    if !key.isOfOwnUniverse { warnOfOldKey(key, of: account) }
                    answerWithToken(for: account, key.id, exchange)
                } catch {
                    refuseAssertion(exchange, error)
                }
            }
        } catch {
            refuseAssertion(exchange, error)
        }
    }

    /// The service account that an assertion proves to be from, and the key that it is signed with.
    private func proven(
        _ outcome: Result<VerifiedToken, TokenError>?,
        audience: String
    ) throws(AccessTokenRefusal) -> (ServiceAccount, ServiceAccount.Key) {
        guard let outcome else { throw .unavailable("Too many tokens are being checked.") }
        let token: VerifiedToken
        do throws(TokenError) {
            token = try outcome.get()
        } catch {
            if case .unknownKey = error { throw .unknownKey }
            // The owner of the key learns what is wrong with the address; other clients do not get this far.
            let hint = error == .wrongAudience ? " 'aud' must be \(audience)." : ""
            throw .invalidGrant(error.wireText + hint)
        }
        // The accounts may have changed while the signature was checked.
        guard let email = token.serviceAccount, let keyID = token.serviceAccountKeyID,
            let account = accountDirectory.serviceAccount(email: email), !account.isDisabled,
            let key = account.key(keyID)
        else {
            throw .unknownKey
        }
        let named = token.claims.member("aud").string
        guard !key.isOfOwnUniverse || named.map(AccessTokenAddress.usual.contains) != true else {
            throw .invalidGrant(
                "This key is not taken with an audience of Google's: 'aud' must be \(audience). A library that knows "
                    + "'universe_domain' signs its access tokens itself (google-auth for Python: 2.19 or later)."
            )
        }
        return (account, key)
    }

    /// Says once for each key that its file is one with which Google's libraries call Google.
    private func warnOfOldKey(_ key: ServiceAccount.Key, of account: ServiceAccount) {
        guard accounts.noteOldKey(key.id) else { return }
        log.warning(
            """
            a key file of an earlier version is in use: Google's libraries may send access tokens of this server to Google; \
            make a new one (hearth service-account create \(account.name) --add-key), then revoke the old key \
            (hearth service-account revoke \(account.name) --key \(key.id))
            """,
            metadata: ["name": "\(account.name)", "key": "\(key.id)"]
        )
    }

    private func answerWithToken(
        for account: ServiceAccount,
        _ keyID: String,
        _ exchange: HTTPExchange
    ) {
        // The account may not be durable yet.
        commit(AccountChanges()) { [self] _ in
            mintAccessToken(serviceAccount: account, keyID: keyID) { [self] token in
                guard exchange.isAnswerable else { return }
                guard let token else {
                    let text = "No token can be signed now."
                    return answer(exchange, AccessTokenRefusal.unavailable(text).answer)
                }
                let body: JSONValue = [
                    "access_token": .string(token), "expires_in": .integer(AccessToken.lifetime),
                    "token_type": "Bearer",
                ]
                answer(exchange, .secret(body.text))
            }
        }
    }

    // MARK: - Refused

    /// Answers a request that is refused. A network with too many of them gets no reason until it has waited; in
    /// development it always gets one.
    ///
    /// This does not affect good assertions: a program that shares a network with an attacker goes on.
    private func refuseAssertion(_ exchange: HTTPExchange, _ refusal: AccessTokenRefusal) {
        guard configuration.mode == .production, case .invalidGrant = refusal else {
            return answer(exchange, refusal.answer)
        }
        let network = clientNetwork(of: exchange.head)
        guard let milliseconds = accounts.attempts.countBadAssertion(from: network) else {
            return answer(exchange, refusal.answer)
        }
        let seconds = (milliseconds + 999) / 1000
        let late = AccessTokenRefusal.slowDown(
            "Too many requests of this network were refused; wait for \(seconds) s.",
            retryAfter: seconds
        )
        answer(exchange, late.answer)
    }
}
