package import JSONTree
import Passwords

/// A stored record; members that are nil or false are left out:
///
///     accounts/UID: {email, emailVerified, displayName, photoUrl, phoneNumber, password, passwordUpdatedAt, validSince,
///                    disabled, createdAt, lastLoginAt, lastRefreshAt, customAttributes, customAuth, initialEmail,
///                    emailLinkSignin, federated: {PROVIDER: {rawId, email, displayName, photoUrl, phoneNumber, screenName}}}
///
/// Times are milliseconds since 1970, `validSince` is seconds.
extension Account {
    /// The account that a record holds; nil for none.
    package init?(uid: String, record: Node) {
        guard let createdAt = record.member("createdAt").integer else { return nil }
        self.init(uid: uid, createdAt: Timestamp(milliseconds: createdAt))
        email = record.member("email").string
        isEmailVerified = record.member("emailVerified").boolean ?? false
        displayName = record.member("displayName").string
        photoURL = record.member("photoUrl").string
        phoneNumber = record.member("phoneNumber").string
        password = record.member("password").string.map { StoredPassword($0) }
        passwordUpdatedAt = Self.time(record, "passwordUpdatedAt")
        validSince = record.member("validSince").integer ?? validSince
        isDisabled = record.member("disabled").boolean ?? false
        lastLoginAt = Self.time(record, "lastLoginAt")
        lastRefreshAt = Self.time(record, "lastRefreshAt")
        customAttributes = record.member("customAttributes").string
        isCustomAuth = record.member("customAuth").boolean ?? false
        initialEmail = record.member("initialEmail").string
        hasEmailLinkSignIn = record.member("emailLinkSignin").boolean ?? false
        record.member("federated").visitChildren { key, node in
            var identity = FederatedIdentity(
                provider: AccountKey.text(key.string),
                rawID: node.member("rawId").string ?? ""
            )
            identity.email = node.member("email").string
            identity.displayName = node.member("displayName").string
            identity.photoURL = node.member("photoUrl").string
            identity.phoneNumber = node.member("phoneNumber").string
            identity.screenName = node.member("screenName").string
            federated.append(identity)
            return true
        }
    }

    /// The record that is stored.
    package var record: Node {
        var record = RecordBuilder()
        record.set("email", email)
        record.set("emailVerified", isEmailVerified)
        record.set("displayName", displayName)
        record.set("photoUrl", photoURL)
        record.set("phoneNumber", phoneNumber)
        record.set("password", password?.text)
        record.set("passwordUpdatedAt", passwordUpdatedAt?.milliseconds)
        record.set("validSince", validSince)
        record.set("disabled", isDisabled)
        record.set("createdAt", createdAt.milliseconds)
        record.set("lastLoginAt", lastLoginAt?.milliseconds)
        record.set("lastRefreshAt", lastRefreshAt?.milliseconds)
        record.set("customAttributes", customAttributes)
        record.set("customAuth", isCustomAuth)
        record.set("initialEmail", initialEmail)
        record.set("emailLinkSignin", hasEmailLinkSignIn)
        for identity in federated {
            guard let key = AccountKey.key(identity.provider) else { continue }
            var node = RecordBuilder()
            node.set("rawId", identity.rawID)
            node.set("email", identity.email)
            node.set("displayName", identity.displayName)
            node.set("photoUrl", identity.photoURL)
            node.set("phoneNumber", identity.phoneNumber)
            node.set("screenName", identity.screenName)
            record.set(node.node, at: ["federated", key.string])
        }
        return record.node
    }

    private static func time(_ record: Node, _ name: String) -> Timestamp? {
        record.member(name).integer.map { Timestamp(milliseconds: $0) }
    }
}

/// Puts a record together, member by member; nil and false are left out.
struct RecordBuilder {
    private(set) var node = Node.absent

    mutating func set(_ name: String, _ text: String?) {
        if let text { set(Node(string: text), at: [name]) }
    }

    mutating func set(_ name: String, _ number: Int64?) {
        if let number { set(Node(integer: number), at: [name]) }
    }

    mutating func set(_ name: String, _ flag: Bool) {
        if flag { set(Node(true), at: [name]) }
    }

    mutating func set(_ value: Node, at names: [String]) {
        node.set(value, at: Path(names.map { Key(unchecked: Array($0.utf8)) }))
    }
}
