import Accounts
import Passwords
import Tokens

extension IdentityToolkit {
    /// `accounts:update` by a user: profile, address, password, and what they sign in with. (With `oobCode` it is
    /// `applyCode`'s.)
    ///
    /// Tokens come back when the address or the password has changed, which end all earlier sign-ins.
    static func update(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let fields = request.fields
        for name in ["provider", "upgradeToFederatedLogin"] where fields.has(name) {
            throw .notImplemented("'\(name)'")
        }
        guard try fields.givenText("idToken") != nil else {
            throw .code(.invalidReqType, "Unsupported request parameters.")
        }
        guard !fields.has("customAttributes") else { throw .code(.insufficientPermission) }
        let form = try AccountUpdate(fields)
        return try identify(fields, context) { account, token, context throws(IdentityError) in
            guard !fields.has("disableUser"), !fields.has("linkProviderUserInfo") else {
                throw .notAllowed("A user cannot change this.")
            }
            try form.check(account, token, context)
            guard let password = form.password else {
                return .answer(try form.apply(to: account, nil, token, context))
            }
            return hash(password, context) { stored, context throws(IdentityError) in
                let account = try holder(of: token, context)
                try form.check(account, token, context)
                return .answer(try form.apply(to: account, stored, token, context))
            }
        }
    }
}

/// What a user wants changed.
private struct AccountUpdate {
    /// Empty takes it away; nil leaves it.
    let displayName: String?
    let photoURL: String?
    /// As it is given.
    let email: String?
    let password: String?
    /// Whether all sign-ins of before shall end.
    let revokes: Bool
    let removed: Set<Attribute>
    /// Providers to be unlinked.
    let unlinked: Set<String>

    /// By name or by number. Source: Identity Toolkit API, `UserAttributeName`.
    enum Attribute: String, CaseIterable {
        case unspecified = "USER_ATTRIBUTE_NAME_UNSPECIFIED"
        case email = "EMAIL"
        case displayName = "DISPLAY_NAME"
        case provider = "PROVIDER"
        case photoURL = "PHOTO_URL"
        case password = "PASSWORD"
        case rawUserInfo = "RAW_USER_INFO"

        init?(_ text: String) {
            if let number = Int(text) {
                guard Self.allCases.indices.contains(number) else { return nil }
                self = Self.allCases[number]
            } else {
                self.init(rawValue: text)
            }
        }
    }

    init(_ fields: RequestFields) throws(IdentityError) {
        displayName = try fields.displayName()
        photoURL = try fields.photoURL()
        email = try fields.givenText("email")
        password = try fields.givenText("password")
        revokes = fields.has("validSince")
        var removed: Set<Attribute> = []
        for name in try fields.texts("deleteAttribute") {
            guard let attribute = Attribute(name) else {
                throw .invalidPayload("Invalid value at 'deleteAttribute' (TYPE_ENUM).")
            }
            guard attribute != .provider, attribute != .rawUserInfo else {
                throw .notImplemented("deleteAttribute: \(attribute.rawValue)")
            }
            removed.insert(attribute)
        }
        unlinked = Set(try fields.texts("deleteProvider"))
        if unlinked.contains("password") { removed.formUnion([.email, .password]) }
        self.removed = removed
    }

    /// Whether the account can be signed in to in another way afterwards.
    private var changesSignIn: Bool {
        email != nil || password != nil || revokes || removed.contains(.email)
            || removed.contains(.password) || !unlinked.isEmpty
    }

    /// Checks it against the account as it is.
    func check(
        _ account: Account,
        _ token: VerifiedToken,
        _ context: IdentityContext
    ) throws(IdentityError) {
        let newEmail: String? =
            if let email { try IdentityToolkit.address(email) } else { nil }
        if let password {
            guard context.policy.methods.contains(.password) else {
                throw .notAllowed("Sign-in by password is switched off.")
            }
            try context.policy.passwords.check(password)
        }
        if changesSignIn { try IdentityToolkit.requireRecentSignIn(token, context) }
        // Last, so that who asks whether an address is taken takes each that is not.
        if let newEmail, newEmail != account.email {
            try IdentityToolkit.requireFree(newEmail, context)
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
        let newEmail: String? =
            if let email { try IdentityToolkit.address(email) } else { nil }
        let takesEmail = newEmail != nil && newEmail != old.email
        if let newEmail, takesEmail { account.take(newEmail) }
        if let stored {
            account.password = stored
            account.passwordUpdatedAt = context.now
        }
        remove(from: &account)
        let isRevoked = stored != nil || takesEmail || revokes
        if isRevoked {
            account.revoke(at: context.now)
            account.lastRefreshAt = context.now
        }
        var body = account.updateMembers
        body.add("newEmail", newEmail)
        var answer = IdentityAnswer(body)
        answer.replace(old, by: account, in: context.directory)
        if takesEmail, old.email != nil {
            IdentityToolkit.addRecovery(of: old, to: &answer, context)
        } else {
            IdentityToolkit.addRecovery(of: old, unlessKeptBy: account, to: &answer, context)
        }
        guard isRevoked else { return answer }
        let provider = stored != nil ? "password" : token.provider ?? "custom"
        answer.grant = .signIn(account, provider: provider, context)
        answer.events.insert(
            .revoked(uid: account.uid, issuedBefore: account.validSince),
            at: 0
        )
        return answer
    }

    private func remove(from account: inout Account) {
        if removed.contains(.displayName) { account.displayName = nil }
        if removed.contains(.photoURL) { account.photoURL = nil }
        if removed.contains(.email) {
            account.email = nil
            account.isEmailVerified = false
            account.hasEmailLinkSignIn = false
        }
        if removed.contains(.password) {
            account.password = nil
            account.passwordUpdatedAt = nil
        }
        if unlinked.contains("phone") { account.phoneNumber = nil }
        account.federated.removeAll { unlinked.contains($0.provider) }
    }
}

extension Account {
    /// Gives it an address that nobody has proved to read.
    fileprivate mutating func take(_ newEmail: String) {
        if initialEmail == nil { initialEmail = email }
        email = newEmail
        isEmailVerified = false
    }

    /// The members of the answer to an update. SDKs want the list of providers also when it is empty.
    package var updateMembers: JSONMembers {
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#SetAccountInfoResponse")
        body.add("localId", uid)
        body.add("email", email)
        body.add("emailVerified", .boolean(isEmailVerified))
        body.add("displayName", displayName)
        body.add("photoUrl", photoURL)
        if password != nil { body.add("passwordHash", Self.hiddenPasswordHash) }
        body.add("providerUserInfo", .list(providerObjects))
        return body
    }
}
