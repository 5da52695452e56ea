import Accounts
import Passwords

extension IdentityToolkit {
    /// `projects/P/accounts`: a new account with what the administrator says of it. Nobody signs in by that.
    static func adminCreate(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let fields = request.fields
        guard !fields.has("idToken") else {
            throw .code(.unexpectedParameter, "User ID token")
        }
        guard !fields.has("mfaInfo") else { throw .notImplemented("Multi-factor sign-in") }
        let account = try newAccount(fields, context)
        return try withNewPassword(fields, context) { password, context throws(IdentityError) in
            var created = try password == nil ? account : newAccount(fields, context)
            if let password {
                created.password = password
                created.passwordUpdatedAt = context.now
            }
            var body = JSONMembers()
            body.add("kind", "identitytoolkit#SignupNewUserResponse")
            body.add("localId", created.uid)
            body.add("email", created.email)
            body.add("displayName", created.displayName)
            var answer = IdentityAnswer(body)
            answer.replace(nil, by: created, in: context.directory)
            return .answer(answer)
        }
    }

    /// The account that `fields` describe, without a password.
    ///
    /// - Throws: the rule of a field, and `DUPLICATE_LOCAL_ID`, `EMAIL_EXISTS`, `PHONE_NUMBER_EXISTS`.
    private static func newAccount(
        _ fields: RequestFields,
        _ context: IdentityContext
    ) throws(IdentityError) -> Account {
        let localID = try fields.localID()
        if let localID, context.directory.account(localID) != nil {
            throw .code(.duplicateLocalID)
        }
        let uid = localID ?? context.newUID()
        var account = context.directory.newAccount(uid, now: context.now)
        account.email = try fields.emailAddress()
        account.isEmailVerified = try fields.flag("emailVerified") ?? false
        account.phoneNumber = try fields.phoneNumber()
        account.displayName = try fields.displayName()
        account.photoURL = try fields.photoURL()
        account.isDisabled = try fields.flag("disabled") ?? false
        account.customAttributes = try fields.customAttributes()
        account.dropEmptyTexts()
        if let email = account.email, context.directory.account(email: email) != nil {
            throw .code(.emailExists)
        }
        if let number = account.phoneNumber, context.directory.account(phone: number) != nil {
            throw .code(.phoneNumberExists)
        }
        return account
    }

    /// Has the new password of `fields` hashed, if there is one, and goes on with the accounts as they are then.
    ///
    /// - Throws: what the rules for passwords find.
    static func withNewPassword(
        _ fields: RequestFields,
        _ context: IdentityContext,
        then: @escaping (StoredPassword?, IdentityContext) throws(IdentityError) -> IdentityStep
    ) throws(IdentityError) -> IdentityStep {
        guard let password = try fields.text("password"), !password.isEmpty else {
            return try then(nil, context)
        }
        try context.policy.passwords.check(password)
        return hash(password, context) { stored, context throws(IdentityError) in
            try then(stored, context)
        }
    }
}

extension Account {
    /// An empty text of a profile is none.
    mutating func dropEmptyTexts() {
        if displayName?.isEmpty == true { displayName = nil }
        if photoURL?.isEmpty == true { photoURL = nil }
        if customAttributes?.isEmpty == true { customAttributes = nil }
    }
}
