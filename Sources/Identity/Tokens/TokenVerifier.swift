package import JSONTree

/// Decides whether a token is valid, and returns its content.
///
/// Pure: the time is an argument. One check costs some 30 us (RSA) to 100 us (P-256), so it runs on a worker.
package struct TokenVerifier: Sendable {
    private let issuers: [TrustedIssuer]
    private let policy: TokenPolicy

    /// A verifier of tokens of these issuers; of two that have a key of the same name, the first one counts.
    package init(issuers: [TrustedIssuer], policy: TokenPolicy) {
        self.issuers = issuers
        self.policy = policy
    }

    /// A verifier of tokens of one outside issuer, whose `iss` and `aud` are those of `policy`.
    package init(keys: KeySet, policy: TokenPolicy) {
        let issuer = TrustedIssuer(
            .outside,
            keys: keys,
            issuer: policy.issuer,
            audience: policy.audience
        )
        self.init(issuers: [issuer], policy: policy)
    }

    /// Checks form, signature and claims, in this order, so that a forged token learns nothing about its claims.
    package func verify(_ token: String, now: Timestamp) -> Result<VerifiedToken, TokenError> {
        do throws(TokenError) {
            let token = try CompactToken(token)
            return .success(try read(token, try signature(token), now))
        } catch {
            return .failure(error)
        }
    }

    /// The same for who wants an ID token of this server's accounts, or an unsigned one: tokens of others, of
    /// databases and of service accounts are refused.
    package func verifyIdentity(
        _ token: String,
        now: Timestamp
    ) -> Result<VerifiedToken, TokenError> {
        verify(token, now: now).flatMap { token in
            switch token.source {
            case .own where token.serviceAccount == nil, .unsigned: .success(token)
            case .own: .failure(.wrongAudience)
            case .outside, .databaseSecret, .serviceAccount: .failure(.wrongIssuer)
            }
        }
    }

    /// The issuer behind a token.
    private enum Signature {
        case none
        case secret
        case key(of: TrustedIssuer)
    }

    /// The algorithm picks the kind of key, and each key serves one algorithm only: a token that names `HS256`
    /// is held against the secret and never against the bytes of a public key.
    private func signature(_ token: CompactToken) throws(TokenError) -> Signature {
        switch token.algorithm {
        case .unsigned:
            guard policy.acceptsUnsigned, token.signature.isEmpty else { throw .unsigned }
            return .none
        case .hs256:
            guard let secret = policy.hmacSecret else { throw .unsupportedAlgorithm }
            guard let code = HashMAC.code(of: token.signedText, secret: secret),
                ConstantTime.equal(code, token.signature)
            else { throw .badSignature }
            return .secret
        case .rs256, .es256:
            for issuer in issuers {
                guard let key = issuer.keys.key(token.keyID, for: token.algorithm) else { continue }
                guard key.verifies(token.signature, of: token.signedText) else {
                    throw .badSignature
                }
                return .key(of: issuer)
            }
            throw .unknownKey(token.keyID)
        }
    }

    private func read(
        _ token: CompactToken,
        _ signature: Signature,
        _ now: Timestamp
    ) throws(TokenError) -> VerifiedToken {
        let claims = Claims(token.claims)
        try claims.checkTypes()
        switch signature {
        case .none:
            guard token.type != AccessToken.headerType else { throw .unsigned }
            try claims.checkPurpose()
            return try claims.identity(.unsigned, expiry: nil)
        case .secret where claims.areOfDatabaseSecret:
            try claims.checkStart(now, leeway: policy.leeway)
            return try claims.databaseSecretIdentity(now)
        case .secret:
            return try identity(claims, .outside, policy.issuer, policy.audience, now)
        case .key(let issuer):
            switch issuer.kind {
            case .own: break
            case .outside:
                return try identity(claims, .outside, issuer.issuer, issuer.audience, now)
            case .serviceAccounts:
                try claims.checkStart(now, leeway: policy.leeway)
                return try claims.selfSignedAccess(keyID: token.keyID, now)
            }
            // This server gives each of its tokens its type; a token without one is not meant for this.
            switch token.type {
            case AccessToken.headerType:
                try claims.checkIssuer(issuer.issuer)
                try claims.checkStart(now, leeway: policy.leeway)
                return try claims.serviceAccountAccess(now)
            case TokenSigner.headerType:
                return try identity(claims, .own, issuer.issuer, issuer.audience, now)
            default: throw .badHeader("typ")
            }
        }
    }

    /// How far ahead of the clock this server's own tokens may be dated: each of several revocations within a second dates
    /// them a second later, on purpose, and the account decides them. Ours.
    private static let ownLead = Duration.seconds(60)

    private func identity(
        _ claims: Claims,
        _ source: VerifiedToken.Source,
        _ issuer: String?,
        _ audience: String?,
        _ now: Timestamp
    ) throws(TokenError) -> VerifiedToken {
        try claims.checkPurpose()
        try claims.checkIssuer(issuer)
        try claims.checkAudience(audience)
        let lead = max(policy.leeway, source == .own ? Self.ownLead : .zero)
        try claims.checkStart(now, leeway: lead)
        return try claims.identity(source, expiry: try claims.requireExpiry(after: now))
    }
}
