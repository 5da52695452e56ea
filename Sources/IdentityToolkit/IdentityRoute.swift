/// What the address of an identity request asks for: all hosts of the service are prefixes on one port.
///
///     /identitytoolkit.googleapis.com/v1/accounts:signUp         as JS SDKs and Admin SDKs call an emulator
///     /identitytoolkit.googleapis.com/v1/projects/P/accounts     for administrators
///     /v1/accounts:signUp                                        the same without the host
///     /www.googleapis.com/identitytoolkit/v3/relyingparty/X      as iOS SDKs call it
///     /securetoken.googleapis.com/v1/token                       refresh tokens
///     /emulator/v1/projects/P/...                                for tests, in development
package struct IdentityRoute: Equatable, Sendable {
    /// The page that links in letters lead to, `/.accounts/action`.
    package static let actionPage = IdentityRoute(.actionPage)

    package let method: IdentityMethod
    /// The project that the address names; with one, only administrators may call.
    package var project: String?
    /// The tenant that the address names.
    package var tenant: String?

    /// Reads the decoded segments of a path; nil for what is no address of this service. What begins like one of its
    /// addresses and is none is the method `unknown`.
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
                let name = rest.last, let method = IdentityMethod(legacyName: name)
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
            let method = IdentityMethod(emulatorName: last)
        else { return nil }
        let rest = Array(segments)
        self.init(method, project: rest[2], tenant: rest.count == 6 ? rest[4] : nil)
    }
}

/// The methods of the service, whatever they are called.
package enum IdentityMethod: String, Sendable, CaseIterable {
    // For clients.
    case signUp, signInWithPassword, signInWithCustomToken, signInWithEmailLink, signInWithIdp
    case sendVerificationCode, signInWithPhoneNumber
    case lookup, update, delete, sendOobCode, resetPassword, createAuthUri
    case token
    case projectConfig, recaptchaParams, recaptchaConfig, passwordPolicy
    case mfa
    // For people who follow a link.
    case actionPage
    /// No method of the service: nobody can call it.
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
        /// Anybody with an API key, whatever it says.
        case clients
        /// Anybody at all: what counts is the code.
        case people
        case administrators
        /// Anybody who reaches a development server.
        case development
    }

    package var audience: Audience {
        switch self {
        case .signUp, .signInWithPassword, .signInWithCustomToken, .signInWithEmailLink,
            .signInWithIdp,
            .sendVerificationCode, .signInWithPhoneNumber, .lookup, .update, .delete, .sendOobCode,
            .resetPassword, .createAuthUri, .token, .projectConfig, .recaptchaParams,
            .recaptchaConfig,
            .passwordPolicy, .mfa:
            .clients
        case .actionPage, .unknown: .people
        case .adminCreate, .adminLookup, .adminUpdate, .adminDelete, .adminSendOobCode,
            .batchDelete,
            .batchGet, .batchCreate, .query, .createSessionCookie, .config, .tenants,
            .providerConfigs:
            .administrators
        case .emulatorAccounts, .emulatorConfig, .emulatorOobCodes, .emulatorVerificationCodes,
            .emulatorAction:
            .development
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

    /// The HTTP methods that it takes.
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
        switch name {
        case "v1/accounts:signUp": self = .signUp
        case "v1/accounts:signInWithPassword": self = .signInWithPassword
        case "v1/accounts:signInWithCustomToken": self = .signInWithCustomToken
        case "v1/accounts:signInWithEmailLink": self = .signInWithEmailLink
        case "v1/accounts:signInWithIdp": self = .signInWithIdp
        case "v1/accounts:sendVerificationCode": self = .sendVerificationCode
        case "v1/accounts:signInWithPhoneNumber": self = .signInWithPhoneNumber
        case "v1/accounts:lookup": self = .lookup
        case "v1/accounts:update": self = .update
        case "v1/accounts:delete": self = .delete
        case "v1/accounts:sendOobCode": self = .sendOobCode
        case "v1/accounts:resetPassword": self = .resetPassword
        case "v1/accounts:createAuthUri": self = .createAuthUri
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

    /// Of what follows `projects/P`, behind the version.
    init?(projectName: String) {
        switch projectName {
        case "v1/accounts": self = .adminCreate
        case "v1/accounts:lookup": self = .adminLookup
        case "v1/accounts:update": self = .adminUpdate
        case "v1/accounts:delete": self = .adminDelete
        case "v1/accounts:sendOobCode": self = .adminSendOobCode
        case "v1/accounts:batchDelete": self = .batchDelete
        case "v1/accounts:batchGet": self = .batchGet
        case "v1/accounts:batchCreate": self = .batchCreate
        case "v1/accounts:query", "v1/:queryAccounts": self = .query
        case "v1/:createSessionCookie": self = .createSessionCookie
        case "v2/config": self = .config
        case _ where projectName.hasPrefix("v2/tenants"): self = .tenants
        case _ where projectName.hasPrefix("v2/oauthIdpConfigs"),
            _ where projectName.hasPrefix("v2/inboundSamlConfigs"):
            self = .providerConfigs
        default: return nil
        }
    }

    /// Of the older family, which iOS SDKs use.
    init?(legacyName: String) {
        switch legacyName {
        case "createAuthUri": self = .createAuthUri
        case "deleteAccount": self = .delete
        case "emailLinkSignin": self = .signInWithEmailLink
        case "getAccountInfo": self = .lookup
        case "getOobConfirmationCode": self = .sendOobCode
        case "getProjectConfig": self = .projectConfig
        case "getRecaptchaParam": self = .recaptchaParams
        case "resetPassword": self = .resetPassword
        case "sendVerificationCode": self = .sendVerificationCode
        case "setAccountInfo": self = .update
        case "signupNewUser": self = .signUp
        case "verifyAssertion": self = .signInWithIdp
        case "verifyCustomToken": self = .signInWithCustomToken
        case "verifyPassword": self = .signInWithPassword
        case "verifyPhoneNumber": self = .signInWithPhoneNumber
        case "downloadAccount": self = .batchGet
        case "uploadAccount": self = .batchCreate
        default: return nil
        }
    }

    init?(emulatorName: String) {
        switch emulatorName {
        case "accounts": self = .emulatorAccounts
        case "config": self = .emulatorConfig
        case "oobCodes": self = .emulatorOobCodes
        case "verificationCodes": self = .emulatorVerificationCodes
        default: return nil
        }
    }
}
