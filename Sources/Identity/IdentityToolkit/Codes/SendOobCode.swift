import Accounts
import JSONTree
import Tokens

extension IdentityRequest {
    /// `accounts:sendOobCode`: an email with a link, or for an administrator the link itself (`returnOobLink`).
    ///
    /// Refuses first what needs no look at an account. With the guard on, the answer and the work are the same with and
    /// without an account: without a recipient, an unsent code is kept.
    func sendOobCode(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let order = try CodeOrder(self, context)
        switch order.kind {
        case .emailSignIn, .passwordReset: return .answer(try order.byEmail(fields, context))
        case .verifyEmail, .verifyAndChangeEmail:
            // As the service does: an administrator names the account, a user shows a token.
            if order.isForAdmin, try fields.text("idToken") == nil {
                let email = try fields.requiredEmail("email", .missingEmail)
                guard let account = context.directory.account(email: email) else {
                    throw .code(.userNotFound)
                }
                return .answer(try order.verify(account, fields, context))
            }
            return try context.identify(fields) {
                (account, token, context) throws(IdentityError) in
                // The email goes to the holder of the token.
                if order.kind == .verifyAndChangeEmail {
                    try context.requireRecentSignIn(token)
                }
                return .answer(try order.verify(account, fields, context))
            }
        case .recoverEmail, .phone: throw .notImplemented("This requestType")
        }
    }
}

extension IdentityContext {
    /// As `addRecovery`, if `new` no longer has the address of `old`, for any reason.
    ///
    /// In production: development does it, like the official emulator, only for `update` with `email`.
    func addRecovery(of old: Account, unlessKeptBy new: Account, to answer: inout IdentityAnswer) {
        guard !policy.isDevelopment, old.email != nil, new.email != old.email else { return }
        addRecovery(of: old, to: &answer)
    }

    /// Has a link sent to the address that an account had before `account` took another one, by which that can be taken
    /// back.
    ///
    /// Nothing is sent where nothing can be, when the account had no address, or when that has been sent as many links
    /// within an hour as count at a time: those do the same.
    func addRecovery(of old: Account, to answer: inout IdentityAnswer) {
        guard policy.deliversCodes, directory.hasRoomForCode,
            // The official emulator writes to the first address of all, which may belong to another person by now.
            let email = policy.isDevelopment ? old.initialEmail ?? old.email : old.email,
            !directory.isFlooded(.recoverEmail, subject: email, now: now)
        else { return }
        let order = CodeOrder(.recoverEmail)
        order.issue(email: email, account: old, to: &answer, self)
    }
}

/// A requested code.
private struct CodeOrder {
    let kind: OneTimeCode.Kind
    var continueURL: String?
    var apiKey: String?
    /// Whether the code is returned to the caller, an administrator.
    var isReturned = false
    var isForAdmin = false

    init(_ kind: OneTimeCode.Kind) {
        self.kind = kind
    }

    /// Reads a request.
    init(_ request: IdentityRequest, _ context: IdentityContext) throws(IdentityError) {
        let (fields, policy) = (request.fields, context.policy)
        kind = try fields.codeKind()
        isForAdmin = request.isAdmin
        apiKey = request.query["key"].flatMap { $0.isEmpty ? nil : $0 }
        if try fields.flag("returnOobLink") == true {
            guard request.isAdmin else { throw .code(.insufficientPermission) }
            isReturned = true
        }
        if let url = try fields.givenText("continueUrl") {
            try ContinueURL.check(url, policy)
            continueURL = url
        }
        if let domain = try fields.givenText("linkDomain") {
            try ActionLink.check(domain: domain, context)
        }
        if !isReturned { try policy.requireDelivery() }
        switch kind {
        case .emailSignIn:
            guard policy.methods.contains(.emailLink) else { throw .code(.operationNotAllowed) }
        case .passwordReset:
            guard policy.methods.contains(.password) else { throw .code(.passwordLoginDisabled) }
        default: break
        }
    }

    // MARK: - By kind

    /// For the person with an address: a link to sign in, or to choose a new password.
    func byEmail(
        _ fields: RequestFields,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        let email = try fields.requiredEmail("email", .missingEmail)
        let account = context.directory.account(email: email)
        // A person who may not make an account does not need an email without one.
        let mayBegin = kind == .emailSignIn && (context.policy.isSignUpOpen || isForAdmin)
        let isWelcome = account.map { !$0.isDisabled } ?? mayBegin
        if !isWelcome, !hides(context) {
            throw .code(account == nil ? .emailNotFound : .userDisabled)
        }
        return try answer(email: email, account: account, isWelcome: isWelcome, context)
    }

    func verify(
        _ account: Account,
        _ fields: RequestFields,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        var newEmail: String?
        if kind == .verifyAndChangeEmail {
            newEmail = try fields.requiredEmail("newEmail", .missingNewEmail)
        }
        guard let email = account.email else { throw .code(.missingEmail) }
        // Limits on attempts use the address of the request; here it comes from the account.
        let subject = kind == .verifyEmail ? email : account.uid
        let isFlooded = context.directory.isFlooded(kind, subject: subject, now: context.now)
        if isFlooded, !isForAdmin, !context.policy.isDevelopment {
            throw .code(.tooManyAttempts)
        }
        let isTaken = newEmail.flatMap { context.directory.account(email: $0) } != nil
        if isTaken, !hides(context) { throw .code(.emailExists) }
        return try answer(
            email: email,
            newEmail: newEmail,
            account: account,
            isWelcome: !isTaken,
            context
        )
    }

    private func hides(_ context: IdentityContext) -> Bool {
        context.policy.guardsEmails && !isForAdmin
    }

    // MARK: - The code

    private func answer(
        email: String,
        newEmail: String? = nil,
        account: Account?,
        isWelcome: Bool,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        guard context.directory.hasRoomForCode else { throw .code(.tooManyAttempts) }
        var body = JSONMembers(kind: "GetOobConfirmationCodeResponse")
        body.add("email", email)
        var answer = IdentityAnswer(body)
        issue(
            email: email,
            newEmail: newEmail,
            account: isWelcome ? account : nil,
            isSent: isWelcome,
            to: &answer,
            context
        )
        return answer
    }

    /// Makes the code and has it sent, or keeps it from everybody.
    func issue(
        email: String,
        newEmail: String? = nil,
        account: Account?,
        isSent: Bool = true,
        to answer: inout IdentityAnswer,
        _ context: IdentityContext
    ) {
        // As long as those of the service.
        let secret = context.randomName(54)
        let code = OneTimeCode(
            secret: secret,
            kind: kind,
            uid: account?.uid,
            email: email,
            newEmail: newEmail,
            validSince: account?.validSince,
            isUnsent: !isSent,
            now: context.now
        )
        answer.changes.add(context.directory.adding(code, now: context.now))
        guard isSent else { return }
        let link = ActionLink.text(
            kind,
            code: secret,
            apiKey: apiKey,
            continueURL: continueURL,
            context
        )
        if isReturned {
            answer.body.add("oobCode", secret)
            answer.body.add("oobLink", link)
        }
        let message = OneTimeMessage(
            kind: kind.rawValue,
            email: email,
            newEmail: newEmail,
            code: secret,
            link: link,
            isReturned: isReturned,
            expiresAt: code.expiresAt
        )
        answer.events.append(.deliver(message))
    }
}

extension IdentityPolicy {
    /// Refuses what has a code sent where none can be.
    func requireDelivery() throws(IdentityError) {
        guard !deliversCodes else { return }
        throw .notAllowed(
            "This server cannot send codes; --accounts-webhook and --public-url let it."
        )
    }
}

extension RequestFields {
    /// `requestType`, by name or by its number. Source: Identity Toolkit API, `OobReqType`.
    func codeKind() throws(IdentityError) -> OneTimeCode.Kind {
        switch try text("requestType") {
        case nil, "", "0", "OOB_REQ_TYPE_UNSPECIFIED": throw .code(.missingReqType)
        case "1", "PASSWORD_RESET": return .passwordReset
        case "4", "VERIFY_EMAIL": return .verifyEmail
        case "6", "EMAIL_SIGNIN": return .emailSignIn
        case "7", "VERIFY_AND_CHANGE_EMAIL": return .verifyAndChangeEmail
        case "2", "3", "5", "8", "OLD_EMAIL_AGREE", "NEW_EMAIL_ACCEPT", "RECOVER_EMAIL",
            "REVERT_SECOND_FACTOR_ADDITION":
            throw .notImplemented("This requestType")
        default: throw .invalidPayload("Invalid value at 'requestType' (TYPE_ENUM).")
        }
    }
}
