/// Sends digits to phones and makes credentials of them.
public struct PhoneAuthProvider: Sendable {
    /// Name of the provider.
    public static let id = "phone"

    let auth: Auth

    /// Of the default app.
    public static func provider() -> PhoneAuthProvider { provider(auth: .auth()) }

    /// Of another app.
    public static func provider(auth: Auth) -> PhoneAuthProvider { PhoneAuthProvider(auth: auth) }

    /// A credential of the digits that a phone was sent, and the session that `verifyPhoneNumber` gave.
    public func credential(
        withVerificationID verificationID: String,
        verificationCode: String,
    ) -> AuthCredential {
        AuthCredential(secret: .digits(verificationCode, session: verificationID))
    }

    /// Sends digits to a phone.
    ///
    /// - Parameters:
    ///   - phoneNumber: With `+` and the country's code.
    ///   - completion: Is given the session, or why there is none.
    public func verifyPhoneNumber(
        _ phoneNumber: String,
        completion: ((String?, (any Error)?) -> Void)? = nil,
    ) {
        auth.run(completion) { try await auth.session(phoneNumber) }
    }

    /// Sends digits to a phone, with `+` and the country's code.
    ///
    /// - Returns: The session that goes with the digits.
    /// - Throws: Why none were sent.
    public func verifyPhoneNumber(_ phoneNumber: String) async throws -> String {
        try await auth.run { try await auth.session(phoneNumber) }
    }
}
