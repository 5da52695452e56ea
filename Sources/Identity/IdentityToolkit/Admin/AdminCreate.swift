import Accounts
import Passwords

extension IdentityRequest {
    /// `projects/P/accounts`: a new account with the administrator's fields, without a sign-in.
    func adminCreate(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard !fields.has("idToken") else {
            throw .code(.unexpectedParameter, "User ID token")
        }
        guard !fields.has("mfaInfo") else { throw .notImplemented("Multi-factor sign-in") }
        let account = try newAccount(fields, context)
        return try withNewPassword(fields, context) { password, context throws(IdentityError) in
            var created = try password == nil ? account : newAccount(fields, context)
            if let password { created.set(password, at: context.now) }
            var answer = IdentityAnswer(created.signUpMembers)
            answer.replace(nil, by: created, in: context.directory)
            return .answer(answer)
        }
    }

    /// The account that `fields` describe, without a password.
    ///
    /// - Throws: the rule of a field, and `DUPLICATE_LOCAL_ID`, `EMAIL_EXISTS`, `PHONE_NUMBER_EXISTS`.
    private func newAccount(
        _ fields: RequestFields,
        _ context: IdentityContext
    ) throws(IdentityError) -> Account {
        let localID = try fields.localID()
        if let localID, context.directory.account(localID) != nil {
            throw .code(.duplicateLocalID)
        }
        let uid = localID ?? context.newUID()
        var account = context.directory.newAccount(uid, now: context.now)
        try account.describe(by: fields)
        if let email = account.email { try context.requireFree(email) }
        if let number = account.phoneNumber, context.directory.account(phone: number) != nil {
            throw .code(.phoneNumberExists)
        }
        return account
    }

    /// Has the new password of `fields` hashed, if there is one, and continues with the accounts at that time.
    ///
    /// - Throws: the faults that the rules for passwords find.
    func withNewPassword(
        _ fields: RequestFields,
        _ context: IdentityContext,
        then: @escaping (StoredPassword?, IdentityContext) throws(IdentityError) -> IdentityStep
    ) throws(IdentityError) -> IdentityStep {
        guard let password = try fields.givenText("password") else {
            return try then(nil, context)
        }
        try context.policy.passwords.check(password)
        return context.hash(password) { stored, context throws(IdentityError) in
            try then(stored, context)
        }
    }
}
