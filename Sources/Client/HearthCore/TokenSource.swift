/// The source of the signed-in user's tokens: `HearthAuth`, or the app's own.
public protocol TokenSource: AnyObject, Sendable {
    /// A valid token, or nil when no user is signed in. `forcingRefresh`: the last one was refused. `completion` is
    /// called exactly once, on any thread.
    func fetchToken(
        forcingRefresh: Bool,
        completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
    )

    /// Calls `listener` now and whenever the credential changes, with the token and the user's id; nil: signed out.
    /// Listeners live as long as the app.
    func onCredentialChange(
        _ listener: @escaping @Sendable (_ token: String?, _ account: String?) -> Void
    )
}
