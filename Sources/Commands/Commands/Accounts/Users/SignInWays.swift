import JSONTree

/// The sign-in methods of an account in a file.
struct SignInWays: Equatable {
    var hasEmail = false
    var hasPassword = false
    var hasPhoneNumber = false
    var isCustom = false
    var providers: [String] = []

    /// Why no one can sign in with this account at a server that accepts `taken`; nil if it is possible.
    ///
    /// A custom token opens any account that an administrator's program names. It counts only if the account
    /// says it has been opened so before.
    func fault(at taken: TakenSignIn) -> String? {
        let password = taken.methods.contains("password")
        let custom = taken.methods.contains("custom")
        let isOpen =
            password && hasPassword && hasEmail
            || taken.methods.contains("email-link") && hasEmail
            || taken.methods.contains("phone") && hasPhoneNumber
            || taken.takesProviders && !providers.isEmpty || custom && isCustom
        if isOpen { return nil }
        var causes: [String] = []
        if hasPassword {
            causes.append(
                hasEmail
                    ? "the server takes no passwords (--sign-in)"
                    : "its password has no e-mail address beside it"
            )
        }
        if hasPhoneNumber { causes.append("the server takes no phone numbers (--sign-in)") }
        if !providers.isEmpty {
            causes.append("the server does not serve \(providers.joined(separator: ", "))")
        }
        if causes.isEmpty { causes.append("it has no password, phone number or provider") }
        let remedy =
            hasEmail && password
            ? "'hearth users reset ADDRESS' makes a link for a password"
            : custom ? "only a custom token opens it" : "nothing opens it"
        return "cannot sign in: \(causes.joined(separator: ", ")); \(remedy)"
    }
}

/// The sign-in data that a server accepts.
struct TakenSignIn: Equatable {
    /// As `--sign-in` names them.
    let methods: Set<String>
    /// Whether other providers are served.
    let takesProviders: Bool
}
