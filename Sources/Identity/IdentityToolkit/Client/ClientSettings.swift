import JSONTree

extension IdentityRequest {
    /// `projects`: what clients may know of the realm.
    func projectConfig(_ context: IdentityContext) -> IdentityStep {
        var domains: [JSONValue] = ["localhost"]
        let host = hostName(of: context.address)
        if host != "localhost" { domains.append(.string(host)) }
        return .answer([
            "projectId": .string(context.policy.project), "authorizedDomains": .list(domains),
        ])
    }

    /// `recaptchaParams`: there is no reCAPTCHA here, and no key for one.
    func recaptchaParams() -> IdentityStep {
        let none: JSONMembers = [
            "recaptchaStoken": "hearth-has-no-recaptcha",
            "recaptchaSiteKey": "hearth-has-no-recaptcha",
        ]
        return .answer(JSONMembers(kind: "GetRecaptchaParamResponse", none))
    }

    /// `recaptchaConfig`: it is enforced for nothing. SDKs want the name of a key, of four parts.
    func recaptchaConfig(_ context: IdentityContext) -> IdentityStep {
        .answer([
            "recaptchaKey": .string("projects/\(context.policy.project)/keys/none"),
            "recaptchaEnforcementState": .list([]),
        ])
    }

    /// `passwordPolicy`: the rules for new passwords, by which SDKs check them before they send them.
    func passwordPolicy(_ context: IdentityContext) -> IdentityStep {
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
        let isStrict = rules != IdentityPolicy.PasswordRules()
        return .answer([
            "customStrengthOptions": options.value,
            "allowedNonAlphanumericCharacters": .list(symbols),
            "enforcementState": isStrict ? "ENFORCE" : "OFF", "schemaVersion": .integer(1),
        ])
    }

    /// The host of an address like `https://db.example.com:443`.
    private func hostName(of address: String) -> String {
        let authority = address.split(separator: "/").dropFirst().first ?? ""
        if authority.hasPrefix("[") { return String(authority.prefix { $0 != "]" }) + "]" }
        return String(authority.prefix { $0 != ":" })
    }
}
