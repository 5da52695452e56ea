import Accounts
import JSONTree
import Passwords
import Tokens

extension IdentityRequest {
    /// `accounts:update` by a user: profile, address, password, and what they sign in with. (With `oobCode` it is
    /// `applyCode`'s.)
    ///
    /// Tokens come back when the address or the password has changed, which end all earlier sign-ins.
    func update(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        for name in ["provider", "upgradeToFederatedLogin"] where fields.has(name) {
            throw .notImplemented("'\(name)'")
        }
        guard try fields.givenText("idToken") != nil else {
            throw .code(.invalidReqType, "Unsupported request parameters.")
        }
        guard !fields.has("customAttributes") else { throw .code(.insufficientPermission) }
        let form = try AccountUpdate(fields)
        return try context.identify(fields) { account, token, context throws(IdentityError) in
            guard !fields.has("disableUser"), !fields.has("linkProviderUserInfo") else {
                throw .notAllowed("A user cannot change this.")
            }
            try form.check(account, token, context)
            guard let password = form.password else {
                return .answer(try form.apply(to: account, nil, token, context))
            }
            return context.hash(password) { stored, context throws(IdentityError) in
                let account = try context.account(of: token)
                try form.check(account, token, context)
                return .answer(try form.apply(to: account, stored, token, context))
            }
        }
    }
}

/// What a user wants changed.
private struct AccountUpdate {
    /// Empty removes it; nil leaves it.
    let displayName: String?
    let photoURL: String?
    /// As given.
    let email: String?
    let password: String?
    /// Whether all sign-ins of before shall end.
    let revokes: Bool
    let removed: [DeletedAttribute]
    /// Providers to be unlinked.
    let unlinked: [String]

    init(_ fields: RequestFields) throws(IdentityError) {
        displayName = try fields.displayName()
        photoURL = try fields.photoURL()
        email = try fields.givenText("email")
        password = try fields.givenText("password")
        revokes = fields.has("validSince")
        removed = try fields.deletedAttributes()
        unlinked = try fields.texts("deleteProvider")
    }

    /// Whether the account can be signed in to in another way afterwards.
    private var changesSignIn: Bool {
        email != nil || password != nil || revokes || removed.contains(.email)
            || removed.contains(.password) || !unlinked.isEmpty
    }

    /// The address in its one spelling.
    private func newEmail() throws(IdentityError) -> String? {
        if let email { try EmailAddress.checked(email) } else { nil }
    }

    /// Checks it against the current account.
    func check(
        _ account: Account,
        _ token: VerifiedToken,
        _ context: IdentityContext
    ) throws(IdentityError) {
        let newEmail = try newEmail()
        if let password {
            guard context.policy.methods.contains(.password) else {
                throw .notAllowed("Sign-in by password is switched off.")
            }
            try context.policy.passwords.check(password)
        }
        if changesSignIn { try context.requireRecentSignIn(token) }
        // Last, so that probing for taken addresses takes each free one.
        if let newEmail, newEmail != account.email {
            try context.requireFree(newEmail)
        }
    }

    /// The answer with the account as it becomes; `stored` is the new password.
    func apply(
        to old: Account,
        _ stored: StoredPassword?,
        _ token: VerifiedToken,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        var account = old
        if let displayName { account.displayName = displayName.isEmpty ? nil : displayName }
        if let photoURL { account.photoURL = photoURL.isEmpty ? nil : photoURL }
        let newEmail = try newEmail()
        let takesEmail = newEmail != nil && newEmail != old.email
        if let newEmail, takesEmail { account.take(newEmail, isVerified: false) }
        if let stored { account.set(stored, at: context.now) }
        for attribute in removed { account.remove(attribute) }
        for provider in unlinked { account.unlink(provider) }
        let isRevoked = stored != nil || takesEmail || revokes
        if isRevoked {
            account.revoke(at: context.now)
            account.lastRefreshAt = context.now
        }
        var answer = IdentityAnswer(account.updateMembers(newEmail: newEmail))
        answer.replace(old, by: account, in: context.directory)
        if takesEmail, old.email != nil {
            context.addRecovery(of: old, to: &answer)
        } else {
            context.addRecovery(of: old, unlessKeptBy: account, to: &answer)
        }
        guard isRevoked else { return answer }
        let provider = stored != nil ? "password" : token.provider ?? "custom"
        answer.grant = .signIn(account, provider: provider, context)
        answer.events.insert(.revoked(uid: account.uid, issuedBefore: account.validSince), at: 0)
        return answer
    }
}

extension Account {
    /// The members of the answer to an update. SDKs of clients want the list of providers also when it is empty.
    func updateMembers(newEmail: String?) -> JSONMembers {
        JSONMembers(
            kind: "SetAccountInfoResponse",
            [
                "localId": .string(uid), "email": .text(email),
                "emailVerified": .boolean(isEmailVerified), "displayName": .text(displayName),
                "photoUrl": .text(photoURL),
                "passwordHash": .text(password.map { _ in Self.hiddenPasswordHash }),
                "providerUserInfo": .list(providerObjects), "newEmail": .text(newEmail),
            ]
        )
    }
}
