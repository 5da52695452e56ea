package import Accounts
package import JSONTree
package import Passwords
package import Tokens

/// What an identity request needs next. An operation is a chain of these: what is slow happens on another thread, and
/// each link that follows it judges by the accounts as they are then.
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
    /// Work on a thread of its own comes first: what takes long, such as a list of a thousand accounts, and needs
    /// nothing but values. It gives the link that follows, which judges by the accounts as they are then.
    case away(@Sendable () -> Link)

    /// What goes on with a request after work away from the loop.
    package typealias Link = @Sendable (IdentityContext) -> IdentityStep

    /// What `body` says, or its refusal.
    package static func attempt(
        _ body: () throws(IdentityError) -> IdentityStep
    ) -> IdentityStep {
        do throws(IdentityError) { return try body() } catch { return .refuse(error) }
    }
}

/// A token that a request brings.
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
    /// A page for people that takes the place of the body.
    package var page: ActionPage?

    package init(_ body: JSONMembers = JSONMembers()) {
        self.body = body
    }

    package mutating func replace(_ old: Account?, by new: Account?, in directory: AccountDirectory)
    {
        changes.add(directory.changes(from: old, to: new))
    }
}

/// What else happens when an answer's changes are durable.
package enum AccountEvent: Sendable {
    /// Tokens of this user that were issued before `issuedBefore`, seconds since 1970, no longer count.
    case revoked(uid: String, issuedBefore: Int64)
    /// All tokens of this user no longer count: it is gone or disabled.
    case shutOut(uid: String)
    /// A code has to reach somebody.
    case deliver(OneTimeMessage)
    /// The realm allows other things from now on, until the server ends.
    case policyChanged(IdentityPolicy)
    /// Somebody proved to be this user.
    case signedIn(uid: String)
}

/// A message with a code, for the configured webhook or, in development, to be read at the emulator's address.
package struct OneTimeMessage: Sendable, Equatable {
    /// `PASSWORD_RESET`, `VERIFY_EMAIL`, `EMAIL_SIGNIN`, `VERIFY_AND_CHANGE_EMAIL`, `PHONE`.
    package let kind: String
    package let email: String?
    package let newEmail: String?
    package let phoneNumber: String?
    package let code: String
    /// The link that leads to it; nil for a phone.
    package let link: String?
    /// What goes with the code of a phone.
    package let sessionInfo: String?
    /// Whether an administrator has been given the code, who takes it to whom it is for.
    package let isReturned: Bool
    package let expiresAt: Timestamp

    package init(
        kind: String,
        email: String? = nil,
        newEmail: String? = nil,
        phoneNumber: String? = nil,
        code: String,
        link: String? = nil,
        sessionInfo: String? = nil,
        isReturned: Bool = false,
        expiresAt: Timestamp
    ) {
        self.kind = kind
        self.email = email
        self.newEmail = newEmail
        self.phoneNumber = phoneNumber
        self.code = code
        self.link = link
        self.sessionInfo = sessionInfo
        self.isReturned = isReturned
        self.expiresAt = expiresAt
    }
}

/// Tokens to be made for somebody who has proved who they are.
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

    package init(claims: JSONValue, refresh: RefreshTicket?, form: Form) {
        self.claims = claims
        self.refresh = refresh
        self.form = form
    }
}
