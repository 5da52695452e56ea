import Accounts
import JSONTree
import Passwords

extension IdentityRequest {
    /// `accounts:signInWithPassword`.
    func signInWithPassword(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard context.policy.methods.contains(.password) else {
            throw .code(.passwordLoginDisabled)
        }
        guard let text = try fields.text("email") else { throw .code(.missingEmail) }
        let email = try EmailAddress.checked(text)
        let password = try fields.required("password", .missingPassword)
        for name in ["idToken", "pendingIdToken"] {
            guard try fields.givenText(name) == nil else {
                throw .notImplemented("Signing in with '\(name)'")
            }
        }
        return try compare(Array(password.utf8), email, triesLeft: 3, context)
    }

    /// Compares the password with that of the account with this address. Where addresses are guarded, as much is
    /// done for one that has no account, and the same is said.
    private func compare(
        _ password: [UInt8],
        _ email: String,
        triesLeft: Int,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let account = context.directory.account(email: email)
        if account == nil, !context.policy.guardsEmails { throw .code(.emailNotFound) }
        let stored = account?.password
        let work = PasswordWork.verify(
            password: password,
            stored,
            context.directory.hashing(for: stored),
            context.policy.cost
        )
        return .password(work) { outcome, context in
            .attempt { () throws(IdentityError) in
                if outcome == .busy { throw .tooManyPasswords }
                let account = context.directory.account(email: email)
                // The compared hash is no longer current: another request has changed or renewed it.
                guard account?.password == stored else {
                    guard triesLeft > 1 else { throw .tooManyPasswords }
                    return try compare(password, email, triesLeft: triesLeft - 1, context)
                }
                return try signIn(account, outcome, context)
            }
        }
    }

    private func signIn(
        _ account: Account?,
        _ outcome: PasswordOutcome,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        guard let old = account, old.password != nil, case .right(let renewed) = outcome else {
            throw .code(context.policy.guardsEmails ? .invalidLoginCredentials : .invalidPassword)
        }
        // Only a client that knows the password learns this.
        guard !old.isDisabled else { throw .code(.userDisabled) }
        var account = old
        if let renewed { account.password = renewed }
        let body = JSONMembers(
            kind: "VerifyPasswordResponse",
            [
                "registered": .boolean(true), "localId": .string(account.uid),
                "email": .text(account.email), "displayName": .text(account.displayName),
                "photoUrl": .text(account.photoURL),
            ]
        )
        let answer = IdentityAnswer(body)
        return .answer(answer.signingIn(old, as: account, provider: "password", context))
    }
}
