import Accounts
import JSONTree

/// `GET /emulator/action`: the e-mail link in development. It executes the link at once, so that a test or a developer
/// needs only the link. Source: Firebase Auth Emulator.
extension IdentityRequest {
    func emulatorAction(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        func parameter(_ name: String) -> String? {
            query[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard parameter("apiKey") != nil else {
            return refuse("missing apiKey query parameter", "Add &apiKey=KEY to the address.")
        }
        guard let secret = parameter("oobCode") else {
            return refuse("missing oobCode query parameter", "Add &oobCode=CODE to the address.")
        }
        guard let kind = OneTimeCode.Kind(mode: parameter("mode")) else {
            return refuse("Invalid mode", nil)
        }
        let url = ContinueURL.allowed(parameter("continueUrl"), context.policy)
        if kind == .emailSignIn { return .answer(signInRedirect(url)) }
        // The mode must be that of the code, even if the code could do more.
        guard let code = context.directory.code(secret), code.kind == kind else {
            return .answer(gone(kind))
        }
        let password = parameter("newPassword") ?? Self.placeholder
        if kind == .passwordReset, password == Self.placeholder {
            return .answer(passwordMissing(context))
        }
        let step = follow(code, secret, newPassword: password, context)
        return step.ending({ outcome, _ in end(outcome, kind, code, url) }, context)
    }

    private func refuse(_ text: String, _ instructions: String?) -> IdentityStep {
        .answer(message("error", text, instructions))
    }

    /// Stands in an address where a password belongs.
    private static let placeholder = "NEW_PASSWORD_HERE"

    private func end(
        _ outcome: Result<IdentityAnswer, IdentityError>,
        _ kind: OneTimeCode.Kind,
        _ code: OneTimeCode,
        _ url: String?
    ) -> IdentityAnswer {
        switch outcome {
        case .failure(let error):
            let isGone = error == .code(.invalidOOBCode) || error == .code(.expiredOOBCode)
            return isGone ? gone(kind) : message("error", error.message, nil)
        case .success(let done):
            let isChange = kind == .verifyAndChangeEmail
            let email = isChange ? ("newEmail", code.newEmail) : ("email", code.email)
            var answer = message("success", successText(kind), nil, email)
            answer.changes = done.changes
            answer.events = done.events
            if let url, kind != .recoverEmail {
                answer.status = 303
                answer.location = url
                answer.body = JSONMembers()
            }
            return answer
        }
    }

    private func successText(_ kind: OneTimeCode.Kind) -> String {
        switch kind {
        case .passwordReset: "The password has been successfully updated."
        case .verifyAndChangeEmail: "The email has been successfully changed."
        case .recoverEmail: "The email has been successfully reset."
        default: "The email has been successfully verified."
        }
    }

    /// On to the app, with the code: that signs in.
    private func signInRedirect(_ url: String?) -> IdentityAnswer {
        guard let url else {
            return message(
                "error",
                "Missing continueUrl query parameter",
                "Add &continueUrl=URL of your app to the link to sign in."
            )
        }
        var answer = IdentityAnswer()
        answer.status = 303
        answer.location = ActionLink.adding(parameters(without: "continueUrl"), to: url)
        return answer
    }

    private func passwordMissing(_ context: IdentityContext) -> IdentityAnswer {
        let isAbsent = self.query["newPassword"] != Self.placeholder
        let query = ActionLink.query(parameters(without: "newPassword"))
        let link = "\(context.address)\(ActionLink.emulatorPath)?\(query)"
        return message(
            "error",
            isAbsent
                ? "missing newPassword query parameter"
                : "newPassword must be something other than '\(Self.placeholder)'",
            "Ask for the address in urlTemplate, with the new password in it.",
            ("urlTemplate", "\(link)&newPassword=\(Self.placeholder)")
        )
    }

    /// The parameters of the address but one, by their names.
    private func parameters(without name: String) -> [(String, String)] {
        query.filter { $0.key != name }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func gone(_ kind: OneTimeCode.Kind) -> IdentityAnswer {
        let (what, advice) =
            switch kind {
            case .passwordReset: ("reset your password", "Try resetting your password again.")
            case .verifyAndChangeEmail: ("change your email", "Try changing your email again.")
            case .recoverEmail: ("revert your email", "Change the email again for a new link.")
            default: ("verify your email", "Try verifying your email again.")
            }
        return message(
            "error",
            "Your request to \(what) has expired or the link has already been used.",
            advice
        )
    }

    /// `{"authEmulator": {...}}`, status 400 for an error.
    private func message(
        _ name: String,
        _ text: String,
        _ instructions: String?,
        _ more: (String, String?)? = nil
    ) -> IdentityAnswer {
        var inner: JSONMembers = [name: .string(text), "instructions": .text(instructions)]
        if let more { inner.add(more.0, more.1) }
        var answer = IdentityAnswer(["authEmulator": inner.value])
        answer.status = name == "error" ? 400 : 200
        return answer
    }
}
