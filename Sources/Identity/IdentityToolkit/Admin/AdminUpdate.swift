import Accounts
import JSONTree
import Passwords

extension IdentityRequest {
    /// `projects/P/accounts:update`: what an administrator changes of an account, all of it or nothing.
    func adminUpdate(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard let uid = try fields.localID() else { throw .code(.missingLocalID) }
        guard fields.node("mfa").member("enrollments").isAbsent else {
            throw .notImplemented("Multi-factor sign-in")
        }
        // All of it is checked before a password is hashed, and again when that is done.
        _ = try AdminChange(uid, fields, context)
        return try withNewPassword(fields, context) { password, context throws(IdentityError) in
            var change = try AdminChange(uid, fields, context)
            if let password { change.new.set(password, at: context.now) }
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

    /// Applies `fields` to the current account, in the order of the service: values, attributes that are deleted,
    /// providers that are deleted, the one that is linked.
    ///
    /// - Throws: `USER_NOT_FOUND`, the rule of a field, and the errors for a name that is another account's.
    init(_ uid: String, _ fields: RequestFields, _ context: IdentityContext) throws(IdentityError) {
        let claims = try fields.customAttributes()
        let deleted = try fields.deletedAttributes()
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
        for attribute in deleted { new.remove(attribute) }
        for provider in try fields.texts("deleteProvider") { new.unlink(provider) }
        try link(fields, context.directory)
        new.dropEmptyTexts()
    }

    private mutating func setNames(
        _ fields: RequestFields,
        _ directory: AccountDirectory
    ) throws(IdentityError) {
        if let email = try fields.emailAddress(), email != old.email {
            guard directory.account(email: email) == nil else { throw .code(.emailExists) }
            new.take(email, isVerified: false)
        }
        if let number = try fields.phoneNumber(), number != old.phoneNumber {
            guard directory.account(phone: number) == nil else { throw .code(.phoneNumberExists) }
            new.phoneNumber = number
        }
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

    /// Voids earlier sign-ins after a change of the sign-in methods, and when the account is disabled.
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
        JSONMembers(
            kind: "SetAccountInfoResponse",
            [
                "localId": .string(new.uid), "email": .text(new.email),
                "emailVerified": .boolean(new.isEmailVerified),
                "displayName": .text(new.displayName), "photoUrl": .text(new.photoURL),
                "newEmail": .text(new.email == old.email ? nil : new.email),
                "passwordHash": .text(new.password.map { _ in Account.hiddenPasswordHash }),
                "providerUserInfo": .given(new.providerObjects),
            ]
        )
    }
}
