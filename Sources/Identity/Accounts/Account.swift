package import JSONTree
package import Passwords

/// One user of the realm.
package struct Account: Sendable, Equatable {
    /// 1 to 128 characters; those made here have 28 ASCII letters and digits.
    package let uid: String
    /// Normalised by `EmailAddress`.
    package var email: String?
    package var isEmailVerified = false
    package var displayName: String?
    package var photoURL: String?
    /// `+` and digits, by `PhoneNumber`.
    package var phoneNumber: String?
    package var password: StoredPassword?
    package var passwordUpdatedAt: Timestamp?
    /// Seconds since 1970: tokens of sign-ins before it do not count.
    package var validSince: Int64
    package var isDisabled = false
    package var createdAt: Timestamp
    package var lastLoginAt: Timestamp?
    package var lastRefreshAt: Timestamp?
    /// Claims of the administrator's, the JSON text of an object; up to 1,000 characters.
    package var customAttributes: String?
    /// Whether it was made by signing in with a custom token.
    package var isCustomAuth = false
    /// The address it had before its first change of address.
    package var initialEmail: String?
    /// Whether it has signed in by an e-mail link.
    package var hasEmailLinkSignIn = false
    /// Identities elsewhere, in the order of their providers' names.
    package var federated: [FederatedIdentity] = []

    /// One that has nothing yet; tokens issued before `now` do not count.
    package init(uid: String, createdAt now: Timestamp) {
        self.uid = uid
        createdAt = now
        validSince = now.milliseconds / 1000
    }

    /// An identity at another provider, such as `google.com`.
    package struct FederatedIdentity: Sendable, Equatable {
        package var provider: String
        package var rawID: String
        package var email: String?
        package var displayName: String?
        package var photoURL: String?
        package var phoneNumber: String?
        package var screenName: String?

        package init(provider: String, rawID: String) {
            self.provider = provider
            self.rawID = rawID
        }
    }

    /// Whether nothing but its uid identifies it.
    package var isAnonymous: Bool {
        email == nil && phoneNumber == nil && password == nil && federated.isEmpty && !isCustomAuth
    }

    /// From now on only sign-ins that come after this count.
    ///
    /// Tokens are dated in whole seconds, so `validSince` becomes a second that no token has yet: the one after `now`,
    /// or after that of the revocation before, whose second new tokens are dated by (`TokenGrant.signIn`).
    package mutating func revoke(at now: Timestamp) {
        validSince = max(now.milliseconds / 1000, validSince) + 1
    }

    /// Seconds that a request may be under way: an administrator's "now" of so long ago is still now.
    private static let requestSeconds: Int64 = 5

    /// As `revoke`, for a time that is not past, in seconds since 1970. An earlier time is stored unchanged, unless
    /// that would undo a revocation.
    package mutating func setValidSince(_ seconds: Int64, at now: Timestamp) {
        if seconds > now.milliseconds / 1000 - Self.requestSeconds {
            revoke(at: now)
        } else {
            validSince = max(seconds, validSince)
        }
    }
}
