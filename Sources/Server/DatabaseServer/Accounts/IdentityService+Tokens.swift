import Accounts
import IdentityToolkit
import JSONTree
import Tokens
import Transport

/// Tokens of the accounts service, made and checked away from the loop.
extension IdentityService {
    // MARK: - Made

    /// Has the tokens of a grant signed; nil when that is not possible now.
    ///
    /// Signing takes some 1 ms.
    func mint(_ grant: TokenGrant, then: @escaping @LoopActor ([JSONValue.Member]?) -> Void) {
        let keys = accounts.keys
        guard let signer = keys.identitySigner(at: Clock.now().milliseconds / 1000) else {
            return then(nil)
        }
        let seal = keys.seal
        let project = accounts.policy.project
        onCredentialWorker(then) { grant.members(signer, seal, project: project) }
    }

    /// Has an access token signed for a service account whose key `keyID` asked for it; nil when that is not possible
    /// now. It counts for `AccessToken.lifetime` seconds.
    func mintAccessToken(
        serviceAccount account: ServiceAccount,
        keyID: String,
        then: @escaping @LoopActor (String?) -> Void
    ) {
        withSigner { [self] signer in
            guard let signer else {
                return then(nil)
            }
            let issuer = accounts.policy.issuer
            let issuedAt = account.issueTime(Clock.now())
            onCredentialWorker(then) {
                AccessToken.make(
                    signer,
                    issuer: issuer,
                    serviceAccount: account.email,
                    keyID: keyID,
                    issuedAt: issuedAt
                )
            }
        }
    }

    // MARK: - Checked

    /// Has a token that a request brings checked; nil when there is no room for it now.
    func verify(
        _ check: TokenCheck,
        then: @escaping @LoopActor (Result<VerifiedToken, TokenError>?) -> Void
    ) {
        switch check {
        case .identity(let token):
            let verifier = credentials.verifier
            onCredentialWorker(then) { verifier.verifyIdentity(token, now: Clock.now()) }
        case .custom(let token):
            if configuration.mode == .development {
                return then(ServiceAccountToken.readCustomUnverified(token))
            }
            do throws(TokenError) {
                let token = try ServiceAccountToken(token)
                let account = accountDirectory.serviceAccount(email: token.issuer)
                onCredentialWorker(then) {
                    token.verifyCustom(keys: KeySet(account.map { [$0] } ?? []), now: Clock.now())
                }
            } catch {
                then(.failure(error))
            }
        }
    }

    /// Has an assertion checked, by which a service account asks for an access token; nil when there is no room for
    /// it now.
    func verifyAssertion(
        _ assertion: ServiceAccountToken,
        audiences: Set<String>,
        then: @escaping @LoopActor (Result<VerifiedToken, TokenError>?) -> Void
    ) {
        let account = accountDirectory.serviceAccount(email: assertion.issuer)
        onCredentialWorker(then) {
            assertion.verifyAssertion(
                keys: KeySet(account.map { [$0] } ?? []),
                audiences: audiences,
                now: Clock.now()
            )
        }
    }

    /// Does something on the worker of credentials; `then` gets nil when there is no room.
    private func onCredentialWorker<Outcome: Sendable>(
        _ then: @escaping @LoopActor (Outcome?) -> Void,
        _ work: @escaping @Sendable () -> Outcome?
    ) {
        if !workers.credentials.perform(work, then: then) { then(nil) }
    }
}

extension KeySet {
    /// The keys of service accounts, without those of accounts that may do nothing.
    init(_ accounts: [ServiceAccount]) {
        var keys: [String: PublicKey] = [:]
        for account in accounts where !account.isDisabled {
            for key in account.keys { keys[key.id] = PublicKey(pem: Array(key.publicPEM.utf8)) }
        }
        self.init(keys: keys)
    }
}

extension TokenGrant {
    /// The tokens under the names that go with the grant's form; nil when OpenSSL cannot sign. Pure: any thread may do it.
    func members(
        _ signer: TokenSigner,
        _ seal: RefreshSeal,
        project: String
    ) -> [JSONValue.Member]? {
        let text = String(decoding: claims.text, as: UTF8.self)
        guard let token = signer.sign(claims: text) else { return nil }
        var members: [(String, String)]
        let refreshName: String
        switch form {
        case .sessionCookie: return [JSONValue.Member("sessionCookie", .string(token))]
        case .signIn:
            members = [("idToken", token), ("expiresIn", "\(TokenGrant.lifetime)")]
            refreshName = "refreshToken"
        case .refresh(let uid):
            members = [
                ("access_token", token), ("id_token", token),
                ("expires_in", "\(TokenGrant.lifetime)"), ("token_type", "Bearer"),
                ("user_id", uid), ("project_id", project),
            ]
            refreshName = "refresh_token"
        }
        if let refresh {
            guard let sealed = seal.seal(refresh) else { return nil }
            members.append((refreshName, sealed))
        }
        return members.map { JSONValue.Member($0.0, .string($0.1)) }
    }
}
