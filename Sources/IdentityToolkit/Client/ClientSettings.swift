extension IdentityToolkit {
    /// `projects`: what clients may know of the realm.
    static func projectConfig(_ context: IdentityContext) -> IdentityStep {
        var body = JSONMembers()
        body.add("projectId", context.policy.project)
        var domains: [JSONValue] = [.string("localhost")]
        let host = hostName(of: context.address)
        if host != "localhost" { domains.append(.string(host)) }
        body.add("authorizedDomains", .list(domains))
        return .answer(IdentityAnswer(body))
    }

    /// `recaptchaParams`: there is no reCAPTCHA here, and nothing that looks like a key of one.
    static func recaptchaParams() -> IdentityStep {
        var body = JSONMembers()
        body.add("kind", "identitytoolkit#GetRecaptchaParamResponse")
        body.add("recaptchaStoken", "hearth-has-no-recaptcha")
        body.add("recaptchaSiteKey", "hearth-has-no-recaptcha")
        return .answer(IdentityAnswer(body))
    }

    /// `recaptchaConfig`: it is enforced for nothing. SDKs want the name of a key, of four parts.
    static func recaptchaConfig(_ context: IdentityContext) -> IdentityStep {
        var body = JSONMembers()
        body.add("recaptchaKey", "projects/\(context.policy.project)/keys/none")
        body.add("recaptchaEnforcementState", .list([]))
        return .answer(IdentityAnswer(body))
    }

    /// `passwordPolicy`: the rules for new passwords, by which SDKs check them before they send them.
    static func passwordPolicy(_ context: IdentityContext) -> IdentityStep {
        let rules = context.policy.passwords
        var options = JSONMembers()
        options.add("minPasswordLength", .integer(Int64(rules.lengths.lowerBound)))
        options.add("maxPasswordLength", .integer(Int64(rules.lengths.upperBound)))
        for (kind, name) in [
            (IdentityPolicy.CharacterKind.lowercase, "containsLowercaseCharacter"),
            (.uppercase, "containsUppercaseCharacter"), (.digit, "containsNumericCharacter"),
            (.symbol, "containsNonAlphanumericCharacter"),
        ] where rules.required.contains(kind) {
            options.add(name, .boolean(true))
        }
        let symbols = IdentityPolicy.PasswordRules.symbols.map { JSONValue.string(String($0)) }
        var body = JSONMembers()
        body.add("customStrengthOptions", options.value)
        body.add("allowedNonAlphanumericCharacters", .list(symbols))
        let isStrict = rules != IdentityPolicy.PasswordRules()
        body.add("enforcementState", isStrict ? "ENFORCE" : "OFF")
        body.add("schemaVersion", .integer(1))
        return .answer(IdentityAnswer(body))
    }

    /// The host of an address like `https://db.example.com:443`.
    private static func hostName(of address: String) -> String {
        let authority = address.split(separator: "/").dropFirst().first ?? ""
        if authority.hasPrefix("[") { return String(authority.prefix { $0 != "]" }) + "]" }
        return String(authority.prefix { $0 != ":" })
    }
}
