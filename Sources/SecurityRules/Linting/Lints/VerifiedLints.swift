/// Lints of what a caller says of themselves and nobody has proven.
extension Lint {
    static let verifiedLints = [unverifiedEmail]

    /// A test that the e-mail address of the token must pass, with nothing around it that asks whether the address is verified:
    /// (a) in any rule against a text, a pattern or a wildcard; (b) in `.read` and `.write` against stored data.
    ///
    /// It is quiet where `auth.token.email_verified` is known to be true, where the rule looks at the provider (some verify each address), for
    /// (b) and wildcards where the uid is asked for as well, and in a `.validate` that only writes come to which ask for it.
    private static let unverifiedEmail = Lint(
        code: .unverifiedEmail,
        summary: "A right that rests on an e-mail address that nobody has verified.",
        reason: """
            Anybody can sign up with an address that is not theirs, such as 'boss@corp.com', and is signed in before any mail is answered. \
            Only 'auth.token.email_verified == true', beside the test and joined to it by '&&', says that the caller reads the mail of that address. \
            Dots in a pattern and 'contains()' are doubtful by themselves: 'x@corp.com.example.org' contains '@corp.com'.
            """,
        wrong: """
            {
              "rules": {
                "staff": {
                  ".read": "auth.token.email.endsWith('@corp.com')"
                }
              }
            }
            """,
        right: """
            {
              "rules": {
                "staff": {
                  ".read": "auth.token.email_verified == true && auth.token.email.endsWith('@corp.com')"
                }
              }
            }
            """,
        find: { tree in
            tree.rules.flatMap { rule in
                var findings: [Finding] = []
                if !rule.expression.contains(where: \.isEmail) || rule.asksForVerified {
                    return findings
                }
                rule.flow.visitAtoms(rule.expression, true, rule.knownFacts) { atom in
                    guard !atom.facts.isEqual(.emailVerified, to: .boolean(true)),
                        rule.restsOnEmail(atom)
                    else { return }
                    findings.append(
                        Finding(
                            rule.offset(of: atom.expression),
                            "Anybody can sign up with an e-mail address that is not theirs: this believes it unverified.",
                            "Begin with auth.token.email_verified == true &&."
                        )
                    )
                }
                return findings
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

    /// Whether it is `auth.token.email`, or that with letters or characters replaced.
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

    /// Whether a part of the rule comes to its outcome only for some addresses that somebody chose.
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
    /// Whether only one user can be meant, whatever the address.
    fileprivate var isOneUser: Bool { isDecided(.uid) }
}
