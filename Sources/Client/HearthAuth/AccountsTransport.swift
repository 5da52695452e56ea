/// How requests about accounts get to a server.
protocol AccountsTransport: Sendable {
    /// Posts JSON to `url` and waits for the whole answer, with any status.
    ///
    /// - Throws: `networkError`.
    func post(
        _ url: String,
        headers: [(name: String, value: String)],
        body: [UInt8],
    ) async throws(AuthError) -> AccountsAnswer
}

/// An answer as it came.
struct AccountsAnswer: Sendable {
    let status: Int
    let body: [UInt8]
}

enum AccountsLimits {
    /// Seconds to be connected, TLS included.
    static let connectSeconds = 15
    /// Seconds for a request and its answer, in which the server hashes a password.
    static let totalSeconds = 60
    /// Bytes of an answer; a longer one is not from this protocol.
    static let answerByteCount = 1024 * 1024
    /// How long a connection is used again; servers end idle ones after a minute.
    static let idleTime = Duration.seconds(20)
    /// Seconds before a refresh that did not get through is tried again by itself, and the most after doubling.
    static let retrySeconds = 2.0...300.0
}
