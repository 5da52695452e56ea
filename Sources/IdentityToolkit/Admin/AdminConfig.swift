import JSONTree

extension IdentityToolkit {
    /// `v2/projects/P/config`: what the server was told, in the words of the service.
    ///
    /// GET tells it. PATCH changes nothing: settings are those of the command line, the environment or the file, and a
    /// value that differs is refused with the name of the one to set; what says the same as they do is taken.
    static func config(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let members = ConfigMember.all(context.policy)
        if request.verb == "PATCH" {
            for (path, node) in leaves(request.fields.body, []) {
                let name = path.joined(separator: ".")
                if name == "name" { continue }
                guard let member = members.first(where: { $0.path == path }) else {
                    throw .code(.invalidConfig, "\(name) is nothing that this server has.")
                }
                guard member.value.isEqual(to: node) else {
                    throw .code(.invalidConfig, "\(name) is \(member.origin)")
                }
            }
        }
        var body = JSONMembers()
        body.add("name", "projects/\(request.route.project ?? context.policy.project)/config")
        for member in object(members[...], depth: 0) { body.add(member.name, member.value) }
        return .answer(IdentityAnswer(body))
    }

    /// The members of an object: those whose paths have the same name at `depth` stand in a row and become one.
    private static func object(
        _ members: ArraySlice<ConfigMember>,
        depth: Int
    ) -> [JSONValue.Member] {
        var all: [JSONValue.Member] = []
        var rest = members
        while let first = rest.first {
            let name = first.path[depth]
            let same = rest.prefix { $0.path[depth] == name }
            rest = rest.dropFirst(same.count)
            all.append(JSONValue.Member(name, value(same, first, depth: depth + 1)))
        }
        return all
    }

    private static func value(
        _ members: ArraySlice<ConfigMember>,
        _ first: ConfigMember,
        depth: Int
    ) -> JSONValue {
        if first.path.count == depth { return first.value.json }
        let isList = first.path[depth] == "0"
        let inner = object(members, depth: depth)
        return isList ? .list(inner.map { $0.value }) : .object(inner)
    }

    private static func leaves(_ node: Node, _ path: [String]) -> [(path: [String], node: Node)] {
        guard node.isMap else { return node.isAbsent ? [] : [(path, node)] }
        var all: [(path: [String], node: Node)] = []
        node.visitChildren { key, child in
            all += leaves(child, path + [Key(key).string])
            return true
        }
        return all
    }
}

/// One member of the configuration: its place in the object, what it says, and what sets it.
private struct ConfigMember {
    let path: [String]
    let value: Value
    /// Says where it comes from: `a setting of the server: --sign-in.`
    let origin: String

    enum Value {
        case flag(Bool)
        case number(Int)
        case text(String)

        var json: JSONValue {
            switch self {
            case .flag(let flag): .boolean(flag)
            case .number(let number): .integer(Int64(number))
            case .text(let text): .string(text)
            }
        }

        func isEqual(to node: Node) -> Bool {
            switch self {
            case .flag(let flag): node.boolean == flag
            case .number(let number): node.integer == Int64(number)
            case .text(let text): node.string == text
            }
        }
    }

    init(_ path: String, _ value: Value, setting: String?) {
        self.path = path.split(separator: ".").map { String($0) }
        self.value = value
        origin = setting.map { "a setting of the server: --\($0)." } ?? "so on every Hearth server."
    }

    /// All of them, members of one object in a row. Source of the names: Identity Platform API, `Config`.
    static func all(_ policy: IdentityPolicy) -> [ConfigMember] {
        func signIn(_ method: IdentityPolicy.SignInMethod) -> Value {
            .flag(policy.methods.contains(method))
        }
        let email =
            policy.methods.contains(.password) || policy.methods.contains(.emailLink)
        let rules = "passwordPolicyConfig.passwordPolicyVersions.0.customStrengthOptions"
        return [
            ConfigMember("signIn.email.enabled", .flag(email), setting: "sign-in"),
            ConfigMember(
                "signIn.email.passwordRequired",
                .flag(!policy.methods.contains(.emailLink)),
                setting: "sign-in"
            ),
            ConfigMember("signIn.phoneNumber.enabled", signIn(.phone), setting: "sign-in"),
            ConfigMember("signIn.anonymous.enabled", signIn(.anonymous), setting: "sign-in"),
            ConfigMember("signIn.allowDuplicateEmails", .flag(false), setting: nil),
            ConfigMember(
                "client.permissions.disabledUserSignup",
                .flag(!policy.isSignUpOpen),
                setting: "sign-up"
            ),
            ConfigMember("mfa.state", .text("DISABLED"), setting: nil),
            ConfigMember("multiTenant.allowTenants", .flag(false), setting: nil),
            ConfigMember(
                "emailPrivacyConfig.enableImprovedEmailPrivacy",
                .flag(policy.guardsEmails),
                setting: "email-guard"
            ),
            ConfigMember(
                "passwordPolicyConfig.passwordPolicyEnforcementState",
                .text("ENFORCE"),
                setting: nil
            ),
            ConfigMember(
                "\(rules).minPasswordLength",
                .number(policy.passwords.lengths.lowerBound),
                setting: "password-length"
            ),
            ConfigMember(
                "\(rules).maxPasswordLength",
                .number(policy.passwords.lengths.upperBound),
                setting: nil
            ),
        ]
            + [
                ("containsLowercaseCharacter", IdentityPolicy.CharacterKind.lowercase),
                ("containsUppercaseCharacter", .uppercase),
                ("containsNumericCharacter", .digit),
                ("containsNonAlphanumericCharacter", .symbol),
            ].map { name, kind in
                ConfigMember(
                    "\(rules).\(name)",
                    .flag(policy.passwords.required.contains(kind)),
                    setting: "password-requires"
                )
            }
    }
}
