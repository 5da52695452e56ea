import Accounts
import JSONTree

extension IdentityRequest {
    /// `accounts:resetPassword`: returns the purpose of a link's code, or with `newPassword` resets the password.
    ///
    /// The user with the code has read the email: the address is verified from then on, other sign-in methods
    /// (identities at providers) are removed, and all earlier sign-ins end.
    func resetPassword(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard context.policy.methods.contains(.password) else {
            throw .code(.passwordLoginDisabled)
        }
        let secret = try fields.required("oobCode", .missingOOBCode)
        let code = try context.linkCode(secret)
        guard let password = try fields.text("newPassword"), !password.isEmpty else {
            return .answer(try inspection(of: code, context))
        }
        guard code.kind == .passwordReset else { throw .code(.invalidOOBCode) }
        _ = try context.holder(of: code)
        try context.policy.passwords.check(password)
        return context.hash(password) { stored, context throws(IdentityError) in
            // Both may have changed while the password was hashed.
            let code = try context.linkCode(secret)
            var account = try context.holder(of: code)
            let old = account
            account.set(stored, at: context.now)
            // The creator of an account without a verified address may have linked a phone to it.
            if !old.isEmailVerified { account.phoneNumber = nil }
            account.isEmailVerified = true
            account.federated = []
            account.revoke(at: context.now)
            var answer = IdentityAnswer(members(code))
            answer.replace(old, by: account, in: context.directory)
            answer.changes.add(context.directory.removing(code))
            answer.events = [.revoked(uid: account.uid, issuedBefore: account.validSince)]
            return .answer(answer)
        }
    }

    /// The purpose of a code, which stays valid.
    private func inspection(
        of code: OneTimeCode,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        // The link of a sign-in may exist before the account.
        if code.kind != .emailSignIn { _ = try context.holder(of: code) }
        return IdentityAnswer(members(code))
    }

    private func members(_ code: OneTimeCode) -> JSONMembers {
        var body = JSONMembers(kind: "ResetPasswordResponse")
        body.add("requestType", code.kind.rawValue)
        // A sign-in needs the address from the person: the link alone must not reveal it.
        if code.kind != .emailSignIn { body.add("email", code.email) }
        body.add("newEmail", code.newEmail)
        return body
    }
}
