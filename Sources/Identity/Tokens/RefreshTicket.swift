/// The content of a refresh token: a continued sign-in.
package struct RefreshTicket: Sendable, Equatable {
    package let uid: String
    /// `password`, `anonymous`, `custom`, ...
    package let provider: String
    /// Seconds since 1970. Nothing counts that was signed in before the account's `validSince`.
    package let signedInAt: Int64
    /// Claims of a custom token that stay with the sign-in, the JSON text of an object.
    package let claims: [UInt8]?

    package init(uid: String, provider: String, signedInAt: Int64, claims: [UInt8]? = nil) {
        self.uid = uid
        self.provider = provider
        self.signedInAt = signedInAt
        self.claims = claims
    }
}
