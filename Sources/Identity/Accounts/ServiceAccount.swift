package import JSONTree

/// A program that may do everything: it proves its identity with one of its private keys, and gets short-lived tokens
/// of an administrator.
///
/// Stored is, members that are nil or false left out:
///
///     serviceAccounts/NAME: {email, createdAt, validSince, disabled, keys: {KEY ID: {publicKey, createdAt, ownUniverse}}}
///
/// Times are milliseconds since 1970, `validSince` is seconds. Private keys are never stored.
package struct ServiceAccount: Sendable, Equatable {
    /// Lower-case ASCII letters, digits and hyphens (`isName`).
    package let name: String
    /// What its tokens call it: `NAME@PROJECT.hearth.local`.
    package let email: String
    package let createdAt: Timestamp
    /// Seconds since 1970: access tokens issued before it do not count.
    package private(set) var validSince: Int64
    package var isDisabled = false
    /// In the order of their ids; at most `keyLimit`.
    package private(set) var keys: [Key]

    /// The public half of a key of its.
    package struct Key: Sendable, Equatable {
        /// `kid` of the tokens that it signs: 40 hexadecimal digits.
        package let id: String
        /// PEM text (`BEGIN PUBLIC KEY`).
        package let publicPEM: String
        package let createdAt: Timestamp
        /// Whether its key file names a universe that is not Google's, so that Google's libraries call none of Google's
        /// addresses with it; key files of earlier versions do not.
        package let isOfOwnUniverse: Bool

        package init(id: String, publicPEM: String, createdAt: Timestamp, isOfOwnUniverse: Bool) {
            self.id = id
            self.publicPEM = publicPEM
            self.createdAt = createdAt
            self.isOfOwnUniverse = isOfOwnUniverse
        }
    }

    /// Service accounts of a realm.
    package static let countLimit = 100

    /// Keys of one service account: enough to add the next one before the last one is removed.
    package static let keyLimit = 10

    /// Characters of a name. Source: Google Cloud IAM allows up to 30.
    package static let nameLengths = 1...30

    /// One that has no key yet. A token of an earlier one of the same name does not count for it.
    package init(name: String, project: String, createdAt now: Timestamp) {
        precondition(Self.isName(name), "the name of a service account has been checked")
        self.name = name
        email = Self.email(of: name, in: project)
        createdAt = now
        validSince = Self.secondsBehind(now)
        keys = []
    }

    /// What tokens of a project call the service account of a name.
    package static func email(of name: String, in project: String) -> String {
        "\(name)@\(project).hearth.local"
    }

    /// Whether a service account may be called so.
    package static func isName(_ text: String) -> Bool {
        nameLengths.contains(text.utf8.count)
            && text.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains)
    }

    /// The key with this id.
    package func key(_ id: String) -> Key? { keys.first { $0.id == id } }

    /// Adds a key; false, and nothing is changed, when it has `keyLimit` already, or one of this id.
    package mutating func add(_ key: Key) -> Bool {
        guard keys.count < Self.keyLimit, self.key(key.id) == nil else { return false }
        keys.append(key)
        keys.sort { $0.id < $1.id }
        return true
    }

    /// Removes a key and voids all access tokens issued so far: it is not known which of them the key obtained.
    ///
    /// - Returns: Whether the key existed.
    package mutating func removeKey(_ id: String, at now: Timestamp) -> Bool {
        guard let index = keys.firstIndex(where: { $0.id == id }) else { return false }
        keys.remove(at: index)
        // Later than before in any case: what was issued ahead of the clock ends too.
        validSince = max(validSince + 1, Self.secondsBehind(now))
        return true
    }

    /// Whether an access token with this issue time is valid.
    ///
    /// - Parameters:
    ///   - issuedAt: Its `iat`, seconds since 1970.
    ///   - keyID: The key that obtained it; nil when it does not say.
    /// - Returns: Whether the account accepts it now.
    package func counts(issuedAt: Int64, keyID: String?) -> Bool {
        if isDisabled || issuedAt < validSince { return false }
        return keyID.map { key($0) != nil } ?? true
    }

    /// The `iat` of an access token that is issued now, seconds since 1970: up to one second ahead, to separate tokens
    /// issued in the second of a revocation.
    package func issueTime(_ now: Timestamp) -> Int64 {
        max(now.milliseconds / 1000, validSince)
    }

    /// The first whole second that is not before `now`.
    private static func secondsBehind(_ now: Timestamp) -> Int64 {
        (now.milliseconds + 999) / 1000
    }
}

extension ServiceAccount {
    /// The service account that a record holds; nil for none.
    package init?(name: String, record: Node) {
        guard Self.isName(name), let email = record.member("email").string,
            let createdAt = record.member("createdAt").integer
        else { return nil }
        self.name = name
        self.email = email
        self.createdAt = Timestamp(milliseconds: createdAt)
        validSince = record.member("validSince").integer ?? Self.secondsBehind(self.createdAt)
        isDisabled = record.member("disabled").boolean ?? false
        var keys: [Key] = []
        record.member("keys").visitChildren { id, node in
            guard let pem = node.member("publicKey").string,
                let createdAt = node.member("createdAt").integer
            else { return true }
            keys.append(
                Key(
                    id: id.string,
                    publicPEM: pem,
                    createdAt: Timestamp(milliseconds: createdAt),
                    isOfOwnUniverse: node.member("ownUniverse").boolean ?? false
                )
            )
            return true
        }
        self.keys = keys.sorted { $0.id < $1.id }
    }

    /// The record that is stored.
    package var record: Node {
        var record = RecordBuilder()
        record.set("email", email)
        record.set("createdAt", createdAt.milliseconds)
        record.set("validSince", validSince)
        record.set("disabled", isDisabled)
        for key in keys {
            var node = RecordBuilder()
            node.set("publicKey", key.publicPEM)
            node.set("createdAt", key.createdAt.milliseconds)
            node.set("ownUniverse", key.isOfOwnUniverse)
            record.set(node.node, at: ["keys", key.id])
        }
        return record.node
    }
}

extension AccountDirectory {
    /// The service account of this name.
    package func serviceAccount(named name: String) -> ServiceAccount? {
        guard let path = Self.serviceAccountPath(name) else { return nil }
        return ServiceAccount(name: name, record: root.descendant(at: path))
    }

    /// The service account that tokens call so; O(log n).
    package func serviceAccount(email: String) -> ServiceAccount? {
        let name = email.prefix { $0 != "@" }
        guard let account = serviceAccount(named: String(name)), account.email == email
        else { return nil }
        return account
    }

    /// All of them, in the order of their names; at most `ServiceAccount.countLimit`.
    package var serviceAccounts: [ServiceAccount] {
        var all: [ServiceAccount] = []
        root.member("serviceAccounts").visitChildren { name, record in
            if let account = ServiceAccount(name: name.string, record: record) {
                all.append(account)
            }
            return true
        }
        return all.sorted { $0.name < $1.name }
    }

    /// The changes that store `account` in place of the one with its name.
    package func changes(storing account: ServiceAccount) -> AccountChanges {
        AccountChanges(account.record, at: Self.serviceAccountPath(account.name))
    }

    /// What removes `account`.
    package func changes(removing account: ServiceAccount) -> AccountChanges {
        AccountChanges(.absent, at: Self.serviceAccountPath(account.name))
    }

    private static func serviceAccountPath(_ name: String) -> Path? {
        guard ServiceAccount.isName(name) else { return nil }
        return path("serviceAccounts", key(name))
    }
}
