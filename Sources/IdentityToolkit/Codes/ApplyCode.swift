import Accounts

extension IdentityToolkit {
    /// `accounts:update` with `oobCode`: an address is verified, changed, or taken back.
    static func applyCode(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let secret = try request.fields.required("oobCode", .missingOOBCode)
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
        var answer = IdentityAnswer(told(account, code))
        answer.replace(old, by: account, in: context.directory)
        answer.changes.add(context.directory.removing(code))
        if account.validSince != old.validSince {
            answer.events = [.revoked(uid: account.uid, issuedBefore: account.validSince)]
        }
        // What takes an address back is not taken back in turn.
        if code.kind == .verifyAndChangeEmail {
            addRecovery(of: old, unlessKeptBy: account, to: &answer, context)
        }
        return .answer(answer)
    }

    /// Gives an account an address that its user has just proved to read.
    private static func takeEmail(
        _ email: String,
        _ account: inout Account,
        _ context: IdentityContext
    ) throws(IdentityError) {
        if let other = context.directory.account(email: email), other.uid != account.uid {
            throw .code(.emailExists)
        }
        if account.initialEmail == nil { account.initialEmail = account.email }
        account.email = email
        account.isEmailVerified = true
        account.revoke(at: context.now)
    }

    private static func told(_ account: Account, _ code: OneTimeCode) -> JSONMembers {
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#SetAccountInfoResponse")
        body.add("localId", account.uid)
        body.add("email", account.email)
        body.add("emailVerified", .boolean(account.isEmailVerified))
        body.add("displayName", account.displayName)
        body.add("photoUrl", account.photoURL)
        if account.password != nil {
            body.add("passwordHash", Account.hiddenPasswordHash)
        }
        body.add("providerUserInfo", .list(account.providerObjects))
        body.add("newEmail", code.newEmail)
        return body
    }
}
