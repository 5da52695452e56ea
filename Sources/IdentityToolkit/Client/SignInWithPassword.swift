import Accounts
import Passwords

extension IdentityToolkit {
    /// `accounts:signInWithPassword`.
    static func signInWithPassword(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let fields = request.fields
        guard context.policy.methods.contains(.password) else {
            throw .code(.passwordLoginDisabled)
        }
        guard let text = try fields.text("email") else { throw .code(.missingEmail) }
        let email = try address(text)
        guard let password = try fields.givenText("password") else {
            throw .code(.missingPassword)
        }
        for name in ["idToken", "pendingIdToken"] {
            guard try fields.givenText(name) == nil else {
                throw .notImplemented("Signing in with '\(name)'")
            }
        }
        return try compare(Array(password.utf8), email, triesLeft: 3, context)
    }

    /// Holds the password against that of the account with this address. Where addresses are guarded, as much is
    /// done for one that has no account, and the same is said.
    private static func compare(
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
                // What was compared is no longer what counts: somebody else has changed it meanwhile, or renewed it.
                guard account?.password == stored else {
                    guard triesLeft > 1 else { throw .tooManyPasswords }
                    return try compare(password, email, triesLeft: triesLeft - 1, context)
                }
                return try signIn(account, outcome, context)
            }
        }
    }

    private static func signIn(
        _ account: Account?,
        _ outcome: PasswordOutcome,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        guard let old = account, old.password != nil, case .right(let renewed) = outcome else {
            throw .code(context.policy.guardsEmails ? .invalidLoginCredentials : .invalidPassword)
        }
        // Only who knows the password is told.
        guard !old.isDisabled else { throw .code(.userDisabled) }
        var (account, grant) = signedIn(old, provider: "password", context)
        if let renewed { account.password = renewed }
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#VerifyPasswordResponse")
        body.add("registered", .boolean(true))
        body.add("localId", account.uid)
        body.add("email", account.email)
        body.add("displayName", account.displayName)
        body.add("photoUrl", account.photoURL)
        var answer = IdentityAnswer(body)
        answer.replace(old, by: account, in: context.directory)
        answer.grant = grant
        answer.events = [.signedIn(uid: account.uid)]
        return .answer(answer)
    }
}
