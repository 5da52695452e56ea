/// The meaning of an identity request's address: all hosts of the service are prefixes on one port.
///
///     /identitytoolkit.googleapis.com/v1/accounts:signUp         as JS SDKs and Admin SDKs call an emulator
///     /identitytoolkit.googleapis.com/v1/projects/P/accounts     for administrators
///     /v1/accounts:signUp                                        the same without the host
///     /www.googleapis.com/identitytoolkit/v3/relyingparty/X      as iOS SDKs call it
///     /securetoken.googleapis.com/v1/token                       refresh tokens
///     /emulator/v1/projects/P/...                                for tests, in development
package struct IdentityRoute: Equatable, Sendable {
    /// The page that e-mail links lead to, `/.accounts/action`.
    package static let actionPage = IdentityRoute(.actionPage)

    package let method: IdentityMethod
    /// The project that the address names; with one, only administrators may call.
    package var project: String?
    /// The tenant that the address names.
    package var tenant: String?

    /// Reads the decoded segments of a path; nil for an address outside this service. An unknown address with one of
    /// its prefixes is the method `unknown`.
    package init?(_ segments: [String]) {
        if let known = IdentityRoute(known: segments) {
            self = known
        } else {
            guard let first = segments.first, Self.prefixes.contains(first) else { return nil }
            self.init(.unknown)
        }
    }

    private static let prefixes = [
        "identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com",
        "v1", "v2", "emulator",
    ]

    private init?(known segments: [String]) {
        var rest = segments[...]
        switch rest.first {
        case "identitytoolkit.googleapis.com":
            rest = rest.dropFirst()
        case "securetoken.googleapis.com":
            guard rest.dropFirst() == ["v1", "token"] else { return nil }
            self.init(.token)
            return
        case "www.googleapis.com":
            guard rest.count == 5,
                rest.dropFirst().starts(with: ["identitytoolkit", "v3", "relyingparty"]),
                let name = rest.last, let method = IdentityMethod.legacyNames[name]
            else { return nil }
            self.init(method)
            return
        case "emulator":
            self.init(emulator: rest.dropFirst())
            return
        default: break
        }
        guard let version = rest.popFirst(), version == "v1" || version == "v2" else { return nil }
        guard rest.first == "projects", rest.count > 1 else {
            let name = rest.joined(separator: "/")
            guard let method = IdentityMethod(name: "\(version)/\(name)") else { return nil }
            self.init(method)
            return
        }
        self.init(projectOf: rest.dropFirst(), version)
    }

    private init(_ method: IdentityMethod, project: String? = nil, tenant: String? = nil) {
        self.method = method
        self.project = project
        self.tenant = tenant
    }

    /// `P/accounts:update`, `P:createSessionCookie`, `P/tenants/T/accounts`, ...
    private init?(projectOf segments: ArraySlice<String>, _ version: String) {
        guard let first = segments.first else { return nil }
        let parts = first.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let project = String(parts[0])
        guard !project.isEmpty else { return nil }
        var rest = Array(segments.dropFirst())
        var tenant: String?
        if parts.count == 2 {
            rest = [":" + parts[1]] + rest
        } else if rest.first == "tenants", rest.count > 1 {
            tenant = rest[1]
            if rest.count > 2 { rest.removeFirst(2) }
        }
        let name = rest.joined(separator: "/")
        guard let method = IdentityMethod(projectName: "\(version)/\(name)") else { return nil }
        self.init(method, project: project, tenant: tenant)
    }

    /// `v1/projects/P/oobCodes`, `action`, ...
    private init?(emulator segments: ArraySlice<String>) {
        if segments == ["action"] {
            self.init(.emulatorAction)
            return
        }
        guard segments.count == 4 || segments.count == 6,
            segments.starts(with: ["v1", "projects"]), let last = segments.last,
            let method = IdentityMethod.emulatorNames[last]
        else { return nil }
        let rest = Array(segments)
        self.init(method, project: rest[2], tenant: rest.count == 6 ? rest[4] : nil)
    }
}

/// The methods of the service.
package enum IdentityMethod: String, Sendable, CaseIterable {
    // For clients.
    case signUp, signInWithPassword, signInWithCustomToken, signInWithEmailLink, signInWithIdp
    case sendVerificationCode, signInWithPhoneNumber
    case lookup, update, delete, sendOobCode, resetPassword, createAuthUri
    case token
    case projectConfig, recaptchaParams, recaptchaConfig, passwordPolicy
    case mfa
    // For people with a link.
    case actionPage
    /// Not a method of the service: cannot be called.
    case unknown
    // For administrators.
    case adminCreate, adminLookup, adminUpdate, adminDelete, adminSendOobCode
    case batchDelete, batchGet, batchCreate, query, createSessionCookie
    case config, tenants, providerConfigs
    // In development.
    case emulatorAccounts, emulatorConfig, emulatorOobCodes, emulatorVerificationCodes
    case emulatorAction

    /// Who may call it.
    package enum Audience: Sendable {
        /// Every client with an API key, of any value.
        case clients
        /// Everyone: only the code counts.
        case people
        case administrators
        /// Everyone who reaches a development server.
        case development
    }

    package var audience: Audience {
        switch self {
        case .signUp, .signInWithPassword, .signInWithCustomToken, .signInWithEmailLink,
            .signInWithIdp, .sendVerificationCode, .signInWithPhoneNumber, .lookup, .update,
            .delete, .sendOobCode, .resetPassword, .createAuthUri, .token, .projectConfig,
            .recaptchaParams, .recaptchaConfig, .passwordPolicy, .mfa:
            .clients
        case .actionPage, .unknown: .people
        case .adminCreate, .adminLookup, .adminUpdate, .adminDelete, .adminSendOobCode,
            .batchDelete, .batchGet, .batchCreate, .query, .createSessionCookie, .config,
            .tenants, .providerConfigs:
            .administrators
        case .emulatorAccounts, .emulatorConfig, .emulatorOobCodes, .emulatorVerificationCodes,
            .emulatorAction:
            .development
        }
    }

    /// Whether it only asks, whatever HTTP method it takes.
    package var isQuestion: Bool {
        switch self {
        case .adminLookup, .batchGet, .query: true
        default: false
        }
    }

    /// Bytes of a body. An ID token is the largest of what a client sends; an import has 1,000 accounts.
    package var bodyByteLimit: Int {
        switch self {
        case .batchCreate: 16 << 20
        case .batchDelete, .adminLookup: 1 << 20
        default: 64 << 10
        }
    }

    /// The HTTP methods that it accepts.
    package var verbs: [String] {
        switch self {
        case .projectConfig, .recaptchaParams, .recaptchaConfig, .passwordPolicy,
            .emulatorOobCodes, .emulatorVerificationCodes, .emulatorAction:
            ["GET"]
        // The older family posts to it.
        case .batchGet: ["GET", "POST"]
        case .emulatorAccounts: ["DELETE"]
        case .unknown: []
        case .actionPage: ["GET", "HEAD", "POST"]
        case .emulatorConfig, .config: ["GET", "PATCH"]
        case .tenants, .providerConfigs: ["GET", "POST", "PATCH", "DELETE"]
        default: ["POST"]
        }
    }

    /// Of `v1/accounts:signUp` and its kin.
    init?(name: String) {
        let account = name.split(separator: ":", maxSplits: 1)
        if account.count == 2, account[0] == "v1/accounts",
            let method = Self(rawValue: "\(account[1])"),
            Self.ofAccounts.contains(method)
        {
            self = method
            return
        }
        switch name {
        case "v1/token": self = .token
        case "v1/projects": self = .projectConfig
        case "v1/recaptchaParams": self = .recaptchaParams
        case "v2/recaptchaConfig": self = .recaptchaConfig
        case "v2/passwordPolicy": self = .passwordPolicy
        case "v2/accounts/mfaEnrollment:start", "v2/accounts/mfaEnrollment:finalize",
            "v2/accounts/mfaEnrollment:withdraw", "v2/accounts/mfaSignIn:start",
            "v2/accounts/mfaSignIn:finalize":
            self = .mfa
        default: return nil
        }
    }

    /// Methods of accounts for clients: their names are those of the addresses.
    private static let ofAccounts: Set<IdentityMethod> = [
        .signUp, .signInWithPassword, .signInWithCustomToken, .signInWithEmailLink,
        .signInWithIdp, .sendVerificationCode, .signInWithPhoneNumber, .lookup, .update, .delete,
        .sendOobCode, .resetPassword, .createAuthUri,
    ]

    /// Of what follows `projects/P`, behind the version.
    init?(projectName: String) {
        if ["v2/oauthIdpConfigs", "v2/inboundSamlConfigs"].contains(where: projectName.hasPrefix) {
            self = .providerConfigs
        } else if projectName.hasPrefix("v2/tenants") {
            self = .tenants
        } else if let method = Self.projectNames[projectName] {
            self = method
        } else {
            return nil
        }
    }

    private static let projectNames: [String: IdentityMethod] = [
        "v1/accounts": .adminCreate, "v1/accounts:lookup": .adminLookup,
        "v1/accounts:update": .adminUpdate, "v1/accounts:delete": .adminDelete,
        "v1/accounts:sendOobCode": .adminSendOobCode, "v1/accounts:batchDelete": .batchDelete,
        "v1/accounts:batchGet": .batchGet, "v1/accounts:batchCreate": .batchCreate,
        "v1/accounts:query": .query, "v1/:queryAccounts": .query,
        "v1/:createSessionCookie": .createSessionCookie, "v2/config": .config,
    ]

    /// Names of the older family, which iOS SDKs use.
    static let legacyNames: [String: IdentityMethod] = [
        "createAuthUri": .createAuthUri, "deleteAccount": .delete,
        "emailLinkSignin": .signInWithEmailLink, "getAccountInfo": .lookup,
        "getOobConfirmationCode": .sendOobCode, "getProjectConfig": .projectConfig,
        "getRecaptchaParam": .recaptchaParams, "resetPassword": .resetPassword,
        "sendVerificationCode": .sendVerificationCode, "setAccountInfo": .update,
        "signupNewUser": .signUp, "verifyAssertion": .signInWithIdp,
        "verifyCustomToken": .signInWithCustomToken, "verifyPassword": .signInWithPassword,
        "verifyPhoneNumber": .signInWithPhoneNumber, "downloadAccount": .batchGet,
        "uploadAccount": .batchCreate,
    ]

    /// Names below an emulator's address of a project.
    static let emulatorNames: [String: IdentityMethod] = [
        "accounts": .emulatorAccounts, "config": .emulatorConfig, "oobCodes": .emulatorOobCodes,
        "verificationCodes": .emulatorVerificationCodes,
    ]
}
