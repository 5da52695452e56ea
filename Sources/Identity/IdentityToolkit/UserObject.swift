package import Accounts
package import JSONTree
import Passwords

/// An account as clients and administrators see it. Source: Identity Toolkit API, `UserInfo`.
extension Account {
    /// `REDACTED` in base64: replaces the hash of a password where it is hidden. The user still sees that there is one:
    /// SDKs treat a user without it as anonymous.
    package static let hiddenPasswordHash = "UkVEQUNURUQ="

    /// The account as an object; an administrator gets the hash of the password with its salt.
    ///
    /// 64-bit numbers are texts: `validSince` in seconds, `createdAt` and `lastLoginAt` in milliseconds.
    package func userObject(isForAdmin: Bool) -> JSONValue {
        var user: JSONMembers = [
            "localId": .string(uid), "email": .text(email),
            "emailVerified": .boolean(isEmailVerified), "displayName": .text(displayName),
            "photoUrl": .text(photoURL), "phoneNumber": .text(phoneNumber),
        ]
        addPassword(to: &user, isForAdmin: isForAdmin)
        user.add([
            "validSince": .string("\(validSince)"), "disabled": .boolean(isDisabled),
            "createdAt": .string("\(createdAt.milliseconds)"),
            "lastLoginAt": .text(lastLoginAt.map { "\($0.milliseconds)" }),
            "lastRefreshAt": .text(lastRefreshAt.map { ISO8601.text(of: $0.milliseconds) }),
            "customAttributes": .text(customAttributes), "customAuth": .mark(isCustomAuth),
            "initialEmail": .text(initialEmail), "emailLinkSignin": .mark(hasEmailLinkSignIn),
            "providerUserInfo": .given(providerObjects),
        ])
        return user.value
    }

    /// `providerUserInfo`: one object for each way to sign in that identifies the account.
    package var providerObjects: [JSONValue] {
        var all: [JSONValue] = []
        if let email, password != nil || hasEmailLinkSignIn {
            all.append([
                "providerId": "password", "email": .string(email), "federatedId": .string(email),
                "rawId": .string(email), "displayName": .text(displayName),
                "photoUrl": .text(photoURL),
            ])
        }
        if let phoneNumber {
            all.append([
                "providerId": "phone", "phoneNumber": .string(phoneNumber),
                "rawId": .string(phoneNumber),
            ])
        }
        for identity in federated {
            all.append([
                "providerId": .string(identity.provider), "rawId": .string(identity.rawID),
                "federatedId": .string(identity.rawID), "email": .text(identity.email),
                "displayName": .text(identity.displayName), "photoUrl": .text(identity.photoURL),
                "phoneNumber": .text(identity.phoneNumber),
                "screenName": .text(identity.screenName),
            ])
        }
        return all
    }

    private func addPassword(to user: inout JSONMembers, isForAdmin: Bool) {
        guard let password else { return }
        if isForAdmin {
            // An imported hash is returned as it was given; one of ours with its parameters, ready for import.
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
