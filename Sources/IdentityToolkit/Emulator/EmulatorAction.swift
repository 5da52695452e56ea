import Accounts

/// `GET /emulator/action`: what a letter's link does in development. It does at once what the link is for, so that a
/// test or a developer needs nothing but the link. Source: Firebase Auth Emulator.
extension IdentityToolkit {
    static func emulatorAction(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        func parameter(_ name: String) -> String? {
            request.query[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard parameter("apiKey") != nil else {
            return .answer(
                told("error", "missing apiKey query parameter", "Add &apiKey=KEY to the address.")
            )
        }
        guard let secret = parameter("oobCode") else {
            return .answer(
                told(
                    "error",
                    "missing oobCode query parameter",
                    "Add &oobCode=CODE to the address."
                )
            )
        }
        guard let kind = OneTimeCode.Kind(mode: parameter("mode")) else {
            return .answer(told("error", "Invalid mode", nil))
        }
        let url = ContinueURL.allowed(parameter("continueUrl"), context.policy)
        if kind == .emailSignIn { return .answer(signInRedirect(request, url)) }
        // The mode must be that of the code, whatever else the code could do.
        guard let code = context.directory.code(secret), code.kind == kind else {
            return .answer(gone(kind))
        }
        let password = parameter("newPassword") ?? placeholder
        if kind == .passwordReset, password == placeholder {
            return .answer(passwordMissing(request, context))
        }
        let step = follow(code, secret, newPassword: password, request, context)
        return step.ending({ outcome, _ in end(outcome, kind, code, url) }, context)
    }

    /// Stands in an address where a password belongs.
    private static let placeholder = "NEW_PASSWORD_HERE"

    private static func end(
        _ outcome: Result<IdentityAnswer, IdentityError>,
        _ kind: OneTimeCode.Kind,
        _ code: OneTimeCode,
        _ url: String?
    ) -> IdentityAnswer {
        switch outcome {
        case .failure(let error):
            let isGone = error == .code(.invalidOOBCode) || error == .code(.expiredOOBCode)
            return isGone ? gone(kind) : told("error", error.message, nil)
        case .success(let done):
            var answer: IdentityAnswer
            if kind == .verifyAndChangeEmail {
                answer = told(
                    "success",
                    "The email has been successfully changed.",
                    nil,
                    ("newEmail", code.newEmail)
                )
            } else {
                answer = told("success", successText(kind), nil, ("email", code.email))
            }
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

    private static func successText(_ kind: OneTimeCode.Kind) -> String {
        switch kind {
        case .passwordReset: "The password has been successfully updated."
        case .recoverEmail: "The email has been successfully reset."
        default: "The email has been successfully verified."
        }
    }

    /// On to the app, with the code: that signs in.
    private static func signInRedirect(_ request: IdentityRequest, _ url: String?) -> IdentityAnswer
    {
        guard let url else {
            return told(
                "error",
                "Missing continueUrl query parameter",
                "Add &continueUrl=URL of your app to the link to sign in."
            )
        }
        var parameters: [(String, String)] = []
        for (name, value) in request.query.sorted(by: { $0.key < $1.key })
        where name != "continueUrl" {
            parameters.append((name, value))
        }
        var answer = IdentityAnswer()
        answer.status = 303
        answer.location = ActionLink.adding(parameters, to: url)
        return answer
    }

    private static func passwordMissing(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) -> IdentityAnswer {
        let isAbsent = request.query["newPassword"] != placeholder
        let parameters = request.query.sorted { $0.key < $1.key }
            .filter { $0.key != "newPassword" }.map { ($0.key, $0.value) }
        let link = context.address + ActionLink.emulatorPath + "?" + ActionLink.query(parameters)
        return told(
            "error",
            isAbsent
                ? "missing newPassword query parameter"
                : "newPassword must be something other than '\(placeholder)'",
            "Ask for the address in urlTemplate, with the new password in it.",
            ("urlTemplate", "\(link)&newPassword=\(placeholder)")
        )
    }

    private static func gone(_ kind: OneTimeCode.Kind) -> IdentityAnswer {
        let (what, advice) =
            switch kind {
            case .passwordReset: ("reset your password", "Try resetting your password again.")
            case .verifyAndChangeEmail: ("change your email", "Try changing your email again.")
            case .recoverEmail: ("revert your email", "Change the email again for a new link.")
            default: ("verify your email", "Try verifying your email again.")
            }
        return told(
            "error",
            "Your request to \(what) has expired or the link has already been used.",
            advice
        )
    }

    /// `{"authEmulator": {...}}`, status 400 for an error.
    private static func told(
        _ name: String,
        _ text: String,
        _ instructions: String?,
        _ more: (String, String?)? = nil
    ) -> IdentityAnswer {
        var inner = JSONMembers()
        inner.add(name, text)
        inner.add("instructions", instructions)
        if let more { inner.add(more.0, more.1) }
        var body = JSONMembers()
        body.add("authEmulator", inner.value)
        var answer = IdentityAnswer(body)
        answer.status = name == "error" ? 400 : 200
        return answer
    }
}
