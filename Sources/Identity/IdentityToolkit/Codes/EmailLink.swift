import Accounts
import JSONTree

extension IdentityRequest {
    /// `accounts:signInWithEmailLink`: signs in by the code of an email, or links the address to the account of
    /// `idToken`.
    func signInWithEmailLink(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard context.policy.methods.contains(.emailLink) else { throw .code(.operationNotAllowed) }
        guard try fields.text("idToken") != nil else {
            return try signIn(fields, nil, context)
        }
        return try context.identify(fields) {
            (account, token, context) throws(IdentityError) in
            try context.requireRecentSignIn(token, toChange: account)
            return try signIn(fields, account, context)
        }
    }

    private func signIn(
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
            account.shutOutMaker(at: context.now)
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
        let body: JSONMembers = [
            "email": .string(email), "localId": .string(account.uid),
            "isNewUser": .boolean(old == nil),
        ]
        var answer = IdentityAnswer(JSONMembers(kind: "EmailLinkSigninResponse", body))
        answer.events = events
        if let holder { context.addRecovery(of: holder, unlessKeptBy: account, to: &answer) }
        answer.changes.add(context.directory.removing(code))
        return .answer(answer.signingIn(old, as: account, provider: "password", context))
    }
}
