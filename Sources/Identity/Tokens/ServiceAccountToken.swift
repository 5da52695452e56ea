package import JSONTree

/// What a service account signs with its own key, taken apart but not yet trusted.
///
/// - An *assertion* (RFC 7523) gets it an access token: `iss` and, where it is there, `sub` are its address, `aud` is the
///   address of the token service.
/// - A *custom token* lets a user sign in: `iss` and `sub` are its address, `aud` is that of the accounts service, `uid`
///   is the user, `claims` are kept for as long as the user stays signed in.
///
/// Both live an hour at most and need `iat` and `exp`.
package struct ServiceAccountToken: Sendable {
    /// The address of the account that it says it is from.
    package let issuer: String
    /// The name of the signing key in its header; not every SDK writes it.
    package let keyID: String?

    private let token: CompactToken

    /// Takes `text` apart.
    package init(_ text: String) throws(TokenError) {
        token = try CompactToken(text)
        guard token.algorithm == .rs256 || token.algorithm == .es256 else {
            throw token.algorithm == .unsigned ? .unsigned : .unsupportedAlgorithm
        }
        guard let issuer = try Claims(token.claims).text("iss") else { throw .wrongIssuer }
        self.issuer = issuer
        keyID = token.keyID
    }

    /// Checks it as an assertion for one of `audiences`, against the keys of the account that it names.
    package func verifyAssertion(
        keys: KeySet,
        audiences: Set<String>,
        now: Timestamp
    ) -> Result<VerifiedToken, TokenError> {
        do throws(TokenError) {
            let (claims, name) = try verifySignature(keys)
            let subject = try claims.text("sub")
            guard subject == nil || subject == issuer else { throw .badClaim("sub") }
            let named = try claims.audiences()
            guard named.count == 1, audiences.contains(named[0]) else { throw .wrongAudience }
            return .success(try result(claims, subject: issuer, name, now))
        } catch {
            return .failure(error)
        }
    }

    /// Checks it as a custom token, against the keys of the account that it names; the result's subject is the `uid`.
    package func verifyCustom(keys: KeySet, now: Timestamp) -> Result<VerifiedToken, TokenError> {
        do throws(TokenError) {
            let (claims, name) = try verifySignature(keys)
            guard try claims.text("sub") == issuer else { throw .badClaim("sub") }
            let audiences = try claims.audiences()
            guard audiences == [TokenPolicy.customTokenAudience] else { throw .wrongAudience }
            guard let uid = try claims.text("uid"),
                TokenLimits.subjectLength.contains(uid.unicodeScalars.count)
            else { throw .badClaim("uid") }
            try claims.checkCustomClaims()
            return .success(try result(claims, subject: uid, name, now))
        } catch {
            return .failure(error)
        }
    }

    /// A custom token in development: signed by any key, or the bare JSON text of its claims.
    ///
    /// `uid` may be a number there. Times are not looked at.
    package static func readCustomUnverified(_ text: String) -> Result<VerifiedToken, TokenError> {
        do throws(TokenError) {
            let isBare = text.utf8.first == UInt8(ascii: "{")
            let node = isBare ? try bareClaims(text) : try CompactToken(text).claims
            let claims = Claims(node)
            if !isBare {
                let audiences = try claims.audiences()
                guard audiences == [TokenPolicy.customTokenAudience] else { throw .wrongAudience }
            }
            let member = node.member("uid").isAbsent ? node.member("user_id") : node.member("uid")
            guard let uid = member.string ?? member.integer.map({ "\($0)" }),
                TokenLimits.subjectLength.contains(uid.unicodeScalars.count)
            else { throw .badClaim("uid") }
            try claims.checkCustomClaims()
            return .success(
                VerifiedToken(claims: node, subject: uid, provider: "custom", source: .unsigned)
            )
        } catch {
            return .failure(error)
        }
    }

    private static func bareClaims(_ text: String) throws(TokenError) -> Node {
        guard text.utf8.count <= TokenLimits.tokenByteCount else {
            throw .tooLong(byteCount: text.utf8.count)
        }
        do {
            return try Node.readingAnyJSON(Array(text.utf8))
        } catch {
            throw .notJSON(.claims, offset: error.offset)
        }
    }

    /// The claims, and the name of the key that the signature is from: the one it names, or any of the account's.
    private func verifySignature(_ keys: KeySet) throws(TokenError) -> (Claims, String) {
        let candidates = keys.all(for: token.algorithm).filter { keyID == nil || keyID == $0.name }
        guard !candidates.isEmpty else { throw .unknownKey(keyID) }
        let match = candidates.first { $0.key.verifies(token.signature, of: token.signedText) }
        guard let match else { throw .badSignature }
        let claims = Claims(token.claims)
        try claims.checkTypes()
        return (claims, match.name)
    }

    private func result(
        _ claims: Claims,
        subject: String,
        _ keyName: String,
        _ now: Timestamp
    ) throws(TokenError) -> VerifiedToken {
        try claims.checkStart(now, leeway: TokenPolicy().leeway)
        let expiry = try claims.requireExpiry(after: now)
        try claims.checkLifetime(TokenLimits.selfSignedLifetimeSeconds)
        return VerifiedToken(
            claims: token.claims,
            subject: subject,
            provider: "custom",
            expiry: expiry,
            source: .serviceAccount,
            serviceAccount: issuer,
            serviceAccountKeyID: keyName,
        )
    }
}

extension Claims {
    /// Checks the member `claims` of a custom token: an object of limited size without a reserved name.
    fileprivate func checkCustomClaims() throws(TokenError) {
        let custom = node.member("claims")
        guard !custom.isAbsent else { return }
        guard custom.isMap, custom.json().count <= TokenLimits.customClaimsByteCount else {
            throw .badClaim("claims")
        }
        for name in ReservedClaims.names where !custom.member(name).isAbsent {
            throw .reservedClaim(name)
        }
    }
}
