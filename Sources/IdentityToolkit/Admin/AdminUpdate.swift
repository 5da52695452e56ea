import Accounts
import JSONTree
import Passwords

extension IdentityToolkit {
    /// `projects/P/accounts:update`: what an administrator changes of an account, all of it or nothing.
    static func adminUpdate(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let fields = request.fields
        guard let uid = try fields.localID() else { throw .code(.missingLocalID) }
        guard fields.node("mfa").member("enrollments").isAbsent else {
            throw .notImplemented("Multi-factor sign-in")
        }
        // All of it is checked before a password is hashed, and again when that is done.
        _ = try AdminChange(uid, fields, context)
        return try withNewPassword(fields, context) { password, context throws(IdentityError) in
            var change = try AdminChange(uid, fields, context)
            if let password { change.set(password, at: context.now) }
            change.finish(at: context.now)
            var answer = IdentityAnswer(change.body)
            answer.replace(change.old, by: change.new, in: context.directory)
            answer.events = change.events
            return .answer(answer)
        }
    }
}

/// What becomes of an account by an administrator's update.
private struct AdminChange {
    let old: Account
    var new: Account

    /// Applies `fields` to the account as it is, in the order in which the service takes them: values, attributes that
    /// are deleted, providers that are deleted, the one that is linked.
    ///
    /// - Throws: `USER_NOT_FOUND`, the rule of a field, and what says that a name is another account's.
    init(
        _ uid: String,
        _ fields: RequestFields,
        _ context: IdentityContext
    ) throws(IdentityError) {
        let claims = try fields.customAttributes()
        let deleted = try DeletedAttribute.read(fields)
        guard let account = context.directory.account(uid) else { throw .code(.userNotFound) }
        old = account
        new = account
        try setNames(fields, context.directory)
        new.displayName = try fields.displayName() ?? new.displayName
        new.photoURL = try fields.photoURL() ?? new.photoURL
        new.customAttributes = claims ?? new.customAttributes
        new.isEmailVerified = try fields.flag("emailVerified") ?? new.isEmailVerified
        new.isDisabled = try fields.flag("disableUser") ?? new.isDisabled
        new.lastLoginAt = try fields.time("lastLoginAt") ?? new.lastLoginAt
        new.createdAt = try fields.time("createdAt") ?? new.createdAt
        if let seconds = try fields.time("validSince")?.milliseconds {
            new.setValidSince(seconds, at: context.now)
        }
        for attribute in deleted { delete(attribute) }
        for provider in try fields.texts("deleteProvider") { unlink(provider) }
        try link(fields, context.directory)
        new.dropEmptyTexts()
    }

    private mutating func setNames(
        _ fields: RequestFields,
        _ directory: AccountDirectory
    ) throws(IdentityError) {
        if let email = try fields.emailAddress(), email != old.email {
            guard directory.account(email: email) == nil else { throw .code(.emailExists) }
            new.initialEmail = old.initialEmail ?? old.email
            new.email = email
            new.isEmailVerified = false
        }
        if let number = try fields.phoneNumber(), number != old.phoneNumber {
            guard directory.account(phone: number) == nil else { throw .code(.phoneNumberExists) }
            new.phoneNumber = number
        }
    }

    private mutating func delete(_ attribute: DeletedAttribute) {
        switch attribute {
        case .email: deleteEmail()
        case .displayName: new.displayName = nil
        case .photoURL: new.photoURL = nil
        case .password: deletePassword()
        }
    }

    private mutating func unlink(_ provider: String) {
        switch provider {
        case "phone": new.phoneNumber = nil
        case "password":
            deleteEmail()
            deletePassword()
        default: new.federated.removeAll { $0.provider == provider }
        }
    }

    private mutating func deleteEmail() {
        new.email = nil
        new.isEmailVerified = false
        new.hasEmailLinkSignIn = false
    }

    private mutating func deletePassword() {
        new.password = nil
        new.passwordUpdatedAt = nil
    }

    private mutating func link(
        _ fields: RequestFields,
        _ directory: AccountDirectory
    ) throws(IdentityError) {
        guard fields.has("linkProviderUserInfo") else { return }
        let identity = try RequestFields(fields.node("linkProviderUserInfo")).federatedIdentity()
        let holder = directory.account(provider: identity.provider, rawID: identity.rawID)
        guard holder == nil || holder?.uid == old.uid else {
            throw .code(.federatedUserIDAlreadyLinked)
        }
        new.federated.removeAll { $0.provider == identity.provider }
        new.federated.append(identity)
        new.federated.sort { $0.provider < $1.provider }
        guard new.federated.count <= ProfileLimits.federatedCount else {
            throw .code(
                .invalidProfileAttribute,
                "An account has at most \(ProfileLimits.federatedCount) providers."
            )
        }
    }

    mutating func set(_ password: StoredPassword, at now: Timestamp) {
        new.password = password
        new.passwordUpdatedAt = now
    }

    /// Voids earlier sign-ins after a change of what somebody signs in with, and when the account is shut.
    mutating func finish(at now: Timestamp) {
        let isShut = new.isDisabled && !old.isDisabled
        guard isShut || new.password != old.password || new.email != old.email else { return }
        new.revoke(at: now)
    }

    var events: [AccountEvent] {
        var events: [AccountEvent] = []
        if new.validSince > old.validSince {
            events.append(.revoked(uid: old.uid, issuedBefore: new.validSince))
        }
        if new.isDisabled && !old.isDisabled { events.append(.shutOut(uid: old.uid)) }
        return events
    }

    var body: JSONMembers {
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#SetAccountInfoResponse")
        body.add("localId", new.uid)
        body.add("email", new.email)
        body.add("emailVerified", .boolean(new.isEmailVerified))
        body.add("displayName", new.displayName)
        body.add("photoUrl", new.photoURL)
        body.add("newEmail", new.email == old.email ? nil : new.email)
        if new.password != nil { body.add("passwordHash", Account.hiddenPasswordHash) }
        let providers = new.providerObjects
        if !providers.isEmpty { body.add("providerUserInfo", .list(providers)) }
        return body
    }
}

/// `deleteAttribute`, by name or by index. Source: Identity Toolkit API, `UserAttributeName`.
private enum DeletedAttribute {
    case email, displayName, photoURL, password

    /// - Throws: `invalidPayload` for what is no attribute, 501 for those of providers.
    static func read(_ fields: RequestFields) throws(IdentityError) -> [DeletedAttribute] {
        var all: [DeletedAttribute] = []
        for name in try fields.texts("deleteAttribute") {
            switch name {
            case "USER_ATTRIBUTE_NAME_UNSPECIFIED", "0": break
            case "EMAIL", "1": all.append(.email)
            case "DISPLAY_NAME", "2": all.append(.displayName)
            case "PHOTO_URL", "4": all.append(.photoURL)
            case "PASSWORD", "5": all.append(.password)
            case "PROVIDER", "3", "RAW_USER_INFO", "6":
                throw .notImplemented("Deleting the attribute \(name)")
            default:
                throw .invalidPayload("Invalid value at 'deleteAttribute': \(name).")
            }
        }
        return all
    }
}
