import Accounts

/// The page that an e-mail link leads to in production: it shows the action, with a button that does it.
///
/// Mail scanners follow links, so a GET changes nothing. The page loads nothing, runs no script, cannot be framed, and
/// sends no other site its address, which contains the code.
package struct ActionPage: Sendable, Equatable {
    /// A whole document.
    package let html: String

    /// `Content-Security-Policy`: allows its own style by its digest, and forms to this server.
    package static let contentSecurityPolicy =
        "default-src 'none'; style-src '\(ActionPageText.styleDigest)'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'"
}

extension IdentityRequest {
    /// `GET, POST /.accounts/action`; the POST is that of the page's own form.
    func actionPage(_ context: IdentityContext) -> IdentityStep {
        let visit = ActionVisit(self, context)
        return verb == "POST" ? visit.act(self, context) : .answer(visit.show(context))
    }
}

/// The parameters of a visit by a link.
private struct ActionVisit {
    let kind: OneTimeCode.Kind?
    let secret: String
    let password: String
    let continueURL: String?
    private let apiKey: String

    /// Reads the form of a POST or the address of a GET; values that are not text count as missing.
    init(_ request: IdentityRequest, _ context: IdentityContext) {
        let isForm = request.verb == "POST"
        func text(_ name: String) -> String {
            guard isForm else { return request.query[name] ?? "" }
            do throws(IdentityError) { return try request.fields.text(name) ?? "" } catch {
                return ""
            }
        }
        kind = OneTimeCode.Kind(mode: text("mode"))
        secret = text("oobCode")
        password = text("newPassword")
        apiKey = text("apiKey")
        continueURL = ContinueURL.allowed(text("continueUrl"), context.policy)
    }

    /// The page of a GET.
    func show(_ context: IdentityContext) -> IdentityAnswer {
        guard let kind, !secret.isEmpty else { return answer(.broken, 400) }
        if kind == .emailSignIn { return signIn() }
        do throws(IdentityError) {
            let code = try context.linkCode(secret)
            guard code.kind == kind else { return answer(.gone, 400) }
            _ = try context.holder(of: code)
            return answer(form(code, context, nil))
        } catch {
            return answer(.gone, 400)
        }
    }

    /// Executes the form of the page.
    func act(_ request: IdentityRequest, _ context: IdentityContext) -> IdentityStep {
        guard let kind, !secret.isEmpty, kind != .emailSignIn else {
            return .answer(answer(.broken, 400))
        }
        guard let code = context.directory.code(secret), code.kind == kind else {
            return .answer(answer(.gone, 400))
        }
        if kind == .passwordReset, password.isEmpty {
            return .answer(answer(form(code, context, "Write a new password."), 400))
        }
        let step = request.follow(code, secret, newPassword: password, context)
        return step.ending({ outcome, context in end(outcome, code, context) }, context)
    }

    private func end(
        _ outcome: Result<IdentityAnswer, IdentityError>,
        _ code: OneTimeCode,
        _ context: IdentityContext
    ) -> IdentityAnswer {
        switch outcome {
        case .success(var done):
            done.page = ActionPageText.page(.done(code.kind, continueURL: continueURL))
            return done
        case .failure(let error):
            if error.message.hasPrefix(IdentityError.Code.weakPassword.rawValue)
                || error.message.hasPrefix("PASSWORD_DOES_NOT_MEET_REQUIREMENTS")
            {
                let words = error.message.firstRange(of: " : ").map {
                    String(error.message[$0.upperBound...])
                }
                return answer(form(code, context, words ?? error.message), 400)
            }
            if error.status >= 500 { return answer(.busy, error.status) }
            return answer(error == .code(.emailExists) ? .taken : .gone, 400)
        }
    }

    /// On to the app, which signs in by the code and asks for the address.
    private func signIn() -> IdentityAnswer {
        guard let continueURL else { return answer(.openInApp, 200) }
        var answer = answer(.openInApp, 303)
        answer.location = ActionLink.adding(
            [("mode", "signIn"), ("lang", "en"), ("oobCode", secret), ("apiKey", apiKey)],
            to: continueURL
        )
        return answer
    }

    private func form(
        _ code: OneTimeCode,
        _ context: IdentityContext,
        _ complaint: String?
    ) -> ActionPageText.Content {
        .form(
            ActionPageText.Form(
                kind: code.kind,
                secret: secret,
                email: code.newEmail ?? code.email ?? "",
                continueURL: continueURL,
                passwordLength: context.policy.passwords.lengths.lowerBound,
                complaint: complaint
            )
        )
    }

    private func answer(_ content: ActionPageText.Content, _ status: Int = 200) -> IdentityAnswer {
        var answer = IdentityAnswer()
        answer.status = status
        answer.page = ActionPageText.page(content)
        return answer
    }
}
