import JSONTree

/// The claims of one token and the checks on them.
struct Claims {
    let node: Node

    init(_ node: Node) {
        self.node = node
    }

    /// Whether this is a token of the database-secret kind: `{"v":0,"d":{...},"iat":...}`.
    var areOfDatabaseSecret: Bool { node.member("v").integer == 0 }

    /// Checks the type and range of every claim that is ever looked at, whether or not it will be.
    func checkTypes() throws(TokenError) {
        for name in ["exp", "iat", "nbf", "auth_time"] {
            _ = try time(name)
        }
        for name in ["iss", "sub", "user_id"] {
            _ = try text(name)
        }
    }

    /// Checks `iss` against the configured one, if any.
    func checkIssuer(_ issuer: String?) throws(TokenError) {
        guard let issuer else { return }
        guard try text("iss") == issuer else { throw .wrongIssuer }
    }

    /// Checks `aud`, one text or a list of texts, against the configured one, if any.
    func checkAudience(_ audience: String?) throws(TokenError) {
        guard let audience else { return }
        guard try audiences().contains(audience) else { throw .wrongAudience }
    }

    /// Refuses tokens for other purposes under every configuration: custom tokens and session cookies.
    func checkPurpose() throws(TokenError) {
        guard try !audiences().contains(TokenPolicy.customTokenAudience) else {
            throw .wrongAudience
        }
        guard try text("iss")?.hasPrefix(TokenPolicy.sessionCookieIssuerPrefix) != true else {
            throw .wrongIssuer
        }
    }

    /// Checks that the token was issued, begins and was signed in for before `now`, give or take `leeway`.
    func checkStart(_ now: Timestamp, leeway: Duration) throws(TokenError) {
        let latest = now.milliseconds + leeway.components.seconds * 1000
        for start in try startTimes() {
            guard start.milliseconds <= latest else { throw .notYetValid(from: start) }
        }
    }

    /// When the token was issued, begins and was signed in for; the first must be there.
    @discardableResult
    func startTimes() throws(TokenError) -> [Timestamp] {
        guard let issued = try time("iat") else { throw .badClaim("iat") }
        return [issued] + [try time("nbf"), try time("auth_time")].compactMap { $0 }
    }

    /// `exp`, which must be there and lie after `now`.
    func requireExpiry(after now: Timestamp) throws(TokenError) -> Timestamp {
        guard let expiry = try time("exp") else { throw .badClaim("exp") }
        guard now < expiry else { throw .expired(at: expiry) }
        return expiry
    }

    /// The identity of an ID token: `auth` is `{uid, provider, token}`.
    func identity(
        _ source: VerifiedToken.Source,
        expiry: Timestamp?
    ) throws(TokenError) -> VerifiedToken {
        let userID = try text("user_id")
        guard let subject = try text("sub") ?? userID,
            TokenLimits.subjectLength.contains(subject.unicodeScalars.count)
        else { throw .badClaim("sub") }
        guard userID == nil || userID == subject else { throw .badClaim("user_id") }
        let provider = try signInProvider()

        var auth = Node.absent
        auth.set(Node(string: subject), at: Path([Key(unchecked: Array("uid".utf8))]))
        if let provider {
            auth.set(Node(string: provider), at: Path([Key(unchecked: Array("provider".utf8))]))
        }
        auth.set(node, at: Path([Key(unchecked: Array("token".utf8))]))
        return VerifiedToken(
            claims: node,
            subject: subject,
            provider: provider,
            expiry: expiry,
            auth: auth,
            source: source,
            issuedAt: try seconds("iat"),
            signedInAt: try seconds("auth_time"),
        )
    }

    /// What an access token of a service account says (`AccessToken`).
    func serviceAccountAccess(_ now: Timestamp) throws(TokenError) -> VerifiedToken {
        guard node.member("aud").string == AccessToken.audience else { throw .wrongAudience }
        guard let account = try text("sub"),
            TokenLimits.serviceAccountLength.contains(account.unicodeScalars.count)
        else { throw .badClaim("sub") }
        guard let keyID = try text(AccessToken.keyClaim), !keyID.isEmpty else {
            throw .badClaim(AccessToken.keyClaim)
        }
        return try access(of: account, keyID: keyID, from: .own, now)
    }

    /// What an access token says that a service account has signed itself (`SelfSignedAccess`).
    func selfSignedAccess(keyID: String?, _ now: Timestamp) throws(TokenError) -> VerifiedToken {
        guard let account = try text("iss"), try text("sub") == account else {
            throw .badClaim("sub")
        }
        guard try SelfSignedAccess.isMeant(audiences(), scope: text("scope")) else {
            throw .wrongAudience
        }
        return try access(of: account, keyID: keyID, from: .serviceAccount, now)
    }

    /// A service account is an administrator, for an hour at most.
    private func access(
        of account: String,
        keyID: String?,
        from source: VerifiedToken.Source,
        _ now: Timestamp
    ) throws(TokenError) -> VerifiedToken {
        let expiry = try requireExpiry(after: now)
        try checkLifetime(TokenLimits.selfSignedLifetimeSeconds)
        return VerifiedToken(
            claims: node,
            subject: account,
            expiry: expiry,
            isAdmin: true,
            source: source,
            issuedAt: try seconds("iat"),
            serviceAccount: account,
            serviceAccountKeyID: keyID,
        )
    }

    /// Checks that the token is valid for at most `limit` seconds; `iat` and `exp` exist.
    func checkLifetime(_ limit: Int64) throws(TokenError) {
        guard let start = try seconds("iat") else { throw .badClaim("iat") }
        guard let end = try seconds("exp"), start < end, end - start <= limit else {
            throw .badClaim("exp")
        }
    }

    /// The identity of a token signed with a database secret: `auth` is the data itself.
    func databaseSecretIdentity(_ now: Timestamp) throws(TokenError) -> VerifiedToken {
        guard let issued = try time("iat") else { throw .badClaim("iat") }
        let lifetime = TokenLimits.legacyLifetimeSeconds * 1000
        let expiry =
            try time("exp") ?? Timestamp(milliseconds: issued.milliseconds + lifetime)
        guard now < expiry else { throw .expired(at: expiry) }

        let admin = node.member("admin")
        guard admin.isAbsent || admin.boolean != nil else { throw .badClaim("admin") }
        let data = node.member("d")
        guard data.isMap || data.isAbsent else { throw .badClaim("d") }
        let userID = data.member("uid")
        guard userID.isAbsent || userID.string != nil else { throw .badClaim("d.uid") }
        return VerifiedToken(
            claims: node,
            subject: userID.string,
            provider: data.member("provider").string,
            expiry: expiry,
            auth: data,
            isAdmin: admin.boolean == true,
            source: .databaseSecret,
            issuedAt: try seconds("iat"),
        )
    }

    /// `firebase.sign_in_provider`; tokens of anonymous users also carry `provider_id`.
    private func signInProvider() throws(TokenError) -> String? {
        let provider = node.member("firebase").member("sign_in_provider")
        guard provider.isAbsent else {
            guard let text = provider.string else { throw .badClaim("firebase.sign_in_provider") }
            return text
        }
        return try text("provider_id")
    }

    /// Every `aud`: one text, or a list of them.
    func audiences() throws(TokenError) -> [String] {
        let audience = node.member("aud")
        if let text = audience.string { return [text] }
        guard audience.isMap || audience.isAbsent else { throw .badClaim("aud") }
        var texts: [String] = []
        var isListOfTexts = true
        audience.visitChildren { _, entry in
            guard let text = entry.string else {
                isListOfTexts = false
                return false
            }
            texts.append(text)
            return true
        }
        guard isListOfTexts else { throw .badClaim("aud") }
        return texts
    }

    /// A claim that is a text, if it exists.
    func text(_ name: String) throws(TokenError) -> String? {
        let claim = node.member(name)
        guard !claim.isAbsent else { return nil }
        guard let text = claim.string else { throw .badClaim(name) }
        return text
    }

    /// A time claim, whole seconds since 1970.
    private func time(_ name: String) throws(TokenError) -> Timestamp? {
        let claim = node.member(name)
        guard !claim.isAbsent else { return nil }
        guard let seconds = claim.integer, TokenLimits.claimedSeconds.contains(seconds) else {
            throw .badClaim(name)
        }
        return Timestamp(milliseconds: seconds * 1000)
    }

    private func seconds(_ name: String) throws(TokenError) -> Int64? {
        try time(name).map { $0.milliseconds / 1000 }
    }
}
