package import Passwords

/// What the realm allows.
package struct IdentityPolicy: Sendable, Equatable {
    /// Whether emulator conventions hold: unsigned tokens, codes that can be read.
    package var isDevelopment = false
    /// The project, which is the audience of ID tokens.
    package var project = "hearth"
    /// `iss` and `aud` of ID tokens.
    package var issuer = "https://securetoken.google.com/hearth"
    package var audience = "hearth"
    package var methods: Set<SignInMethod> = Set(SignInMethod.allCases)
    /// Whether every client may make an account; else only an administrator.
    package var isSignUpOpen = true
    package var passwords = PasswordRules()
    package var cost = PasswordCost.standard
    /// Whether answers hide if an address has an account.
    package var guardsEmails = false
    /// Whether codes can be sent to people.
    package var deliversCodes = true
    /// The origins that e-mail links may continue to, such as `https://app.example.com`; any in development.
    package var continueOrigins: Set<String> = []

    package init() {}

    /// `iss` of a project's ID tokens, where no other is set. Source: Firebase Authentication, "Verify ID tokens".
    package static func issuer(of project: String) -> String {
        "https://securetoken.google.com/\(project)"
    }

    /// A way to sign in that can be switched off.
    package enum SignInMethod: String, Sendable, CaseIterable {
        case password, anonymous, custom, phone
        case emailLink = "email-link"
    }

    /// What a new password must have.
    package struct PasswordRules: Sendable, Equatable {
        /// Characters. Source: Identity Toolkit API: at least 6, at most 4,096.
        package var lengths = 6...4096
        package var required: Set<CharacterKind> = []
    }

    package enum CharacterKind: String, Sendable, CaseIterable {
        case lowercase, uppercase, digit, symbol
    }
}
