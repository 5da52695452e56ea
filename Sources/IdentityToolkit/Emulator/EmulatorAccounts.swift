import Accounts
import JSONTree

/// What tests ask a development server for. Source: Firebase Auth Emulator, `emulator/v1`.
extension IdentityToolkit {
    /// `DELETE .../accounts`: all accounts and codes go; service accounts stay.
    ///
    /// O(accounts): all who are signed in are shut out.
    static func deleteAllAccounts(_ context: IdentityContext) -> IdentityStep {
        var answer = IdentityAnswer()
        let root = context.directory.root
        for name in [
            "accounts", "emails", "phones", "federated", "codes", "codeSubjects", "codeExpiries",
            "untoldCodes", "removals",
        ] where !root.member(name).isAbsent {
            answer.changes.set(.absent, at: Path([AccountDirectory.key(name)]))
        }
        root.member("accounts").visitChildren { key, _ in
            answer.events.append(.shutOut(uid: AccountKey.text(Key(key).string)))
            return true
        }
        return .answer(answer)
    }

    /// `GET, PATCH .../config`.
    static func emulatorConfig(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        var policy = context.policy
        var events: [AccountEvent] = []
        if request.verb == "PATCH" {
            let signIn = RequestFields(request.fields.node("signIn"))
            if try signIn.flag("allowDuplicateEmails") == true {
                throw .notImplemented("allowDuplicateEmails")
            }
            let privacy = RequestFields(request.fields.node("emailPrivacyConfig"))
            if let isOn = try privacy.flag("enableImprovedEmailPrivacy") {
                policy.guardsEmails = isOn
                events = [.policyChanged(policy)]
            }
        }
        var body = JSONMembers()
        body.add(
            "signIn",
            .object([JSONValue.Member("allowDuplicateEmails", .boolean(false))])
        )
        let privacy = JSONValue.Member(
            "enableImprovedEmailPrivacy",
            .boolean(policy.guardsEmails)
        )
        body.add("emailPrivacyConfig", .object([privacy]))
        var answer = IdentityAnswer(body)
        answer.events = events
        return .answer(answer)
    }

    /// `GET .../oobCodes`: the codes of letters that still count.
    static func emulatorOobCodes(_ context: IdentityContext) -> IdentityStep {
        let open = context.messages.filter { message in
            message.sessionInfo == nil && context.isOpen(message.code)
        }
        return .answer(
            listing("oobCodes", open) { message in
                var object = JSONMembers()
                object.add("email", message.email)
                object.add("newEmail", message.newEmail)
                object.add("oobCode", message.code)
                object.add("oobLink", message.link)
                object.add("requestType", message.kind)
                return object.value
            }
        )
    }

    /// `GET .../verificationCodes`: the digits for phones that still count.
    static func emulatorVerificationCodes(_ context: IdentityContext) -> IdentityStep {
        let open = context.messages.filter { message in
            message.sessionInfo.map(context.isOpen) ?? false
        }
        return .answer(
            listing("verificationCodes", open) { message in
                var object = JSONMembers()
                object.add("code", message.code)
                object.add("phoneNumber", message.phoneNumber)
                object.add("sessionInfo", message.sessionInfo)
                return object.value
            }
        )
    }

    private static func listing(
        _ name: String,
        _ messages: [OneTimeMessage],
        _ object: (OneTimeMessage) -> JSONValue
    ) -> IdentityAnswer {
        var body = JSONMembers()
        body.add(name, .list(messages.map(object)))
        return IdentityAnswer(body)
    }
}

extension IdentityContext {
    fileprivate func isOpen(_ secret: String) -> Bool {
        directory.code(secret).map { !$0.isExpired(at: now) } ?? false
    }
}
