import Foundation

/// Something that shows who a user is. Printing it does not show the secret in it.
public struct AuthCredential: Sendable, CustomStringConvertible, CustomReflectable {
    enum Secret: Sendable {
        case password(String, email: String)
        case link(String, email: String)
        case digits(String, session: String)
        case identity(provider: String, idToken: String?, accessToken: String?, nonce: String?)
    }

    let secret: Secret

    /// The provider that takes it: `password`, `phone`, `google.com`, ...
    public var provider: String {
        switch secret {
        case .password, .link: EmailAuthProvider.id
        case .digits: PhoneAuthProvider.id
        case .identity(let provider, _, _, _): provider
        }
    }

    /// The provider.
    public var description: String { "AuthCredential(\(provider))" }
    /// Shows nothing of the secret.
    public var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}

/// Makes credentials of e-mail addresses.
public enum EmailAuthProvider {
    /// Name of the provider.
    public static let id = "password"

    /// A credential of an address and its password.
    public static func credential(withEmail email: String, password: String) -> AuthCredential {
        AuthCredential(secret: .password(password, email: email))
    }

    /// A credential of an address and the link that was sent there.
    public static func credential(withEmail email: String, link: String) -> AuthCredential {
        AuthCredential(secret: .link(link, email: email))
    }
}

/// Names of providers.
public enum AuthProviderID: String, Sendable {
    /// Apple's.
    case apple = "apple.com"
    /// E-mail addresses.
    case email = "password"
    /// Facebook's.
    case facebook = "facebook.com"
    /// GitHub's.
    case gitHub = "github.com"
    /// Google's.
    case google = "google.com"
    /// Microsoft's.
    case microsoft = "microsoft.com"
    /// Phone numbers.
    case phone = "phone"
    /// Twitter's.
    case twitter = "twitter.com"
    /// Yahoo's.
    case yahoo = "yahoo.com"
}

/// Makes credentials of other providers' data about a person.
///
/// A Hearth server accepts them only in development, without a check; in production the answer is
/// `operationNotAllowed`.
public enum OAuthProvider {
    /// A credential of an ID token of a provider, the nonce that is in it, and its access token.
    public static func credential(
        providerID: AuthProviderID,
        idToken: String,
        rawNonce: String? = nil,
        accessToken: String? = nil,
    ) -> AuthCredential {
        let secret = AuthCredential.Secret.identity(
            provider: providerID.rawValue,
            idToken: idToken,
            accessToken: accessToken,
            nonce: rawNonce
        )
        return AuthCredential(secret: secret)
    }

    /// A credential of an access token of a provider.
    public static func credential(
        providerID: AuthProviderID,
        accessToken: String,
    ) -> AuthCredential {
        let secret = AuthCredential.Secret.identity(
            provider: providerID.rawValue,
            idToken: nil,
            accessToken: accessToken,
            nonce: nil
        )
        return AuthCredential(secret: secret)
    }
}

/// Makes credentials of Google's data about a person; see `OAuthProvider`.
public enum GoogleAuthProvider {
    /// Name of the provider.
    public static let id = "google.com"

    /// A credential of an ID token and an access token of Google's.
    public static func credential(withIDToken idToken: String, accessToken: String)
        -> AuthCredential
    {
        OAuthProvider.credential(providerID: .google, idToken: idToken, accessToken: accessToken)
    }
}

extension AuthCredential {
    /// The request that signs in by it, or links it to an account.
    ///
    /// - Throws: The missing part.
    func request(isLinking: Bool) throws(AuthError) -> (method: String, body: [String: JSONValue]) {
        switch secret {
        case .password(let password, let email):
            guard !email.isEmpty else { throw AuthError(.missingEmail) }
            guard !password.isEmpty else {
                throw AuthError(isLinking ? .weakPassword : .wrongPassword)
            }
            let method = isLinking ? "signUp" : "signInWithPassword"
            return (method, ["email": .text(email), "password": .text(password)])
        case .link(let link, let email):
            guard !email.isEmpty else { throw AuthError(.missingEmail) }
            guard let url = ActionCodeURL(link: link), url.operation == .emailLink,
                let code = url.code
            else { throw AuthError(.invalidActionCode, "This is no link to sign in.") }
            return ("signInWithEmailLink", ["email": .text(email), "oobCode": .text(code)])
        case .digits(let digits, let session):
            let body: [String: JSONValue] = ["code": .text(digits), "sessionInfo": .text(session)]
            return ("signInWithPhoneNumber", body)
        case .identity(let provider, let idToken, let accessToken, let nonce):
            let members = [
                ("providerId", provider), ("id_token", idToken), ("access_token", accessToken),
                ("nonce", nonce),
            ]
            let form = members.compactMap { name, value in
                value.map { "\(name)=\(Self.escaped($0))" }
            }
            let body: [String: JSONValue] = [
                "postBody": .text(form.joined(separator: "&")),
                "requestUri": .text("http://localhost"), "returnIdpCredential": .bool(true),
            ]
            return ("signInWithIdp", body)
        }
    }

    private static func escaped(_ value: String) -> String {
        let plain = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
        )
        return value.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
