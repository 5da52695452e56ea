/// Who knows whether somebody is signed in; `HearthAuth` is one, an app can bring its own.
public protocol TokenSource: AnyObject, Sendable {
    /// A token that is good now, or nil when nobody is signed in.
    ///
    /// `forcingRefresh`: the last one was refused. `completion` is called exactly once, on any thread.
    func fetchToken(
        forcingRefresh: Bool,
        completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
    )

    /// Calls `listener` now and whenever the credential changes, with the token and the user's id; nil: signed out.
    ///
    /// Listeners live as long as the app.
    func onCredentialChange(
        _ listener: @escaping @Sendable (_ token: String?, _ account: String?) -> Void
    )
}
