import JSONTree

/// The accounts with pending changes: each change of a batch sees the ones before it.
package struct AccountDraft {
    private let directory: AccountDirectory
    /// What becomes of the accounts, so far.
    package var changes = AccountChanges()

    package init(_ directory: AccountDirectory) {
        self.directory = directory
    }

    package func account(_ uid: String) -> Account? {
        guard let key = AccountKey.key(uid) else { return nil }
        return Account(uid: uid, record: node(at: AccountDirectory.path("accounts", key)))
    }

    /// The uid of the account with a normalised address.
    package func uid(email: String) -> String? {
        AccountKey.key(email).flatMap { node(at: AccountDirectory.path("emails", $0)).string }
    }

    package func uid(phone: String) -> String? {
        AccountKey.key(phone).flatMap { node(at: AccountDirectory.path("phones", $0)).string }
    }

    package func uid(provider: String, rawID: String) -> String? {
        guard let provider = AccountKey.key(provider), let rawID = AccountKey.key(rawID) else {
            return nil
        }
        return node(at: Path([AccountDirectory.key("federated"), provider, rawID])).string
    }

    /// The last second by which tokens of a removed account of that uid may be dated.
    package func removalEnd(_ uid: String) -> Int64? { directory.removalEnd(uid) }

    private func node(at path: Path) -> Node {
        changes.node(at: path) ?? directory.root.descendant(at: path)
    }
}
