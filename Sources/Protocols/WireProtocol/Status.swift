/// How a request ended, as replies and revocations name it.
package enum Status: String, Sendable {
    /// Done.
    case ok
    /// The rules, or the lack of a credential, forbid it.
    case permissionDenied = "permission_denied"
    /// A hashed put found other data; the client runs its transaction again.
    case dataStale = "datastale"
    /// The credential is not valid; after three in a row clients slow down.
    case invalidToken = "invalid_token"
    /// The credential was valid once; clients fetch a new one and reconnect.
    case expiredToken = "expired_token"
    /// The answer is larger than a message may be.
    case tooBig = "too_big"
    /// The request is larger than a message may be, or what it would change than one write may.
    case writeTooBig = "write_too_big"
    /// The server cannot do it now.
    case unavailable
    /// The request was understood and could not be done.
    case failed
    /// The request was not understood.
    case error
}
