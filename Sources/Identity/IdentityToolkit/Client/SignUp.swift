import Accounts
import JSONTree
import Passwords

extension IdentityRequest {
    /// `accounts:signUp`: a new account, with a password or anonymous; or a password for the account of an ID token,
    /// which keeps its uid.
    func signUp(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
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
            email: try EmailAddress.checked(email),
            password: password,
            displayName: try fields.displayName().flatMap { $0.isEmpty ? nil : $0 }
        )
        try context.policy.passwords.check(password)
        if isLinking { return try link(form, fields, context) }
        // Last, so that probing for taken addresses creates an account for each free one.
        try context.requireFree(form.email)
        return create(form, context)
    }

    /// What an account with a password is made of.
    private struct SignUpForm {
        /// Normalised.
        let email: String
        let password: String
        let displayName: String?
    }

    private func signUpAnonymously(
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

    private func create(_ form: SignUpForm, _ context: IdentityContext) -> IdentityStep {
        context.hash(form.password) { stored, context throws(IdentityError) in
            try context.requireFree(form.email)
            var account = Account(uid: context.newUID(), createdAt: context.now)
            account.email = form.email
            account.displayName = form.displayName
            account.set(stored, at: context.now)
            return .answer(signedUp(nil, account, provider: "password", context))
        }
    }

    private func link(
        _ form: SignUpForm,
        _ fields: RequestFields,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        try context.identify(fields) { account, token, context throws(IdentityError) in
            try context.requireRecentSignIn(token, toChange: account)
            try context.requireFree(form.email)
            return context.hash(form.password) { stored, context throws(IdentityError) in
                let old = try context.account(of: token)
                try context.requireRecentSignIn(token, toChange: old)
                try context.requireFree(form.email)
                var account = old
                account.email = form.email
                account.isEmailVerified = false
                account.displayName = form.displayName ?? old.displayName
                account.set(stored, at: context.now)
                account.revoke(at: context.now)
                var answer = signedUp(old, account, provider: "password", context)
                answer.events.insert(
                    .revoked(uid: old.uid, issuedBefore: account.validSince),
                    at: 0
                )
                context.addRecovery(of: old, unlessKeptBy: account, to: &answer)
                return .answer(answer)
            }
        }
    }

    private func signedUp(
        _ old: Account?,
        _ new: Account,
        provider: String,
        _ context: IdentityContext
    ) -> IdentityAnswer {
        IdentityAnswer(new.signUpMembers)
            .signingIn(old, as: new, provider: provider, context)
    }
}

extension Account {
    /// The members of the answer that has made the account.
    var signUpMembers: JSONMembers {
        JSONMembers(
            kind: "SignupNewUserResponse",
            ["localId": .string(uid), "email": .text(email), "displayName": .text(displayName)]
        )
    }
}
