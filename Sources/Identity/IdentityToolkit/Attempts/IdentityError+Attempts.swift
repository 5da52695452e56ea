extension IdentityError {
    /// The client has tried too often; `milliseconds` until it may try again.
    package static func tooManyAttempts(milliseconds: Int64) -> IdentityError {
        let seconds = Int(max(1, (milliseconds + 999) / 1000))
        let unit = seconds == 1 ? "second" : "seconds"
        var error = code(.tooManyAttempts, "Try again in \(seconds) \(unit).")
        error.retryAfter = seconds
        return error
    }

    /// Too many passwords wait to be hashed, of this client or of all.
    package static let tooManyWaiting: IdentityError = {
        var error = code(.tooManyAttempts, "Too many passwords are being checked; try again.")
        error.retryAfter = 1
        return error
    }()

    /// The e-mail link was sent to another address than the one in the request.
    static let otherLinkAddress = code(
        .invalidEmail,
        "The email provided does not match the sign-in email address."
    )

    /// Whether the client's password, code or token is wrong.
    package var disproves: Bool {
        guard status == 400 else { return false }
        let code = message.split(separator: " ", maxSplits: 1).first.map { String($0) } ?? ""
        switch Code(rawValue: code) {
        case .invalidLoginCredentials, .invalidPassword, .emailNotFound, .userNotFound,
            .invalidOOBCode, .expiredOOBCode, .invalidCode, .invalidSessionInfo, .sessionExpired,
            .invalidRefreshToken, .invalidCustomToken, .credentialMismatch:
            return true
        // Who has found a link guesses whose it is.
        case .invalidEmail: return message == Self.otherLinkAddress.message
        default: return false
        }
    }
}
