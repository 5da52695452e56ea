import Accounts

extension IdentityToolkit {
    /// `accounts:signInWithEmailLink`: signs in by the code of a letter, or links the address to the account of `idToken`.
    static func signInWithEmailLink(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        guard context.policy.methods.contains(.emailLink) else { throw .code(.operationNotAllowed) }
        guard try request.fields.text("idToken") != nil else {
            return try signIn(request.fields, nil, context)
        }
        return try identify(request.fields, context) {
            (account, token, context) throws(IdentityError) in
            try requireRecentSignIn(token, toChange: account, context)
            return try signIn(request.fields, account, context)
        }
    }

    private static func signIn(
        _ fields: RequestFields,
        _ holder: Account?,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let email = try fields.requiredEmail("email", .missingEmail)
        let code = try context.linkCode(try fields.required("oobCode", .missingOOBCode))
        guard code.kind == .emailSignIn else { throw .code(.invalidOOBCode) }
        guard code.email == email else {
            throw .otherLinkAddress
        }
        let known = context.directory.account(email: email)
        if let holder, let known, holder.uid != known.uid { throw .code(.emailExists) }
        let old = holder ?? known
        guard old != nil || context.policy.isSignUpOpen else { throw .code(.adminOnlyOperation) }
        guard old?.isDisabled != true else { throw .code(.userDisabled) }
        var account = old ?? Account(uid: context.newUID(), createdAt: context.now)
        var events: [AccountEvent] = []
        if holder == nil, let old, !old.isEmailVerified, !context.policy.isDevelopment {
            // Whoever made this account never showed that the address is theirs, and who signs in now does.
            account.password = nil
            account.passwordUpdatedAt = nil
            account.federated = []
            account.phoneNumber = nil
            account.revoke(at: context.now)
            events.append(.revoked(uid: account.uid, issuedBefore: account.validSince))
        }
        if let holder, holder.email != email {
            account.initialEmail = holder.initialEmail ?? holder.email
            account.revoke(at: context.now)
            events.append(.revoked(uid: account.uid, issuedBefore: account.validSince))
        }
        account.email = email
        account.isEmailVerified = true
        account.hasEmailLinkSignIn = true
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#EmailLinkSigninResponse")
        body.add("email", email)
        body.add("localId", account.uid)
        body.add("isNewUser", .boolean(old == nil))
        var answer = IdentityAnswer(body)
        answer.events = events
        if let holder { addRecovery(of: holder, unlessKeptBy: account, to: &answer, context) }
        answer.changes.add(context.directory.removing(code))
        return .answer(answer.signingIn(old, as: account, provider: "password", context))
    }
}

extension IdentityAnswer {
    /// The same answer with the sign-in of `account`, which takes the place of `old`.
    func signingIn(
        _ old: Account?,
        as account: Account,
        provider: String,
        _ context: IdentityContext
    ) -> IdentityAnswer {
        var answer = self
        let (account, grant) = IdentityToolkit.signedIn(account, provider: provider, context)
        answer.replace(old, by: account, in: context.directory)
        answer.grant = grant
        answer.events.append(.signedIn(uid: account.uid))
        return answer
    }
}
