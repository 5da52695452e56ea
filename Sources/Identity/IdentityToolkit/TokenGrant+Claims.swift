package import Accounts
package import JSONTree
package import Tokens

/// The claims of tokens, as Firebase gives them.
extension TokenGrant {
    /// Seconds that an ID token counts. Source: Firebase Authentication, "Verify ID tokens".
    package static let lifetime: Int64 = 3600

    /// The tokens of a sign-in that has just happened; `claims` is the object of a custom token's claims.
    package static func signIn(
        _ account: Account,
        provider: String,
        claims: [UInt8]? = nil,
        _ context: IdentityContext
    ) -> TokenGrant {
        // A token never counts as issued before the moment from which tokens count.
        let issuedAt = max(context.seconds, account.validSince)
        let ticket = RefreshTicket(
            uid: account.uid,
            provider: provider,
            signedInAt: issuedAt,
            claims: claims
        )
        return TokenGrant(
            claims: idToken(account, ticket, issuedAt: issuedAt, context),
            refresh: ticket,
            form: .signIn
        )
    }

    /// The claims of an ID token for the sign-in of `ticket`.
    ///
    /// Claims of the account's own come first, those of the custom token over them, and what the service says itself
    /// over both. Source: Firebase Authentication, "Control access with custom claims".
    package static func idToken(
        _ account: Account,
        _ ticket: RefreshTicket,
        issuedAt: Int64,
        _ context: IdentityContext
    ) -> JSONValue {
        var claims = JSONMembers()
        claims.add("name", account.displayName)
        claims.add("picture", account.photoURL)
        for object in [account.customAttributes.map { Array($0.utf8) }, ticket.claims] {
            guard let object, let members = JSONMembers(reading: object) else { continue }
            for member in members.all { claims.put(member.name, member.value) }
        }
        for name in CustomClaimNames.ownedByTheService { claims.remove(name) }
        let email = account.email
        claims.add([
            "iss": .string(context.policy.issuer), "aud": .string(context.policy.audience),
            "auth_time": .integer(ticket.signedInAt), "user_id": .string(account.uid),
            "sub": .string(account.uid), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + lifetime), "email": .text(email),
            "email_verified": email.map { _ in .boolean(account.isEmailVerified) },
            "phone_number": .text(account.phoneNumber),
            "provider_id": ticket.provider == "anonymous" ? .string(ticket.provider) : nil,
            "firebase": [
                "identities": identities(of: account), "sign_in_provider": .string(ticket.provider),
            ],
        ])
        return claims.value
    }

    /// `firebase.identities`: what identifies the account, by provider.
    private static func identities(of account: Account) -> JSONValue {
        var all = JSONMembers()
        if let email = account.email { all.add("email", .list([.string(email)])) }
        if let number = account.phoneNumber { all.add("phone", .list([.string(number)])) }
        for identity in account.federated {
            all.put(identity.provider, .list([.string(identity.rawID)]))
        }
        return all.value
    }
}

/// Names of claims that say what only the service can know.
private enum CustomClaimNames {
    /// Foreign claims with one of these names are dropped, whatever the account has: they must not make an account
    /// without an address appear to have one.
    static let ownedByTheService = [
        "iss", "aud", "auth_time", "user_id", "sub", "iat", "exp", "email", "email_verified",
        "phone_number", "provider_id", "firebase",
    ]
}
