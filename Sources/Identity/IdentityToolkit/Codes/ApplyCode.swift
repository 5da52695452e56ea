import Accounts

extension IdentityRequest {
    /// `accounts:update` with `oobCode`: an address is verified, changed, or taken back.
    func applyCode(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let secret = try fields.required("oobCode", .missingOOBCode)
        let code = try context.linkCode(secret)
        let old = try context.holder(of: code)
        var account = old
        switch code.kind {
        case .verifyEmail: account.isEmailVerified = true
        case .verifyAndChangeEmail:
            guard let newEmail = code.newEmail else { throw .code(.invalidOOBCode) }
            try takeEmail(newEmail, &account, context)
        case .recoverEmail:
            guard let email = code.email else { throw .code(.invalidOOBCode) }
            try takeEmail(email, &account, context)
        case .passwordReset, .emailSignIn, .phone: throw .code(.invalidOOBCode)
        }
        var answer = IdentityAnswer(account.updateMembers(newEmail: code.newEmail))
        answer.replace(old, by: account, in: context.directory)
        answer.changes.add(context.directory.removing(code))
        if account.validSince != old.validSince {
            answer.events = [.revoked(uid: account.uid, issuedBefore: account.validSince)]
        }
        // A restored address is not restored again.
        if code.kind == .verifyAndChangeEmail {
            context.addRecovery(of: old, unlessKeptBy: account, to: &answer)
        }
        return .answer(answer)
    }

    /// Gives an account an address that its user has just proved to read.
    private func takeEmail(
        _ email: String,
        _ account: inout Account,
        _ context: IdentityContext
    ) throws(IdentityError) {
        try context.requireFree(email, for: account.uid)
        account.take(email, isVerified: true)
        account.revoke(at: context.now)
    }
}
