/// The tokens that a server accepts besides those of its `TrustedIssuer`s; `issuer` and `audience` are those of `HS256`
/// tokens.
package struct TokenPolicy: Sendable {
    /// Whether `alg: none` passes, its times, issuer and audience unchecked: development tools send tokens of
    /// the year 1970 for made-up projects.
    package var acceptsUnsigned: Bool
    /// The one valid `iss`; nil accepts any.
    package var issuer: String?
    /// The one valid `aud`; nil accepts any but `customTokenAudience`.
    package var audience: String?
    /// The secret of `HS256` tokens; nil refuses them all.
    ///
    /// Its length is within `TokenLimits.secretByteCount`.
    package let hmacSecret: [UInt8]?
    /// How far ahead `iat`, `nbf` and `auth_time` may lie: clocks of issuers differ.
    ///
    /// `exp` gets no leeway, so that a token that passes is never already expired.
    package var leeway: Duration

    /// The audience of tokens that are to be exchanged at the accounts service, never shown to a database.
    ///
    /// Source: Firebase Authentication, "Create custom tokens".
    package static let customTokenAudience =
        "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

    /// How the issuer of session cookies begins: they are for web servers, never for a database.
    ///
    /// Source: Firebase Authentication, "Manage session cookies".
    package static let sessionCookieIssuerPrefix = "https://session.firebase.google.com/"

    package init(
        acceptsUnsigned: Bool = false,
        issuer: String? = nil,
        audience: String? = nil,
        hmacSecret: [UInt8]? = nil,
        leeway: Duration = .seconds(10),
    ) {
        if let hmacSecret {
            precondition(
                TokenLimits.secretByteCount.contains(hmacSecret.count),
                "the HS256 secret has an allowed length"
            )
        }
        self.acceptsUnsigned = acceptsUnsigned
        self.issuer = issuer
        self.audience = audience
        self.hmacSecret = hmacSecret
        self.leeway = leeway
    }
}
