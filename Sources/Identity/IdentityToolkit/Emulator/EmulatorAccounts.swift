import Accounts
import JSONTree

/// Requests of tests to a development server. Source: Firebase Auth Emulator, `emulator/v1`.
extension IdentityRequest {
    /// `DELETE .../accounts`: all accounts and codes go; service accounts stay.
    ///
    /// O(accounts): ends all sign-ins.
    func deleteAllAccounts(_ context: IdentityContext) -> IdentityStep {
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
    func emulatorConfig(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        var policy = context.policy
        var events: [AccountEvent] = []
        if verb == "PATCH" {
            let signIn = RequestFields(fields.node("signIn"))
            if try signIn.flag("allowDuplicateEmails") == true {
                throw .notImplemented("allowDuplicateEmails")
            }
            let privacy = RequestFields(fields.node("emailPrivacyConfig"))
            if let isOn = try privacy.flag("enableImprovedEmailPrivacy") {
                policy.guardsEmails = isOn
                events = [.policyChanged(policy)]
            }
        }
        var answer = IdentityAnswer([
            "signIn": ["allowDuplicateEmails": .boolean(false)],
            "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .boolean(policy.guardsEmails)],
        ])
        answer.events = events
        return .answer(answer)
    }

    /// `GET .../oobCodes`: the codes of emails that are still valid.
    func emulatorOobCodes(_ context: IdentityContext) -> IdentityStep {
        let open = context.messages.filter { message in
            message.sessionInfo == nil && context.isOpen(message.code)
        }
        return .answer([
            "oobCodes": .list(
                open.map { message in
                    [
                        "email": .text(message.email), "newEmail": .text(message.newEmail),
                        "oobCode": .string(message.code), "oobLink": .text(message.link),
                        "requestType": .string(message.kind),
                    ]
                }
            )
        ])
    }

    /// `GET .../verificationCodes`: the digits for phones that still count.
    func emulatorVerificationCodes(_ context: IdentityContext) -> IdentityStep {
        let open = context.messages.filter { message in
            message.sessionInfo.map(context.isOpen) ?? false
        }
        return .answer([
            "verificationCodes": .list(
                open.map { message in
                    [
                        "code": .string(message.code), "phoneNumber": .text(message.phoneNumber),
                        "sessionInfo": .text(message.sessionInfo),
                    ]
                }
            )
        ])
    }
}

extension IdentityContext {
    fileprivate func isOpen(_ secret: String) -> Bool {
        directory.code(secret).map { !$0.isExpired(at: now) } ?? false
    }
}
