import Accounts
import Passwords

extension IdentityToolkit {
    /// `accounts:signUp`: a new account, with a password or anonymous; or a password for the account of an ID token,
    /// which keeps its uid.
    static func signUp(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let fields = request.fields
        guard try fields.givenText("localId") == nil else {
            throw .code(.unexpectedParameter, "User ID")
        }
        let email = try fields.text("email")
        let password = try fields.givenText("password")
        let isLinking = try fields.givenText("idToken") != nil
        guard isLinking || password != nil || email?.isEmpty == false else {
            return try signUpAnonymously(email, context)
        }
        guard let email, !email.isEmpty else { throw .code(.missingEmail) }
        guard let password else { throw .code(.missingPassword) }
        guard context.policy.methods.contains(.password) else {
            throw .notAllowed("Sign-in by password is switched off.")
        }
        guard isLinking || context.policy.isSignUpOpen else { throw .code(.adminOnlyOperation) }
        let form = SignUpForm(
            email: try address(email),
            password: password,
            displayName: try fields.displayName().flatMap { $0.isEmpty ? nil : $0 }
        )
        try context.policy.passwords.check(password)
        if isLinking { return try link(form, fields, context) }
        // Last, so that who asks whether an address is taken makes an account of each that is not.
        try requireFree(form.email, context)
        return create(form, context)
    }

    /// What an account with a password is made of.
    private struct SignUpForm {
        /// Normalised.
        let email: String
        let password: String
        let displayName: String?
    }

    private static func signUpAnonymously(
        _ email: String?,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        guard context.policy.methods.contains(.anonymous) else {
            throw .notAllowed("Anonymous sign-in is switched off.")
        }
        guard context.policy.isSignUpOpen else { throw .code(.adminOnlyOperation) }
        // An empty form is not meant to be anonymous.
        guard email == nil else { throw .code(.invalidEmail) }
        let account = Account(uid: context.newUID(), createdAt: context.now)
        return .answer(signedUp(nil, account, provider: "anonymous", context))
    }

    private static func create(_ form: SignUpForm, _ context: IdentityContext) -> IdentityStep {
        hash(form.password, context) { stored, context throws(IdentityError) in
            try requireFree(form.email, context)
            var account = Account(uid: context.newUID(), createdAt: context.now)
            account.email = form.email
            account.displayName = form.displayName
            account.password = stored
            account.passwordUpdatedAt = context.now
            return .answer(signedUp(nil, account, provider: "password", context))
        }
    }

    private static func link(
        _ form: SignUpForm,
        _ fields: RequestFields,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        try identify(fields, context) { account, token, context throws(IdentityError) in
            try requireRecentSignIn(token, toChange: account, context)
            try requireFree(form.email, context)
            return hash(form.password, context) { stored, context throws(IdentityError) in
                let old = try holder(of: token, context)
                try requireRecentSignIn(token, toChange: old, context)
                try requireFree(form.email, context)
                var account = old
                account.email = form.email
                account.isEmailVerified = false
                account.displayName = form.displayName ?? old.displayName
                account.password = stored
                account.passwordUpdatedAt = context.now
                account.revoke(at: context.now)
                var answer = signedUp(old, account, provider: "password", context)
                answer.events.insert(
                    .revoked(uid: old.uid, issuedBefore: account.validSince),
                    at: 0
                )
                addRecovery(of: old, unlessKeptBy: account, to: &answer, context)
                return .answer(answer)
            }
        }
    }

    private static func signedUp(
        _ old: Account?,
        _ new: Account,
        provider: String,
        _ context: IdentityContext
    ) -> IdentityAnswer {
        let (account, grant) = signedIn(new, provider: provider, context)
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#SignupNewUserResponse")
        body.add("localId", account.uid)
        body.add("email", account.email)
        body.add("displayName", account.displayName)
        var answer = IdentityAnswer(body)
        answer.replace(old, by: account, in: context.directory)
        answer.grant = grant
        answer.events = [.signedIn(uid: account.uid)]
        return answer
    }
}
