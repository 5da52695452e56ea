import SecurityRules

/// Lints of unproven claims of callers about themselves.
extension Lint {
    static let verifiedLints = [unverifiedEmail]

    /// A test of the token's e-mail address, without a test whether the address is verified: (a) in any rule against a
    /// text, a pattern or a wildcard; (b) in `.read` and `.write` against stored data.
    ///
    /// No warning where `auth.token.email_verified` is known to be true, where the rule tests the provider (some verify
    /// each address), for (b) and wildcards where the uid is tested as well, and in a `.validate` that is reached only
    /// by writes that test it.
    private static let unverifiedEmail = Lint(
        code: .unverifiedEmail,
        summary: "A right that rests on an e-mail address that is not verified.",
        reason: """
            Anybody can sign up with an address that is not theirs, such as 'boss@corp.com', and is signed in before any mail is answered. \
            Only 'auth.token.email_verified == true', beside the test and joined to it by '&&', says that the caller reads the mail of that address. \
            Dots in a pattern and 'contains()' are doubtful by themselves: 'x@corp.com.example.org' contains '@corp.com'.
            """,
        wrong: "/staff .read auth.token.email.endsWith('@corp.com')",
        right: """
            /staff .read auth.token.email_verified == true && auth.token.email.endsWith('@corp.com')
            """,
        find: partsOfEachRule { rule in
            if !rule.expression.contains(where: \.isEmail) || rule.asksForVerified {
                return [Finding]()
            }
            return rule.findings(rule.knownFacts) { atom in
                guard !atom.facts.isEqual(.emailVerified, to: .boolean(true)),
                    rule.restsOnEmail(atom)
                else { return nil }
                return rule.finding(
                    at: atom.expression,
                    "Anybody can sign up with an e-mail address that is not theirs: this believes it unverified.",
                    "Begin with auth.token.email_verified == true &&."
                )
            }
        }
    )
}

extension Term {
    /// The claim that the address of the token is verified.
    fileprivate static let emailVerified = Term(base: .auth, path: ["token", "email_verified"])
}

extension Expression {
    /// Whether it is `auth.token.email`.
    fileprivate var isEmail: Bool {
        guard case .member(let token, "email", _) = kind,
            case .member(let auth, "token", _) = token.kind,
            case .name("auth") = auth.kind
        else { return false }
        return true
    }

    /// Whether it is `auth.token.email`, or that with its case changed or characters replaced.
    fileprivate var isMadeOfEmail: Bool {
        if isEmail { return true }
        guard case .call(let callee, _) = kind, case .member(let base, let name, _) = callee.kind,
            ["replace", "toLowerCase", "toUpperCase"].contains(name)
        else { return false }
        return base.isMadeOfEmail
    }
}

extension LintRule {
    /// Whether the rule looks at the provider, or is a `.validate` that a `.write` on its way asks for a verified address.
    fileprivate var asksForVerified: Bool {
        func names(_ member: String, _ rule: LintRule) -> Bool {
            rule.expression.contains {
                if case .member(_, member, _) = $0.kind { true } else { false }
            }
        }
        if names("sign_in_provider", self) || names("provider", self) { return true }
        guard kind == .validate else { return false }
        return ([node] + node.ancestors + node.descendants).compactMap(\.write)
            .contains { names("email_verified", $0) }
    }

    /// Whether a part of the rule has its outcome only for some chosen addresses.
    fileprivate func restsOnEmail(_ atom: RuleFlow.Atom) -> Bool {
        switch atom.expression.kind {
        case .binary(let symbol, let left, let right):
            guard symbol == .equal || symbol == .notEqual, (symbol == .equal) == atom.outcome else {
                return false
            }
            return [(left, right), (right, left)].contains { side, other in
                side.isMadeOfEmail && isChosen(other, atom.facts)
                    || Literal(other).map { $0 != .null } ?? false && isLookedUp(side, atom.facts)
            }
        case .call(let callee, let arguments):
            guard atom.outcome, case .member(let base, let name, _) = callee.kind else {
                return false
            }
            if ["contains", "beginsWith", "endsWith", "matches"].contains(name) {
                return base.isMadeOfEmail && !arguments.contains { $0.names("newData") }
            }
            return (name == "exists" || name == "hasChild")
                && isLookedUp(atom.expression, atom.facts)
        default: return false
        }
    }

    /// Whether an expression that the address equals says whose address is meant: a text, or, unless the rule asks for one user anyway, a
    /// wildcard or stored data.
    private func isChosen(_ expression: Expression, _ facts: Facts) -> Bool {
        if case .string = expression.kind { return true }
        if kind == .validate || facts.isOneUser { return false }
        if case .name(let name) = expression.kind { return name.hasPrefix("$") }
        return flow.reader.term(expression).base == .old
    }

    /// Whether an expression looks into stored data at a key that is the address.
    private func isLookedUp(_ expression: Expression, _ facts: Facts) -> Bool {
        if kind == .validate || facts.isOneUser { return false }
        return expression.contains { piece in
            guard case .call(let callee, let arguments) = piece.kind,
                case .member(let base, let name, _) = callee.kind,
                name == "child" || name == "hasChild"
            else { return false }
            return flow.reader.snapshot(base)?.base == .old
                && arguments.contains { $0.contains(where: \.isEmail) }
        }
    }
}

extension Facts {
    /// Whether only one user can be meant, for any address.
    fileprivate var isOneUser: Bool { isDecided(.uid) }
}
