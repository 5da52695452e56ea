package import Accounts
import JSONTree
import Passwords

/// How an account is told to clients and administrators. Source: Identity Toolkit API, `UserInfo`.
extension Account {
    /// `REDACTED` in base64: what stands for the hash of a password where it is not told. That there is one is told
    /// to the user: SDKs take a user without it for anonymous.
    package static let hiddenPasswordHash = "UkVEQUNURUQ="

    /// The account as an object; an administrator is told the hash of the password with its salt.
    ///
    /// 64-bit numbers are texts: `validSince` in seconds, `createdAt` and `lastLoginAt` in milliseconds.
    package func userObject(isForAdmin: Bool) -> JSONValue {
        var user = JSONMembers()
        user.add("localId", uid)
        user.add("email", email)
        user.add("emailVerified", .boolean(isEmailVerified))
        user.add("displayName", displayName)
        user.add("photoUrl", photoURL)
        user.add("phoneNumber", phoneNumber)
        addPassword(to: &user, isForAdmin: isForAdmin)
        user.add("validSince", "\(validSince)")
        user.add("disabled", .boolean(isDisabled))
        user.add("createdAt", "\(createdAt.milliseconds)")
        user.add("lastLoginAt", lastLoginAt.map { "\($0.milliseconds)" })
        user.add("lastRefreshAt", lastRefreshAt.map { ISO8601.text(of: $0.milliseconds) })
        user.add("customAttributes", customAttributes)
        if isCustomAuth { user.add("customAuth", .boolean(true)) }
        user.add("initialEmail", initialEmail)
        if hasEmailLinkSignIn { user.add("emailLinkSignin", .boolean(true)) }
        let providers = providerObjects
        if !providers.isEmpty { user.add("providerUserInfo", .list(providers)) }
        return user.value
    }

    /// `providerUserInfo`: one object for each way to sign in that identifies the account.
    package var providerObjects: [JSONValue] {
        var all: [JSONValue] = []
        if let email, password != nil || hasEmailLinkSignIn {
            var provider = JSONMembers()
            provider.add("providerId", "password")
            provider.add("email", email)
            provider.add("federatedId", email)
            provider.add("rawId", email)
            provider.add("displayName", displayName)
            provider.add("photoUrl", photoURL)
            all.append(provider.value)
        }
        if let phoneNumber {
            var provider = JSONMembers()
            provider.add("providerId", "phone")
            provider.add("phoneNumber", phoneNumber)
            provider.add("rawId", phoneNumber)
            all.append(provider.value)
        }
        for identity in federated {
            var provider = JSONMembers()
            provider.add("providerId", identity.provider)
            provider.add("rawId", identity.rawID)
            provider.add("federatedId", identity.rawID)
            provider.add("email", identity.email)
            provider.add("displayName", identity.displayName)
            provider.add("photoUrl", identity.photoURL)
            provider.add("phoneNumber", identity.phoneNumber)
            provider.add("screenName", identity.screenName)
            all.append(provider.value)
        }
        return all
    }

    private func addPassword(to user: inout JSONMembers, isForAdmin: Bool) {
        guard let password else { return }
        if isForAdmin {
            // A hash that was brought along is told as it came; one of ours with its parameters, to be taken as it is.
            let parts = password.text.utf8.split(
                separator: UInt8(ascii: "$"),
                omittingEmptySubsequences: false
            ).map { String(Substring($0)) }
            let isImported = password.importedHashingID != nil
            user.add("passwordHash", isImported ? parts.last : password.text)
            let salt = parts.dropLast().last ?? ""
            user.add("salt", salt.isEmpty ? nil : salt)
        } else {
            user.add("passwordHash", Self.hiddenPasswordHash)
        }
        let changedAt = passwordUpdatedAt ?? createdAt
        user.add("passwordUpdatedAt", .integer(changedAt.milliseconds))
    }
}
