import Accounts
import JSONTree

extension IdentityRequest {
    /// `accounts:sendVerificationCode`: six digits to a phone; the answer has the session that they belong to.
    ///
    /// As many sessions as `OneTimeCode.Kind.openLimit` says are open for a number at a time. In production the next
    /// one is refused until one has expired, which limits guesses and the cost of messages; in development the oldest
    /// is removed.
    func sendVerificationCode(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let policy = context.policy
        guard policy.methods.contains(.phone) else { throw .code(.operationNotAllowed) }
        try policy.requireDelivery()
        guard let text = try fields.text("phoneNumber"),
            let number = PhoneNumber.normalized(text)
        else { throw .code(.invalidPhoneNumber, "Invalid format.") }
        let directory = context.directory
        let openCount = directory.openCodeCount(.phone, subject: number, now: context.now)
        guard policy.isDevelopment || openCount < OneTimeCode.Kind.phone.openLimit,
            directory.hasRoomForCode
        else { throw .code(.tooManyAttempts) }
        let secret = context.randomName(64)
        let digits = context.randomText(6, of: "0123456789")
        let account = directory.account(phone: number)
        let code = OneTimeCode(
            secret: secret,
            kind: .phone,
            uid: account?.uid,
            phoneNumber: number,
            digits: digits,
            now: context.now
        )
        var answer = IdentityAnswer(["sessionInfo": .string(secret)])
        answer.changes = directory.adding(code, now: context.now)
        let message = OneTimeMessage(
            kind: code.kind.rawValue,
            phoneNumber: number,
            code: digits,
            sessionInfo: secret,
            expiresAt: code.expiresAt
        )
        answer.events = [.deliver(message)]
        return .answer(answer)
    }

    /// `accounts:signInWithPhoneNumber`: signs in by the digits that a phone was sent, or links the number to the account
    /// of `idToken`.
    func signInWithPhoneNumber(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard context.policy.methods.contains(.phone) else { throw .code(.operationNotAllowed) }
        guard try fields.text("idToken") != nil else {
            return try signIn(byPhone: fields, nil, context)
        }
        return try context.identify(fields) {
            (account, token, context) throws(IdentityError) in
            try context.requireRecentSignIn(token, toChange: account)
            return try signIn(byPhone: fields, account, context)
        }
    }

    private func signIn(
        byPhone fields: RequestFields,
        _ holder: Account?,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let session = try fields.required("sessionInfo", .missingSessionInfo)
        let digits = try fields.required("code", .missingCode)
        let directory = context.directory
        guard var code = directory.code(session), code.kind == .phone,
            let number = code.phoneNumber
        else { throw .code(.invalidSessionInfo) }
        guard !code.isExpired(at: context.now), let triesLeft = code.triesLeft, triesLeft > 0 else {
            throw .code(.sessionExpired)
        }
        guard code.isProved(by: digits, secret: session) else {
            code.triesLeft = triesLeft - 1
            let changes = directory.replacing(code)
            return .answer(IdentityAnswer(refusing: .code(.invalidCode), changes))
        }
        let used = directory.removing(code)
        let known = directory.account(phone: number)
        let old = holder ?? known
        if let refusal = try refusal(fields, holder: holder, known: known, context) {
            return .answer(IdentityAnswer(refusing: refusal, used))
        }
        var account = old ?? Account(uid: context.newUID(), createdAt: context.now)
        account.phoneNumber = number
        var answer = IdentityAnswer([
            "isNewUser": .boolean(old == nil), "phoneNumber": .string(number),
            "localId": .string(account.uid),
        ])
        answer.changes = used
        return .answer(answer.signingIn(old, as: account, provider: "phone", context))
    }

    /// Why correct digits do not sign in.
    private func refusal(
        _ fields: RequestFields,
        holder: Account?,
        known: Account?,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityError? {
        if let holder, let known, holder.uid != known.uid { return .code(.phoneNumberExists) }
        guard let account = holder ?? known else {
            // A repeated proof makes no account. Source: Identity Toolkit API, `VerifyOp`.
            let operation = try fields.text("operation")
            if operation == "REAUTH" || operation == "3" { return .code(.userNotFound) }
            return context.policy.isSignUpOpen ? nil : .code(.adminOnlyOperation)
        }
        return account.isDisabled ? .code(.userDisabled) : nil
    }
}
