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
struct AccessTokenRefusal: Error, Equatable {
    enum Code: String {
        case invalidRequest = "invalid_request"
        case invalidGrant = "invalid_grant"
        case unsupportedGrantType = "unsupported_grant_type"
        case slowDown = "slow_down"
        case unavailable = "temporarily_unavailable"
    }

    let code: Code
    let text: String
    /// Seconds until it may be tried again.
    var retryAfter: Int64?

    init(_ code: Code, _ text: String) {
        self.code = code
        self.text = text
    }

    /// The key that signed is none of any service account.
    static let unknownKey = AccessTokenRefusal(
        .invalidGrant,
        "The key is not known; it or its service account may be revoked. Make one with 'hearth service-account create'."
    )

    var status: Int {
        switch code {
        case .invalidRequest, .invalidGrant, .unsupportedGrantType: 400
        case .slowDown: 429
        case .unavailable: 503
        }
    }

    var answer: HTTPResponse {
        var body = JSONMembers()
        body.add("error", code.rawValue)
        body.add("error_description", text)
        var response = RESTAnswer.secret(body.value.text, status: status)
        if let retryAfter {
            response.headers.append((name: "Retry-After", value: "\(retryAfter)"))
        }
        return response
    }
}

/// The request for an access token: a form with an assertion in it. Source: RFC 7523 section 2.1.
struct AccessTokenRequest {
    static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    let assertion: ServiceAccountToken

    init(_ body: [UInt8]) throws(AccessTokenRefusal) {
        guard body.count <= AccountsRoute.bodyByteLimit else {
            throw AccessTokenRefusal(
                .invalidRequest,
                "The body has more than \(AccountsRoute.bodyByteLimit) bytes."
            )
        }
        let grant: String?
        let text: String?
        do throws(IdentityError) {
            let fields = try RequestFields(form: body)
            grant = try fields.text("grantType")
            text = try fields.text("assertion")
        } catch {
            throw AccessTokenRefusal(.invalidRequest, "The body is no form.")
        }
        guard let grant else {
            throw AccessTokenRefusal(.invalidRequest, "'grant_type' is missing.")
        }
        guard grant == Self.grantType else {
            throw AccessTokenRefusal(
                .unsupportedGrantType,
                "'grant_type' must be \(Self.grantType)."
            )
        }
        guard let text else {
            throw AccessTokenRefusal(.invalidRequest, "'assertion' is missing.")
        }
        do throws(TokenError) {
            assertion = try ServiceAccountToken(text)
        } catch {
            throw AccessTokenRefusal(.invalidGrant, error.wireText)
        }
    }
}

/// `POST /token`: what a service account signed with its key becomes an access token of an administrator.
///
/// An assertion may come more than once while it lives, an hour at most, as with Google: it is good for nothing but this
/// address, and who can read it on its way can read the access token too.
extension Server {
    func receiveAssertion(_ exchange: HTTPExchange) {
        do throws(AccessTokenRefusal) {
            let request = try AccessTokenRequest(exchange.takeBody())
            let audience = AccessTokenAddress.of(publicAddress(of: exchange.head))
            let audiences = AccessTokenAddress.usual.union([audience])
            verify(request.assertion, audiences: audiences) { [self] outcome in
                guard exchange.isAnswerable else { return }
                do throws(AccessTokenRefusal) {
                    let (account, key) = try proven(outcome, audience: audience)
                    if !key.isOfOwnUniverse { warnOfOldKey(key, of: account) }
                    answer(exchange, withTokenFor: account, key.id)
                } catch {
                    refuse(exchange, error)
                }
            }
        } catch {
            refuse(exchange, error)
        }
    }

    /// The service account that an assertion proves to be from, and the key that it is signed with.
    private func proven(
        _ outcome: Result<VerifiedToken, TokenError>?,
        audience: String
    ) throws(AccessTokenRefusal) -> (ServiceAccount, ServiceAccount.Key) {
        guard let outcome else {
            throw AccessTokenRefusal(.unavailable, "Too many tokens are being checked.")
        }
        let token: VerifiedToken
        do throws(TokenError) {
            token = try outcome.get()
        } catch {
            if case .unknownKey = error { throw .unknownKey }
            // Whoever has the key shall learn what is wrong with the address; nobody else gets so far.
            let hint = error == .wrongAudience ? " 'aud' must be \(audience)." : ""
            throw AccessTokenRefusal(.invalidGrant, error.wireText + hint)
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
            throw AccessTokenRefusal(
                .invalidGrant,
                "This key is not taken with an audience of Google's: 'aud' must be \(audience). A library that knows "
                    + "'universe_domain' signs its access tokens itself (google-auth for Python: 2.19 or later)."
            )
        }
        return (account, key)
    }

    /// Says once for each key that its file is one with which Google's libraries call Google.
    private func warnOfOldKey(_ key: ServiceAccount.Key, of account: ServiceAccount) {
        guard accounts.oldKeysUsed.insert(key.id).inserted else { return }
        log.warning(
            """
            a key file of an earlier version is in use: Google's libraries may send access tokens of this server to Google; \
            make a new one (hearth service-account create \(account.name) --add-key), then revoke the old key \
            (hearth service-account revoke \(account.name) --key \(key.id))
            """,
            metadata: ["name": "\(account.name)", "key": "\(key.id)"]
        )
    }

    private func answer(
        _ exchange: HTTPExchange,
        withTokenFor account: ServiceAccount,
        _ keyID: String
    ) {
        // The account may not be durable yet.
        commit(AccountChanges()) { [self] _ in
            mintAccessToken(serviceAccount: account, keyID: keyID) { [self] token in
                guard exchange.isAnswerable else { return }
                guard let token else {
                    let text = "No token can be signed now."
                    answer(exchange, AccessTokenRefusal(.unavailable, text).answer)
                    return
                }
                var body = JSONMembers()
                body.add("access_token", token)
                body.add("expires_in", .integer(AccessToken.lifetime))
                body.add("token_type", "Bearer")
                answer(exchange, RESTAnswer.secret(body.value.text))
            }
        }
    }

    // MARK: - Refused

    /// Answers a request that is refused. A network of which too many were hears no more of why until it has waited; in
    /// development it always does.
    ///
    /// A good assertion is never in the way of that: whoever shares a network with an attacker goes on.
    private func refuse(_ exchange: HTTPExchange, _ refusal: AccessTokenRefusal) {
        guard configuration.mode == .production, refusal.code == .invalidGrant else {
            answer(exchange, refusal.answer)
            return
        }
        let address = clientAddress(of: exchange.head)
        let network = ClientNetwork(AddressRange(address)?.bytes, text: address)
        let now = Int64(Clock.monotonicNanoseconds() / 1_000_000)
        switch accounts.assertions.begin(Attempt(.token, from: network), now: now) {
        case .begun(let begun):
            accounts.assertions.end(begun, .failed, now: now)
            answer(exchange, refusal.answer)
        case .wait(let milliseconds):
            let seconds = (milliseconds + 999) / 1000
            var late = AccessTokenRefusal(
                .slowDown,
                "Too many requests of this network were refused; wait for \(seconds) s."
            )
            late.retryAfter = seconds
            answer(exchange, late.answer)
        }
    }
}
