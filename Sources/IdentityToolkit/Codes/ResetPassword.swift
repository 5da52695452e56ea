import Accounts
import Passwords

extension IdentityToolkit {
    /// `accounts:resetPassword`: what a link's code is for, or with `newPassword` what it is for done.
    ///
    /// Who has the code has read the letter: the address counts as verified from then on, what else could sign in
    /// (identities elsewhere) no longer can, and all earlier sign-ins end.
    static func resetPassword(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        guard context.policy.methods.contains(.password) else {
            throw .code(.passwordLoginDisabled)
        }
        let secret = try request.fields.required("oobCode", .missingOOBCode)
        let code = try context.linkCode(secret)
        guard let password = try request.fields.text("newPassword"), !password.isEmpty else {
            return .answer(try inspection(of: code, context))
        }
        guard code.kind == .passwordReset else { throw .code(.invalidOOBCode) }
        _ = try context.holder(of: code)
        try context.policy.passwords.check(password)
        let work = PasswordWork.hash(password: Array(password.utf8), context.policy.cost)
        return .password(work) { outcome, context in
            .attempt { () throws(IdentityError) in
                guard case .hashed(let stored) = outcome else {
                    throw .unavailable("Too many passwords are being hashed; try again.")
                }
                // Both may have changed while the password was hashed.
                let code = try context.linkCode(secret)
                var account = try context.holder(of: code)
                let old = account
                account.password = stored
                account.passwordUpdatedAt = context.now
                // Whoever made an account without showing that the address is theirs may have linked a phone to it.
                if !old.isEmailVerified { account.phoneNumber = nil }
                account.isEmailVerified = true
                account.federated = []
                account.revoke(at: context.now)
                var answer = IdentityAnswer(told(code))
                answer.replace(old, by: account, in: context.directory)
                answer.changes.add(context.directory.removing(code))
                answer.events = [
                    .revoked(uid: account.uid, issuedBefore: account.validSince)
                ]
                return .answer(answer)
            }
        }
    }

    /// What a code is for, which stays as it is.
    private static func inspection(
        of code: OneTimeCode,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        // The link of a sign-in may come before there is an account.
        if code.kind != .emailSignIn { _ = try context.holder(of: code) }
        return IdentityAnswer(told(code))
    }

    private static func told(_ code: OneTimeCode) -> JSONMembers {
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#ResetPasswordResponse")
        body.add("requestType", code.kind.rawValue)
        // A sign-in wants the address from the person: who has only the link must not learn it.
        if code.kind != .emailSignIn { body.add("email", code.email) }
        body.add("newEmail", code.newEmail)
        return body
    }
}
