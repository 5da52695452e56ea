package import Accounts
package import JSONTree
package import Passwords
package import Tokens

/// The next step of an identity request. An operation is a chain of these: slow work happens on another thread, and
/// each later step sees the accounts at that time.
package enum IdentityStep {
    /// It is done: the answer leaves when its changes are durable.
    case answer(IdentityAnswer)
    /// It is not done, and nothing is changed.
    case refuse(IdentityError)
    /// Work of the password thread comes first.
    case password(PasswordWork, then: (PasswordOutcome, IdentityContext) -> IdentityStep)
    /// A token is checked first.
    case check(
        TokenCheck,
        then: (Result<VerifiedToken, TokenError>, IdentityContext) -> IdentityStep
    )
    /// Work on another thread comes first: long work that needs only values, such as a list of a thousand accounts. It
    /// returns the next step, which sees the accounts at that time.
    case away(@Sendable () -> Link)

    /// Continues a request after work off the loop.
    package typealias Link = @Sendable (IdentityContext) -> IdentityStep

    /// It is done, and nothing but this follows.
    static func answer(_ body: JSONMembers) -> IdentityStep { .answer(IdentityAnswer(body)) }

    /// What `body` says, or its refusal.
    package static func attempt(_ body: () throws(IdentityError) -> IdentityStep) -> IdentityStep {
        do throws(IdentityError) { return try body() } catch { return .refuse(error) }
    }
}

/// A token in a request.
package enum TokenCheck: Sendable {
    /// An ID token of ours.
    case identity(String)
    /// A custom token: of one of our service accounts; in development also one that is not signed.
    case custom(String)
}

/// The answer to an identity request.
package struct IdentityAnswer {
    package var status = 200
    package var body: JSONMembers
    /// Accounts in it, when it is a list of them.
    package var listedCount = 0
    package var changes = AccountChanges()
    /// Tokens that are signed when the changes are durable, and join the body.
    package var grant: TokenGrant?
    package var events: [AccountEvent] = []
    /// The address that the caller is sent on to (`Location`).
    package var location: String?
    /// A page for people, instead of the body.
    package var page: ActionPage?

    package init(_ body: JSONMembers = JSONMembers()) {
        self.body = body
    }

    package mutating func replace(_ old: Account?, by new: Account?, in directory: AccountDirectory)
    {
        changes.add(directory.changes(from: old, to: new))
    }

    /// The same answer with the sign-in of `account`, whose user has been proved, and which replaces `old`.
    ///
    /// Every sign-in calls this. `claims` are those of a custom token, the JSON text of an object.
    func signingIn(
        _ old: Account?,
        as account: Account,
        provider: String,
        claims: [UInt8]? = nil,
        _ context: IdentityContext
    ) -> IdentityAnswer {
        var account = account
        account.lastLoginAt = context.now
        account.lastRefreshAt = context.now
        var answer = self
        answer.replace(old, by: account, in: context.directory)
        answer.grant = .signIn(account, provider: provider, claims: claims, context)
        answer.events.append(.signedIn(uid: account.uid))
        return answer
    }
}

/// Events that follow when an answer's changes are durable.
package enum AccountEvent: Sendable {
    /// Tokens of this user that were issued before `issuedBefore`, seconds since 1970, no longer count.
    case revoked(uid: String, issuedBefore: Int64)
    /// All tokens of this user no longer count: it is gone or disabled.
    case shutOut(uid: String)
    /// A code must be sent.
    case deliver(OneTimeMessage)
    /// The realm allows other things from now on, until the server ends.
    case policyChanged(IdentityPolicy)
    /// A client proved to be this user.
    case signedIn(uid: String)
}

/// A message with a code, for the configured webhook or, in development, to be read at the emulator's address.
package struct OneTimeMessage: Sendable, Equatable {
    /// `PASSWORD_RESET`, `VERIFY_EMAIL`, `EMAIL_SIGNIN`, `VERIFY_AND_CHANGE_EMAIL`, `PHONE`.
    package let kind: String
    package internal(set) var email: String?
    package internal(set) var newEmail: String?
    package internal(set) var phoneNumber: String?
    package let code: String
    /// The link that leads to it; nil for a phone.
    package internal(set) var link: String?
    /// The data of a phone's code.
    package internal(set) var sessionInfo: String?
    /// Whether the code is returned to an administrator, who delivers it.
    package internal(set) var isReturned = false
    package let expiresAt: Timestamp
}

/// Tokens to make for a user with a proven identity.
package struct TokenGrant: Sendable {
    /// The claims of the ID token or session cookie, an object.
    package var claims: JSONValue
    /// What the refresh token carries; nil for none.
    package var refresh: RefreshTicket?
    package var form: Form

    /// The names under which the tokens join the body.
    package enum Form: Sendable, Equatable {
        /// `idToken`, `refreshToken`, `expiresIn`.
        case signIn
        /// `access_token`, `id_token`, `refresh_token`, `expires_in`, `token_type`, `user_id`, `project_id`.
        case refresh(uid: String)
        /// `sessionCookie`.
        case sessionCookie
    }
}
