package import JSONTree

/// The accounts in the tree of the reserved database:
///
///     accounts/UID                  an account (`Account.record`)
///     emails/E-MAIL                 its uid          keys as `AccountKey` writes them
///     phones/NUMBER                 its uid
///     federated/PROVIDER/RAW ID     its uid
///     removals/UID                  until when tokens of a removed account are dated
///     codes/DIGEST                  a one-time code (`OneTimeCode.record`)
///     hashings/ID                   how imported passwords are hashed
///     serviceAccounts/NAME          a service account
///
/// A snapshot: looking something up costs O(log n) and copies nothing.
package struct AccountDirectory: Sendable {
    package let root: Node

    package init(root: Node) {
        self.root = root
    }

    // MARK: - Looking up

    package func account(_ uid: String) -> Account? {
        guard let key = AccountKey.key(uid) else { return nil }
        return Account(uid: uid, record: root.descendant(at: Self.path("accounts", key)))
    }

    /// The account with an address that `EmailAddress` has normalised.
    package func account(email: String) -> Account? { indexed("emails", email) }

    package func account(phone: String) -> Account? { indexed("phones", phone) }

    package func account(provider: String, rawID: String) -> Account? {
        guard let provider = AccountKey.key(provider), let rawID = AccountKey.key(rawID) else {
            return nil
        }
        let path = Path([Self.key("federated"), provider, rawID])
        return root.descendant(at: path).string.flatMap { account($0) }
    }

    /// Up to `limit` accounts behind `uid`, nil for the first ones, in the order of their keys.
    package func accounts(after uid: String?, limit: Int) -> [Account] {
        var found: [Account] = []
        let start = uid.flatMap { AccountKey.key($0) }
        root.member("accounts").visitChildren(from: start) { key, record in
            let key = Key(key)
            if key == start { return true }
            let uid = AccountKey.text(key.string)
            if let account = Account(uid: uid, record: record) { found.append(account) }
            return found.count < limit
        }
        return found
    }

    /// Up to `limit` accounts in the order of their keys, or backwards, without the first `offset`. O(offset + limit).
    package func accounts(offset: Int, limit: Int, isBackwards: Bool) -> [Account] {
        var found: [Account] = []
        var rest = offset
        root.member("accounts").visitChildren(backwards: isBackwards) { key, record in
            if rest > 0 {
                rest -= 1
                return true
            }
            let uid = AccountKey.text(Key(key).string)
            if let account = Account(uid: uid, record: record) { found.append(account) }
            return found.count < limit
        }
        return found
    }

    /// Seconds since 1970 from which on tokens of a user count; nil when none does: the account is gone or disabled.
    ///
    /// Asked for every token that is shown, so it reads two members and makes no `Account`.
    package func tokenStart(_ uid: String) -> Int64? {
        guard let key = AccountKey.key(uid) else { return nil }
        let record = root.descendant(at: Self.path("accounts", key))
        guard let createdAt = record.member("createdAt").integer,
            record.member("disabled").boolean != true
        else { return nil }
        return record.member("validSince").integer ?? createdAt / 1000
    }

    package var accountCount: Int { root.member("accounts").childCount }

    /// The hashings of imported passwords.
    package var hashingCount: Int { root.member("hashings").childCount }

    private func indexed(_ index: String, _ text: String) -> Account? {
        guard let key = AccountKey.key(text) else { return nil }
        return root.descendant(at: Self.path(index, key)).string.flatMap { account($0) }
    }

    package static func path(_ collection: String, _ key: Key) -> Path {
        Path([Self.key(collection), key])
    }

    package static func key(_ name: String) -> Key { Key(unchecked: Array(name.utf8)) }

    /// Where the keys stand that the nodes of a group have in common: a text that only nodes of the group can open.
    package static let groupKeysPath = Path([key("group"), key("keys")])

    /// That text; nil where there is none.
    package var groupKeys: String? { root.descendant(at: Self.groupKeysPath).string }

    // MARK: - Changes

    /// What makes `new` of `old`, indexes included: nil for an account that is not there.
    package func changes(from old: Account?, to new: Account?) -> AccountChanges {
        var changes = AccountChanges()
        changes.replace(old, by: new)
        return changes
    }
}

extension AccountChanges {
    /// Makes `new` of `old`, indexes included: nil for an account that is not there.
    package mutating func replace(_ old: Account?, by new: Account?) {
        replace(old, by: new, record: new?.record ?? .absent)
    }

    /// The same with the record of `new`, absent for no account.
    package mutating func replace(_ old: Account?, by new: Account?, record: Node) {
        for path in Self.indexPaths(old) { set(.absent, at: path) }
        if let new {
            for path in Self.indexPaths(new) { set(Node(string: new.uid), at: path) }
        }
        if let uid = (new ?? old)?.uid, let key = AccountKey.key(uid) {
            set(record, at: AccountDirectory.path("accounts", key))
        }
    }

    private static func indexPaths(_ account: Account?) -> [Path] {
        guard let account else { return [] }
        var paths: [Path] = []
        if let key = account.email.flatMap({ AccountKey.key($0) }) {
            paths.append(AccountDirectory.path("emails", key))
        }
        if let key = account.phoneNumber.flatMap({ AccountKey.key($0) }) {
            paths.append(AccountDirectory.path("phones", key))
        }
        for identity in account.federated {
            guard let provider = AccountKey.key(identity.provider),
                let rawID = AccountKey.key(identity.rawID)
            else { continue }
            paths.append(Path([AccountDirectory.key("federated"), provider, rawID]))
        }
        return paths
    }
}
