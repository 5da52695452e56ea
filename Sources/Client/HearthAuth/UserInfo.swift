public import Foundation

/// A person's data from one sign-in method.
public protocol UserInfo: Sendable {
    /// `password`, `phone`, `google.com`, ...; for a whole user `Firebase`.
    var providerID: String { get }
    /// Who it is, to that provider.
    var uid: String { get }
    /// The displayed name of the person.
    var displayName: String? { get }
    /// Address of a picture.
    var photoURL: URL? { get }
    /// E-mail address.
    var email: String? { get }
    /// Phone number, with `+` and the country's code.
    var phoneNumber: String? { get }
}

/// When an account was made and used.
public struct UserMetadata: Sendable, Equatable {
    /// When the user signed in last.
    public let lastSignInDate: Date?
    /// When the account was made.
    public let creationDate: Date?
}

/// Data of a sign-in besides the user.
public struct AdditionalUserInfo: Sendable {
    /// The way the user signed in: `password`, `phone`, ...; empty for anonymous sign-ins and custom tokens.
    public let providerID: String
    /// The provider's data about the user.
    public let profile: [String: any Sendable]?
    /// The provider's id of the user.
    public let username: String?
    /// Whether the account was made by this sign-in.
    public let isNewUser: Bool

    init(providerID: String, isNewUser: Bool) {
        self.providerID = providerID
        self.isNewUser = isNewUser
        profile = nil
        username = nil
    }
}

/// The outcome of a sign-in.
public struct AuthDataResult: Sendable {
    /// Who is signed in.
    public let user: User
    /// Data of the sign-in besides the user.
    public let additionalUserInfo: AdditionalUserInfo?
    /// A credential of a provider; there is none so far.
    public var credential: AuthCredential? { nil }
}

/// An ID token with its content. Printing it does not show the token.
public struct AuthTokenResult: Sendable, CustomStringConvertible, CustomReflectable {
    /// The token itself.
    public let token: String
    /// When it ends.
    public let expirationDate: Date
    /// When the user signed in.
    public let authDate: Date
    /// When it was made.
    public let issuedAtDate: Date
    /// The way the user signed in.
    public let signInProvider: String
    /// The second factor of the sign-in; there is none so far.
    public let signInSecondFactor: String
    /// All claims, as `Bool`, `Int`, `Double`, `String`, arrays and dictionaries.
    public let claims: [String: any Sendable]

    init(_ token: String) throws(AuthError) {
        let content = try IDToken(token)
        guard let expiry = content.date("exp"), let issued = content.date("iat") else {
            throw AuthError(.malformedJWT)
        }
        self.token = token
        expirationDate = expiry
        issuedAtDate = issued
        authDate = content.date("auth_time") ?? issued
        signInProvider = content.signInProvider
        signInSecondFactor = ""
        claims = content.claims.mapValues { $0.plain }
    }

    /// When the token ends.
    public var description: String { "AuthTokenResult until \(expirationDate)" }
    /// Shows nothing of the token.
    public var customMirror: Mirror { Mirror(self, children: ["expirationDate": expirationDate]) }
}

/// All that is kept of a user.
struct UserRecord: Codable, Sendable {
    struct Identity: Codable, Sendable, UserInfo {
        let providerID: String
        let uid: String
        let displayName: String?
        let photoURL: URL?
        let email: String?
        let phoneNumber: String?
    }

    let uid: String
    var isAnonymous: Bool
    var email: String?
    var isEmailVerified = false
    var displayName: String?
    var photoURL: URL?
    var phoneNumber: String?
    var creationDate: Date?
    var lastSignInDate: Date?
    var identities: [Identity] = []
    var tokens: Tokens

    mutating func update(_ account: Account) {
        email = account.email.flatMap { $0.isEmpty ? nil : $0 }
        isEmailVerified = account.emailVerified ?? false
        displayName = account.displayName.flatMap { $0.isEmpty ? nil : $0 }
        photoURL = account.photoUrl.flatMap { URL(string: $0) }
        phoneNumber = account.phoneNumber.flatMap { $0.isEmpty ? nil : $0 }
        creationDate = Self.date(account.createdAt) ?? creationDate
        lastSignInDate = Self.date(account.lastLoginAt) ?? lastSignInDate
        identities = (account.providerUserInfo ?? []).compactMap { identity in
            guard let provider = identity.providerId else { return nil }
            return Identity(
                providerID: provider,
                uid: identity.rawId ?? "",
                displayName: identity.displayName,
                photoURL: identity.photoUrl.flatMap { URL(string: $0) },
                email: identity.email,
                phoneNumber: identity.phoneNumber
            )
        }
        // A user with a sign-in method is not anonymous any more.
        if !identities.isEmpty || email != nil { isAnonymous = false }
    }

    private static func date(_ milliseconds: String?) -> Date? {
        guard let milliseconds, let number = Int64(milliseconds) else { return nil }
        return Date(timeIntervalSince1970: Double(number) / 1000)
    }
}
