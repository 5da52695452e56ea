import Accounts
import JSONTree
import Tokens

/// The words and the look of `ActionPage`.
enum ActionPageText {
    /// What the page says.
    enum Content {
        case form(Form)
        case done(OneTimeCode.Kind, continueURL: String?)
        /// The code does not count, or no longer.
        case gone
        /// The address is not whole.
        case broken
        /// Another account has the address by now.
        case taken
        case busy
        /// A link to sign in, which only an app can use.
        case openInApp
    }

    /// A form that does what a code is for.
    struct Form {
        let kind: OneTimeCode.Kind
        let secret: String
        let email: String
        let continueURL: String?
        let passwordLength: Int
        /// What was wrong with what was sent before.
        let complaint: String?
    }

    static func page(_ content: Content) -> ActionPage {
        let (title, body) = text(content)
        return ActionPage(
            html: """
                <!doctype html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="robots" content="noindex">
                <title>\(title)</title>
                <style>\(style)</style>
                </head>
                <body>
                <main>
                <h1>\(title)</h1>
                \(body)
                </main>
                </body>
                </html>

                """
        )
    }

    private static func text(_ content: Content) -> (title: String, body: String) {
        switch content {
        case .form(let form): formText(form)
        case .done(let kind, let url): (doneTitle(kind), doneText(kind) + link(url))
        case .gone:
            (
                "This link no longer works",
                "<p>It has been used, or it is too old. Ask the app for a new one.</p>"
            )
        case .broken:
            (
                "This link is not whole",
                "<p>Copy all of it from the e-mail into the address bar.</p>"
            )
        case .taken:
            (
                "This address is in use",
                "<p>Another account has this e-mail address by now. Nothing has been changed.</p>"
            )
        case .busy:
            ("Too much to do", "<p>Go back and try again in a moment.</p>")
        case .openInApp:
            (
                "Open this link in the app",
                "<p>It signs you in where you asked for it: open it on that device, in the app.</p>"
            )
        }
    }

    private static func formText(_ form: Form) -> (title: String, body: String) {
        let email = "<strong>\(escaped(form.email))</strong>"
        let (title, words, button) =
            switch form.kind {
            case .passwordReset:
                ("Choose a new password", "for \(email)", "Save the new password")
            case .verifyAndChangeEmail:
                ("Use this e-mail address", "\(email) becomes your e-mail address.", "Use it")
            case .recoverEmail:
                (
                    "Take your e-mail address back",
                    "\(email) becomes your e-mail address again. If you did not change it, "
                        + "choose a new password afterwards.", "Take it back"
                )
            default:
                ("Verify your e-mail address", "\(email) is your e-mail address.", "Verify it")
            }
        var fields = hidden("mode", form.kind.mode) + hidden("oobCode", form.secret)
        if let url = form.continueURL { fields += hidden("continueUrl", url) }
        if form.kind == .passwordReset { fields += passwordField(form) }
        let complaint = form.complaint.map {
            "<p class=\"complaint\" role=\"alert\">\(escaped($0))</p>\n"
        }
        return (
            title,
            """
            <p>\(words)</p>
            \(complaint ?? "")<form method="post" action="action">
            \(fields)<button>\(button)</button>
            </form>
            """
        )
    }

    private static func passwordField(_ form: Form) -> String {
        """
        <label for="password">New password</label>
        <input id="password" name="newPassword" type="password" required autofocus \
        autocomplete="new-password" minlength="\(form.passwordLength)">

        """
    }

    private static func hidden(_ name: String, _ value: String) -> String {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(escaped(value))\">\n"
    }

    private static func doneTitle(_ kind: OneTimeCode.Kind) -> String {
        switch kind {
        case .passwordReset: "Your password is changed"
        case .verifyAndChangeEmail: "Your e-mail address is changed"
        case .recoverEmail: "Your e-mail address is back"
        default: "Your e-mail address is verified"
        }
    }

    private static func doneText(_ kind: OneTimeCode.Kind) -> String {
        switch kind {
        case .passwordReset: "<p>You are signed out everywhere. Sign in with the new one.</p>"
        case .verifyAndChangeEmail, .recoverEmail:
            "<p>You are signed out everywhere. Sign in with this address.</p>"
        default: "<p>You can close this page.</p>"
        }
    }

    private static func link(_ url: String?) -> String {
        guard let url else { return "" }
        return "\n<p><a href=\"\(escaped(url))\" rel=\"noreferrer\">Continue</a></p>"
    }

    /// Text escaped for HTML, also inside an attribute.
    private static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// `sha256-...`, by which the policy knows the style.
    static let styleDigest: String = {
        let digest = SHA256Digest.of(Array(style.utf8))
        return "sha256-" + Base64.encode(digest, .standard, isPadded: true)
    }()

    private static let style = """
        :root{color-scheme:light dark;--ink:#1d1b16;--paper:#faf8f3;--card:#fff;--line:#d9d4c7;\
        --button:#9a3412;--on:#fff;--bad:#a11212}
        @media (prefers-color-scheme:dark){:root{--ink:#ece8de;--paper:#171511;--card:#211e19;\
        --line:#403b31;--button:#f0a070;--on:#1d1b16;--bad:#ff9b8f}}
        *{box-sizing:border-box}
        body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;\
        background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
        main{width:100%;max-width:26rem;padding:2rem;background:var(--card);\
        border:1px solid var(--line);border-radius:12px;overflow-wrap:anywhere}
        h1{margin:0 0 .5rem;font-size:1.4rem;line-height:1.25}
        p{margin:.5rem 0 1rem}
        label{display:block;margin-bottom:.25rem;font-weight:600}
        input{width:100%;padding:.65rem .75rem;margin-bottom:1rem;font:inherit;color:inherit;\
        background:var(--paper);border:1px solid var(--line);border-radius:8px}
        button{width:100%;padding:.75rem;font:inherit;font-weight:600;cursor:pointer;\
        color:var(--on);background:var(--button);border:0;border-radius:8px}
        :focus-visible{outline:3px solid var(--button);outline-offset:2px}
        a{color:var(--button)}
        .complaint{color:var(--bad);font-weight:600}
        """
}
