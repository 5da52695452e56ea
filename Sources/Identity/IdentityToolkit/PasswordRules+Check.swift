extension IdentityPolicy.PasswordRules {
    /// Characters that count as symbols. Source: Identity Platform, "Enable password policies".
    package static let symbols = "^$*.[]{}()?\"!@#%&/\\,><':;|_~"

    /// Checks a new password.
    ///
    /// - Throws: `WEAK_PASSWORD` for a short one, `PASSWORD_DOES_NOT_MEET_REQUIREMENTS` with all that it lacks for
    ///   others: SDKs know both, and fetch the rules again (`v2/passwordPolicy`) for the second.
    package func check(_ password: String) throws(IdentityError) {
        let characterCount = password.unicodeScalars.count
        guard characterCount >= lengths.lowerBound else {
            throw .code(
                .weakPassword,
                "Password should be at least \(lengths.lowerBound) characters"
            )
        }
        var missing: [String] = []
        if characterCount > lengths.upperBound {
            missing.append("Password may contain at most \(lengths.upperBound) characters")
        }
        for kind in IdentityPolicy.CharacterKind.allCases where required.contains(kind) {
            guard !password.unicodeScalars.contains(where: kind.contains) else { continue }
            missing.append("Password must contain \(kind.name) character")
        }
        guard missing.isEmpty else {
            let list = missing.joined(separator: ", ")
            throw .code(
                .passwordDoesNotMeetRequirements,
                "Missing password requirements: [\(list)]"
            )
        }
    }
}

extension IdentityPolicy.CharacterKind {
    /// As in the SDKs: ASCII letters and digits, and `PasswordRules.symbols`.
    fileprivate func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .lowercase: ("a"..."z").contains(scalar)
        case .uppercase: ("A"..."Z").contains(scalar)
        case .digit: ("0"..."9").contains(scalar)
        case .symbol: IdentityPolicy.PasswordRules.symbols.unicodeScalars.contains(scalar)
        }
    }

    fileprivate var name: String {
        switch self {
        case .lowercase: "a lower case"
        case .uppercase: "an upper case"
        case .digit: "a numeric"
        case .symbol: "a non-alphanumeric"
        }
    }
}
