public import Foundation
import HearthCore

/// A user who is or was signed in.
///
/// Its properties are as of the server's last answer; `reload` reads them again. Printing it does not show its tokens.
public final class User: UserInfo, CustomStringConvertible, CustomReflectable {
    let auth: Auth
    private let content: Mutex<UserRecord>

    /// The refresh under way, which all who want a token share.
    private let refresh = Mutex<Task<Result<String, AuthError>, Never>?>(nil)

    init(_ auth: Auth, _ record: UserRecord) {
        self.auth = auth
        content = Mutex(record)
    }

    var record: UserRecord { content.withLock { $0 } }
    var tokens: Tokens { content.withLock { $0.tokens } }

    // MARK: - Who it is

    /// `Firebase`, as in the hosted service's SDK: the user as a whole, not of one provider.
    public var providerID: String { "Firebase" }

    /// The account's ID, which never changes.
    public var uid: String { content.withLock { $0.uid } }

    /// The displayed name of the person.
    public var displayName: String? { content.withLock { $0.displayName } }

    /// Address of a picture.
    public var photoURL: URL? { content.withLock { $0.photoURL } }

    /// E-mail address.
    public var email: String? { content.withLock { $0.email } }

    /// Whether the user has shown that the address is theirs.
    public var isEmailVerified: Bool { content.withLock { $0.isEmailVerified } }

    /// Phone number, with `+` and the country's code.
    public var phoneNumber: String? { content.withLock { $0.phoneNumber } }

    /// Whether nothing is known by which the user could sign in again.
    public var isAnonymous: Bool { content.withLock { $0.isAnonymous } }

    /// The user's sign-in methods.
    public var providerData: [any UserInfo] { content.withLock { $0.identities } }

    /// When the account was made and used.
    public var metadata: UserMetadata {
        let record = record
        return UserMetadata(
            lastSignInDate: record.lastSignInDate,
            creationDate: record.creationDate
        )
    }

    /// The uid.
    public var description: String { "User(\(uid))" }
    /// Shows nothing but the uid.
    public var customMirror: Mirror { Mirror(self, children: ["uid": uid]) }

    // MARK: - Tokens

    /// Gives an ID token that is good for 5 minutes at least, refreshed if it must be.
    public func getIDToken(completion: ((String?, (any Error)?) -> Void)?) {
        getIDTokenForcingRefresh(false, completion: completion)
    }

    /// Gives an ID token, a new one if `forceRefresh`.
    public func getIDTokenForcingRefresh(
        _ forceRefresh: Bool,
        completion: ((String?, (any Error)?) -> Void)?,
    ) {
        let fetch = fetchToken(forcingRefresh: forceRefresh)
        auth.runAtOnce(completion) { try await fetch.value.get() }
    }

    /// An ID token that is good for 5 minutes at least, refreshed if it must be.
    ///
    /// - Parameter forceRefresh: Whether it must be a new one, with an administrator's changes.
    /// - Returns: The token.
    /// - Throws: `networkError`; `userTokenExpired`, `userDisabled`, `userNotFound` or `invalidUserToken`, and the
    ///   user is signed out then.
    public func getIDToken(forcingRefresh forceRefresh: Bool = false) async throws
        -> String
    {
        try await token(forcingRefresh: forceRefresh)
    }

    /// An ID token with its content.
    public func getIDTokenResult(completion: ((AuthTokenResult?, (any Error)?) -> Void)?) {
        getIDTokenResult(forcingRefresh: false, completion: completion)
    }

    /// An ID token, a new one if `forcingRefresh`, with its content.
    public func getIDTokenResult(
        forcingRefresh: Bool,
        completion: ((AuthTokenResult?, (any Error)?) -> Void)?,
    ) {
        let fetch = fetchToken(forcingRefresh: forcingRefresh)
        auth.runAtOnce(completion) { try AuthTokenResult(try await fetch.value.get()) }
    }

    /// An ID token with its content: claims, user, time and method of the sign-in.
    ///
    /// - Throws: As `getIDToken`; `malformedJWT` when it cannot be read.
    public func getIDTokenResult(
        forcingRefresh forceRefresh: Bool = false
    ) async throws -> AuthTokenResult {
        try AuthTokenResult(try await token(forcingRefresh: forceRefresh))
    }

    func token(forcingRefresh: Bool) async throws(AuthError) -> String {
        try await fetchToken(forcingRefresh: forcingRefresh).value.get()
    }

    /// Starts to get a valid token before it returns: concurrent callers share one refresh. While the server cannot be
    /// reached, a token that still has some time counts as good.
    func fetchToken(forcingRefresh: Bool) -> Task<Result<String, AuthError>, Never> {
        let tokens = tokens
        if !forcingRefresh, tokens.isFresh { return Task { .success(tokens.id) } }
        let refresh = startRefresh()
        return Task {
            let result = await refresh.value
            if case .failure(let error) = result, error.isPassing, !forcingRefresh, tokens.isAlive {
                return .success(tokens.id)
            }
            return result
        }
    }

    /// The refresh under way, or a new one.
    func startRefresh() -> Task<Result<String, AuthError>, Never> {
        refresh.withLock { refresh in
            if let refresh { return refresh }
            let task = Task {
                defer { self.refresh.withLock { $0 = nil } }
                return await self.refreshOnce()
            }
            refresh = task
            return task
        }
    }

    private func refreshOnce() async -> Result<String, AuthError> {
        let used = tokens.refresh
        do {
            let answer = try await auth.service.refresh(used)
            guard let tokens = answer.tokens, answer.user_id ?? uid == uid else {
                return .failure(AuthError(.internalError))
            }
            if adopt(tokens, replacing: used) { auth.changed(self) }
            return .success(self.tokens.id)
        } catch {
            // A new password or sign-in has replaced these tokens in the meantime.
            if tokens.refresh != used { return .success(tokens.id) }
            if error.endsSignIn { auth.dismiss(self, because: error) }
            return .failure(error)
        }
    }

    private func adopt(_ tokens: Tokens, replacing used: String) -> Bool {
        content.withLock { record in
            guard record.tokens.refresh == used else { return false }
            record.tokens = tokens
            return true
        }
    }

    // MARK: - Steps of changes

    func adopt(_ tokens: Tokens?, _ account: Account?) {
        content.withLock { record in
            if let tokens { record.tokens = tokens }
            if let account { record.update(account) }
        }
        auth.changed(self)
    }

    /// Sends a request as this user, and again with a new token if the first is refused.
    func call(_ method: String, _ body: [String: JSONValue]) async throws(AuthError) -> Answer {
        var body = body
        body["idToken"] = .text(try await token(forcingRefresh: false))
        do {
            return try await auth.service.call(method, body)
        } catch {
            guard error.endsSignIn else { throw error }
        }
        // The refresh shows whether the sign-in has ended, or only the token.
        body["idToken"] = .text(try await token(forcingRefresh: true))
        do {
            return try await auth.service.call(method, body)
        } catch {
            if error.endsSignIn { auth.dismiss(self, because: error) }
            throw error
        }
    }

    func load() async throws(AuthError) {
        let answer = try await call("lookup", [:])
        guard let account = answer.users?.first, answer.users?.count == 1, account.localId == uid
        else { throw AuthError(.internalError) }
        adopt(nil, account)
    }
}

extension User: Hashable {
    /// Whether both are the same object: another sign-in of the same account is another one.
    public static func == (one: User, other: User) -> Bool { one === other }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
