import JSONTree

extension IdentityRequest {
    /// `v2/projects/P/config`: the server's settings, in the words of the service.
    ///
    /// GET returns it. PATCH changes nothing: settings are those of the command line, the environment or the file, and
    /// a value that differs is refused with the name of the one to set; an equal value is accepted.
    func config(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let members = ConfigMember.all(context.policy)
        if verb == "PATCH" {
            for (path, node) in leaves(fields.body, []) {
                let name = path.joined(separator: ".")
                if name == "name" { continue }
                guard let member = members.first(where: { $0.path == path }) else {
                    throw .code(.invalidConfig, "\(name) is nothing that this server has.")
                }
                guard member.isEqual(to: node) else {
                    throw .code(.invalidConfig, "\(name) is \(member.origin)")
                }
            }
        }
        let name = "projects/\(route.project ?? context.policy.project)/config"
        var body: JSONMembers = ["name": .string(name)]
        body.all += object(members[...], depth: 0)
        return .answer(body)
    }

    /// `v2/projects/P/tenants`: there are none, and none can be made.
    func tenants() throws(IdentityError) -> IdentityStep {
        guard verb == "GET" else { throw .notImplemented("A tenant") }
        return .answer(["tenants": .list([])])
    }

    /// The members of an object: paths with the same name at `depth` are adjacent and become one.
    private func object(_ members: ArraySlice<ConfigMember>, depth: Int) -> [JSONValue.Member] {
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

    private func value(
        _ members: ArraySlice<ConfigMember>,
        _ first: ConfigMember,
        depth: Int
    ) -> JSONValue {
        if first.path.count == depth { return first.value }
        let isList = first.path[depth] == "0"
        let inner = object(members, depth: depth)
        return isList ? .list(inner.map { $0.value }) : .object(inner)
    }

    private func leaves(_ node: Node, _ path: [String]) -> [(path: [String], node: Node)] {
        guard node.isMap else { return node.isAbsent ? [] : [(path, node)] }
        var all: [(path: [String], node: Node)] = []
        node.visitChildren { key, child in
            all += leaves(child, path + [Key(key).string])
            return true
        }
        return all
    }
}

/// One member of the configuration: its path in the object, its value, and the setting behind it.
private struct ConfigMember {
    let path: [String]
    let value: JSONValue
    /// Names its source: `a setting of the server: --sign-in.`
    let origin: String

    func isEqual(to node: Node) -> Bool {
        switch value {
        case .boolean(let flag): node.boolean == flag
        case .integer(let number): node.integer == number
        case .string(let text): node.string == text
        case .null, .list, .object, .raw: false
        }
    }

    init(_ path: String, _ value: JSONValue, setting: String?) {
        self.path = path.split(separator: ".").map { String($0) }
        self.value = value
        origin = setting.map { "a setting of the server: --\($0)." } ?? "so on every Hearth server."
    }

    /// All of them, members of one object in a row. Source of the names: Identity Platform API, `Config`.
    static func all(_ policy: IdentityPolicy) -> [ConfigMember] {
        func signIn(_ method: IdentityPolicy.SignInMethod) -> JSONValue {
            .boolean(policy.methods.contains(method))
        }
        let hasEmailLink = policy.methods.contains(.emailLink)
        let email = policy.methods.contains(.password) || hasEmailLink
        let lengths = policy.passwords.lengths
        let passwords = "passwordPolicyConfig"
        let rules = passwords + ".passwordPolicyVersions.0.customStrengthOptions"
        func requires(_ kind: IdentityPolicy.CharacterKind) -> JSONValue {
            .boolean(policy.passwords.required.contains(kind))
        }
        let rows: [(path: String, value: JSONValue, setting: String?)] = [
            ("signIn.email.enabled", .boolean(email), "sign-in"),
            ("signIn.email.passwordRequired", .boolean(!hasEmailLink), "sign-in"),
            ("signIn.phoneNumber.enabled", signIn(.phone), "sign-in"),
            ("signIn.anonymous.enabled", signIn(.anonymous), "sign-in"),
            ("signIn.allowDuplicateEmails", .boolean(false), nil),
            ("client.permissions.disabledUserSignup", .boolean(!policy.isSignUpOpen), "sign-up"),
            ("mfa.state", .string("DISABLED"), nil),
            ("multiTenant.allowTenants", .boolean(false), nil),
            (
                "emailPrivacyConfig.enableImprovedEmailPrivacy", .boolean(policy.guardsEmails),
                "email-guard"
            ),
            ("\(passwords).passwordPolicyEnforcementState", .string("ENFORCE"), nil),
            ("\(rules).minPasswordLength", .number(lengths.lowerBound), "password-length"),
            ("\(rules).maxPasswordLength", .number(lengths.upperBound), nil),
            ("\(rules).containsLowercaseCharacter", requires(.lowercase), "password-requires"),
            ("\(rules).containsUppercaseCharacter", requires(.uppercase), "password-requires"),
            ("\(rules).containsNumericCharacter", requires(.digit), "password-requires"),
            ("\(rules).containsNonAlphanumericCharacter", requires(.symbol), "password-requires"),
        ]
        return rows.map { ConfigMember($0.path, $0.value, setting: $0.setting) }
    }
}
